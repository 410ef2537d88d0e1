"""What keeps the change sets of each owner, and every record as it was before each of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ebbing.domain.memory.change_set import LoggedChange
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import IndexEntry


@dataclass(frozen=True, slots=True)
class RecordChange:
    """What one change set did to one record."""

    logged: LoggedChange
    before: MemoryRecord | None
    """None where the change set inserted it."""
    entry: IndexEntry | None
    """Its index entry before, where the change set changed that."""
    after: MemoryRecord
    """As the change set left it."""
    now: MemoryRecord
    """As it is now, which may be deleted."""


@dataclass(frozen=True, slots=True)
class ChangePage:
    """Some change sets, newest first, and where to go on."""

    changes: tuple[LoggedChange, ...]
    next_cursor: str | None
    """Opaque; None when there is nothing more."""


class ChangeLog(Protocol):
    """Change sets beside the records, as durable as they are, and written in the same transaction.

    Every write of the store belongs to a change set of its owner (`MemoryStore.within`). An index entry that is made
    anew changes nothing and belongs to none. Erasing a record erases every state of it; erasing all of an owner, the
    change sets too. Where persons are merged or parted, what was kept of the records that move is dropped.

    Raises:
        StoreError: the store could not do it; nothing was written.
        StoreClosedError: after the store was closed.
    """

    async def page(self, scope: Scope, *, limit: int = 20, cursor: str | None = None) -> ChangePage:
        """The change sets of the scope's owner, newest first, from after `cursor`.

        Raises:
            InvalidInputError: the cursor is not one of ours.
        """
        ...

    async def undoings(self, scope: Scope) -> list[LoggedChange]:
        """Those of the owner's change sets that took another one back."""
        ...

    async def get(self, scope: Scope, change_id: str) -> LoggedChange | None:
        """A change set of the scope's owner."""
        ...

    async def scope_of(self, tenant: str, change_id: str) -> Scope | None:
        """Whose change set this is, within one tenant."""
        ...

    async def records(self, scope: Scope, change_id: str) -> list[RecordChange]:
        """What a change set did to each record that is still there, in order of arrival; as of one moment."""
        ...

    async def of_memory(self, scope: Scope, memory_id: str) -> list[RecordChange]:
        """What was done to one record, newest first, as far as it is kept."""
        ...

    async def trim(self, scope: Scope, *, before: datetime) -> int:
        """Drops what is kept of the change sets of the scope's owner from before a moment; how many of them."""
        ...
