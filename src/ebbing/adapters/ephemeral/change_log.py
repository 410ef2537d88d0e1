"""Change sets, and every record as it was before each, beside the rows in RAM."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime

from ebbing.adapters.ephemeral.owner_rows import Kept, LoggedWrite, Room, copy_of
from ebbing.domain.memory.change_set import ChangeSet, LoggedChange
from ebbing.domain.memory.scope import Owner, Scope
from ebbing.index.cursor import cursor_after, position
from ebbing.index.shard import micros
from ebbing.ports.change_log import ChangePage, RecordChange


def record_write(room: Room, written: LoggedWrite, *, owner: Owner, change: ChangeSet, now: datetime) -> None:
    """Adds what a write did to its change set, and tells the change set its id."""
    for memory_id in written.erased:
        forget_states(room, memory_id)
    earlier = next((item for item in room.log if item.logged.id == change.id_of(owner)), None)
    if earlier is None:
        number = room.log[-1].logged.number + 1 if room.log else 1
        named = f"{owner.digest}/{number}/{micros(now)}"
        change_id = hashlib.blake2b(named.encode(), digest_size=12).hexdigest()
        logged = LoggedChange(change_id, number, change.cause, now, 0, 0, 0, change.undoes, change.is_partial)
        earlier = LoggedWrite(logged=logged)
        room.log.append(earlier)
        change.ids[owner] = change_id
    earlier.born |= written.born
    fresh = {memory_id: state for memory_id, state in written.before.items() if memory_id not in earlier.born}
    earlier.before = fresh | earlier.before
    earlier.with_entry |= written.with_entry
    logged = earlier.logged
    earlier.logged = replace(
        logged,
        inserted=len(earlier.born),
        revised=len(earlier.before) if not written.erased else max(logged.revised, len(earlier.before)),
        erased=logged.erased + len(written.erased),
    )


def forget_states(room: Room, memory_id: str) -> int:
    """Drops every state that is kept of a row; how many that were."""
    return sum(item.before.pop(memory_id, None) is not None for item in room.log)


class EphemeralChangeLog:
    """A `ChangeLog` over the rooms of an ephemeral store; `opened` locks them, or says that the store is closed."""

    def __init__(self, rooms: Mapping[Owner, Room], opened: Callable[[], AbstractContextManager[None]]) -> None:
        self._rooms, self._opened = rooms, opened

    async def page(self, scope: Scope, *, limit: int = 20, cursor: str | None = None) -> ChangePage:
        below = position(cursor)[0]
        with self._opened():
            writes = [item.logged for item in reversed(self._log(scope)) if item.logged.number < below]
        shown = tuple(writes[:limit])
        return ChangePage(shown, cursor_after(shown[-1].number, 0) if len(writes) > limit else None)

    async def undoings(self, scope: Scope) -> list[LoggedChange]:
        with self._opened():
            return [item.logged for item in self._log(scope) if item.logged.undoes is not None]

    async def get(self, scope: Scope, change_id: str) -> LoggedChange | None:
        with self._opened():
            return next((item.logged for item in self._log(scope) if item.logged.id == change_id), None)

    async def scope_of(self, tenant: str, change_id: str) -> Scope | None:
        with self._opened():
            for owner, room in self._rooms.items():
                if owner.tenant == tenant and any(item.logged.id == change_id for item in room.log):
                    return Scope.of(owner)
        return None

    async def records(self, scope: Scope, change_id: str) -> list[RecordChange]:
        with self._opened():
            room = self._rooms.get(scope.owner, Room())
            write = next((item for item in room.log if item.logged.id == change_id), None)
            if write is None:
                return []
            rows = [room.kept[name] for name in {*write.born, *write.before} if name in room.kept]
            return [_change(room, write, row=row) for row in sorted(rows, key=lambda row: row.seq)]

    async def of_memory(self, scope: Scope, memory_id: str) -> list[RecordChange]:
        with self._opened():
            room = self._rooms.get(scope.owner, Room())
            row = room.kept.get(memory_id)
            if row is None:
                return []
            touched = (item for item in reversed(room.log) if memory_id in item.born or memory_id in item.before)
            return [_change(room, item, row=row) for item in touched]

    async def trim(self, scope: Scope, *, before: datetime) -> int:
        with self._opened():
            log = self._log(scope)
            old = [item for item in log if item.logged.at < before]
            log[:] = [item for item in log if item.logged.at >= before]
            return len(old)

    def _log(self, scope: Scope) -> list[LoggedWrite]:
        room = self._rooms.get(scope.owner)
        return room.log if room else []


def _change(room: Room, write: LoggedWrite, *, row: Kept) -> RecordChange:
    name = row.record.id
    before = None if name in write.born else write.before[name]
    after = next(_states_after(room.log, name, number=write.logged.number), row)
    return RecordChange(
        write.logged,
        copy_of(before.record) if before else None,
        before.entry if before and name in write.with_entry else None,
        copy_of(after.record),
        copy_of(row.record),
    )


def _states_after(log: Iterable[LoggedWrite], name: str, *, number: int) -> Iterator[Kept]:
    """What a row was before each change set that came later."""
    return (item.before[name] for item in log if item.logged.number > number and name in item.before)
