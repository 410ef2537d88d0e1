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
    infer: bool = True
    """Whether facts are to be learned from it, beside the message itself."""


class WorkingMemory(Protocol):
    """The messages of open sessions, in the order said. A session is named by its scope and exists while it holds any.

    It is bounded, and never forgets by itself: what is in it was not stored elsewhere yet. Where it is full, `append`
    says so, and whoever appends makes room with `drop`.

    Several processes may share one. They see the same sessions, except for the turns that are off the record: those
    are known to the process that heard them.

    Raises:
        StoreError: it could not be done; nothing was changed.
        StoreClosedError: after `aclose`, where there was something to close.
    """

    @property
    def is_shared(self) -> bool:
        """Whether other processes see the sessions, so that they go on when this one ends."""
        ...

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

    async def sessions(
        self,
        *,
        within: Scope | str | None = None,
        idle_since: datetime | None = None,
        limit: int | None = None,
    ) -> list[Scope]:
        """The open sessions, those that were not used for longest first.

        Args:
            within: only those that this scope covers, or those of this tenant.
            idle_since: only those that were not used after this moment.
            limit: so many at most.
        """
        ...

    async def set_private(self, session: Scope, is_private: bool) -> None:
        """Takes a session off the record, open or not, or puts it there again."""
        ...

    async def is_private(self, session: Scope) -> bool:
        """Whether a session is off the record."""
        ...

    async def begin_storing(self, session: Scope) -> str:
        """Notes that turns of a session are on their way into the store; the name of the note, for `end_storing`.

        A note whose process has died is gone after two minutes.
        """
        ...

    async def end_storing(self, session: Scope, note: str) -> None:
        """Takes a note back: the turns have arrived, or never will."""
        ...

    async def is_storing(self, within: Scope | str) -> bool:
        """Whether there is a note of a session that this scope covers, or of this tenant."""
        ...

    async def aclose(self) -> None:
        """Lets go of connections, if there are any; idempotent."""
        ...


def is_within(within: Scope | str | None, session: Scope) -> bool:
    """Return whether a scope covers a session, or it belongs to the tenant of this name; everything does to None."""
    if within is None:
        return True
    return within == session.tenant if isinstance(within, str) else within.covers(session)
