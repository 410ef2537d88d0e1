"""What an index outside the store has to follow: every change, in order, from where each follower is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ebbing.domain.memory.scope import Owner


@dataclass(frozen=True, slots=True)
class Followed:
    """One change to follow."""

    seq: int
    """Its place in the order of all changes."""
    memory_id: str
    op: str
    """`put` (written or changed: look at the truth) or `erase`."""
    partition: str
    """Stands for the owner under whom the row was then; given to nobody twice."""
    row: int
    """The row of that owner (`index.row.Row.seq`)."""
    owner: Owner | None
    """Who that is; None where all of theirs was erased since."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What a follower lacks of one owner."""

    partition: str
    behind: tuple[int, ...] | None
    """Rows of the owner that changed since the follower's cursor; None where they are more than was asked for."""


class Outbox(Protocol):
    """Changes, noted in the transaction that makes them. Nothing is noted while nobody is registered.

    A follower reads from its cursor, applies what it reads (which must be safe to repeat), and then advances. What
    every follower has passed is removed.

    Raises:
        InvalidInputError: the follower is not registered.
        StoreError: the store could not do it.
    """

    async def register(self, name: str) -> int:
        """Start to follow from now on, or go on where `name` was; return its cursor."""
        ...

    async def unregister(self, name: str) -> None:
        """Stop following; what only this follower still needed is removed."""
        ...

    async def followers(self) -> list[str]:
        """Return who is registered."""
        ...

    async def cursor(self, name: str) -> int | None:
        """Return how far a follower is; None where nobody of this name follows."""
        ...

    async def read(self, name: str, *, limit: int = 100) -> list[Followed]:
        """Return the next changes after the follower's cursor, oldest first."""
        ...

    async def advance(self, name: str, seq: int) -> None:
        """Say that everything up to `seq` was applied; the cursor never moves backwards."""
        ...

    async def backlog(self, name: str) -> int:
        """Return how far the follower's cursor is behind the last change that any follower has read."""
        ...

    async def standing(self, name: str, owner: Owner, *, limit: int) -> Standing | None:
        """Return what a follower lacks of one owner; None where nobody of this name follows, or nothing is stored."""
        ...
