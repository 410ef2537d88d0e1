"""Counts of recalled memories, beside the memories in RAM."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from ebbing.adapters.ephemeral.change_log import record_write
from ebbing.adapters.ephemeral.owner_rows import Kept, LoggedWrite, Room
from ebbing.domain.errors import MemoryNotFoundError
from ebbing.domain.forgetting.curves import after_signal
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.domain.memory.feedback import Feedback, Usage
from ebbing.domain.memory.scope import Owner, Scope
from ebbing.ports.usage_log import KEPT_FEEDBACK, Returned


class EphemeralUsageLog:
    """A `UsageLog` over the rooms of an ephemeral store; `opened` locks them, or says that the store is closed."""

    def __init__(self, rooms: Mapping[Owner, Room], opened: Callable[[], AbstractContextManager[None]]) -> None:
        self._rooms, self._opened = rooms, opened

    async def returned(self, batch: Sequence[Returned]) -> None:
        with self._opened():
            for item in batch:
                room = self._rooms.get(item.owner)
                if room is None or item.memory_id not in room.kept:
                    continue
                before = room.tallies.get(item.memory_id, Usage())
                last = max(before.last_returned_at or item.last_at, item.last_at)
                room.tallies[item.memory_id] = replace(
                    before, returned=before.returned + item.times, last_returned_at=last
                )

    async def tell(self, scope: Scope, feedback: Feedback, *, change: ChangeSet | None = None) -> bool:
        with self._opened():
            room, row = self._find(scope, feedback.memory_id)
            if room is None or row is None:
                raise MemoryNotFoundError("no memory with this id belongs to this owner")
            tally = room.tallies.get(feedback.memory_id, Usage())
            before = {signals.signal for signals in tally.feedback if signals.recall_id == feedback.recall_id}
            if feedback.signal in before:
                return False
            signals = sorted((*tally.feedback, feedback), key=lambda one: one.at)[-KEPT_FEEDBACK:]
            room.tallies[feedback.memory_id] = replace(tally, feedback=tuple(signals))
            changed = after_signal(row.record, feedback, before=before)
            if changed is not row.record:
                room.kept[feedback.memory_id] = replace(row, record=changed)
                written = LoggedWrite(before={feedback.memory_id: row})
                change = change or ChangeSet(Cause.FEEDBACK)
                record_write(room, written, owner=scope.owner, change=change, now=feedback.at)
            return True

    async def usage(self, scope: Scope, memory_id: str) -> Usage:
        with self._opened():
            room, row = self._find(scope, memory_id)
            return room.tallies.get(memory_id, Usage()) if room and row else Usage()

    def _find(self, scope: Scope, memory_id: str) -> tuple[Room | None, Kept | None]:
        room = self._rooms.get(scope.owner)
        row = room.kept.get(memory_id) if room else None
        return room, row if row and scope.covers(row.record.whose) else None
