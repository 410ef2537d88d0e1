"""What holds the running conversations until they are remembered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ebbing.domain.memory.message import Message
from ebbing.domain.memory.scope import Scope


@dataclass(frozen=True, slots=True)
class Turn:
    """A message, and what it costs in a prompt: counted once, when it comes in."""

    message: Message
    tokens: int
    """Estimated; at least 1."""
    is_private: bool = False
    """Off the record: it never leaves working memory, which must keep it in RAM alone."""


class WorkingMemory(Protocol):
    """The messages of open sessions, in the order said. A session is named by its scope and exists while it holds any.

    It is bounded, and never forgets by itself: what is in it was not stored elsewhere yet. Where it is full, `append`
    says so, and whoever appends makes room with `drop`.

    Raises:
        StoreError: it could not be done; nothing was changed.
    """

    async def append(self, session: Scope, turn: Turn) -> bool:
        """Keeps a turn behind the others; False, and nothing changed, where there is no room.

        A message whose id the session holds takes that one's place. One that is longer than what a session may hold
        is kept if the session is below its bound without it.
        """
        ...

    async def read(self, session: Scope) -> list[Turn]:
        """All turns of a session, oldest first; empty for one that is not open."""
        ...

    async def drop(self, session: Scope, turns: Sequence[Turn]) -> None:
        """Lets go of these turns, and of the session with its last one; what it does not hold is no matter.

        A turn that got another text meanwhile stays.
        """
        ...

    async def touch(self, session: Scope) -> None:
        """Lets a session count as used now; one that is not open stays so."""
        ...

    async def sessions(self, *, idle_since: datetime | None = None, limit: int | None = None) -> list[Scope]:
        """The open sessions, those that were not used for longest first.

        Args:
            idle_since: only those that were not used after this moment.
            limit: so many at most.
        """
        ...
