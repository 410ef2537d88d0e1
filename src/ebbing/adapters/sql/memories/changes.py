"""Applies a list of changes inside one transaction. Every statement names the tenant and the owner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.sql.memories.known_rows import KnownRow, KnownRows, known_rows, told_by
from ebbing.adapters.sql.memories.models import model_number
from ebbing.adapters.sql.memories.owner_rows import MAX_SEQ, OwnerRow, advance, heir_of, lock, lock_or_make
from ebbing.adapters.sql.memories.pending_rows import PendingRows
from ebbing.adapters.sql.memories.recorder import Recorder
from ebbing.adapters.sql.memories.row_values import (
    Values,
    history_values,
    index_values,
    memory_values,
    source_rows,
    sources_of,
)
from ebbing.adapters.sql.tables.service_tables import ERASED
from ebbing.domain.errors import ConflictError, InvalidInputError, MemoryNotFoundError, StoreError
from ebbing.domain.memory.change_set import ChangeSet
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import Kind, MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.domain.nesting import check_nesting
from ebbing.index.index_entry import IndexEntry, read_entry
from ebbing.ports.stores.memory_store import Change, Erase, Insert, Reindex, Revise

_ID_TAKEN: Final = "a memory with this id is already stored: give the new one an id of its own"
_WRITTEN_SINCE: Final = "memories of this owner were written since they were read: read them again and retry"
_CHANGED_SINCE: Final = "the memory changed since it was read: read it again and retry"
_NOT_FOUND: Final = "no memory with this id belongs to this owner"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A change with its columns, worked out before the owner is locked."""

    change: Change
    record: Values
    entry: Values | None
    model: tuple[str, int] | None = None
    """Name and bytes of a vector, where the entry has one."""


class Applied(NamedTuple):
    """What came of a list of changes."""

    ids: list[str]
    change_id: str | None
    """Of the change set; None where nothing was changed."""


def prepare(scope: Scope, changes: Sequence[Change]) -> list[Prepared]:
    """Check what can be checked without the store.

    Raises:
        InvalidInputError: a record belongs to another owner, or cannot be stored.
    """
    return [_prepared(scope, change) for change in changes]


def _prepared(scope: Scope, change: Change) -> Prepared:
    if isinstance(change, Erase):
        return Prepared(change, {}, None)
    if isinstance(change, Reindex):
        return Prepared(change, {}, index_values(change.entry), _model_of(change.entry))
    record = change.record
    if record.belongs_to is not scope and record.belongs_to.owner != scope.owner:
        raise InvalidInputError("the record names another owner than the scope it is written under")
    if isinstance(change, Insert):
        check_nesting(record.metadata, "metadata")
    entry = read_entry(change.entry, record) if change.entry else None
    return Prepared(
        change, memory_values(record), index_values(entry) if entry else None, _model_of(entry) if entry else None
    )


def _model_of(entry: IndexEntry) -> tuple[str, int] | None:
    vector = index_values(entry)["vector"] if entry.model_id is not None and entry.vector is not None else None
    return None if vector is None or entry.model_id is None else (entry.model_id, len(vector))


async def apply(
    db: AsyncConnection,
    scope: Scope,
    *,
    changes: Sequence[Prepared],
    now: datetime,
    seen: int | None,
    change: ChangeSet,
) -> Applied:
    """Write everything, or raise and leave it to the transaction to forget all."""
    owner, is_late = await _owner(db, scope, adds=any(isinstance(item.change, Insert) for item in changes), now=now)
    generation = 0 if owner is None else owner.generation
    if seen is not None and not is_late and generation != max(seen, 0):
        raise ConflictError(_WRITTEN_SINCE)
    if owner is None:
        if any(not isinstance(item.change, Reindex) for item in changes):
            raise MemoryNotFoundError(_NOT_FOUND)
        return Applied([item.change.memory_id for item in changes if isinstance(item.change, Reindex)], None)
    rows = await known_rows(db, owner, changes=[item.change for item in changes])
    recorder = await Recorder.begin(db, owner, owner=scope.owner, change=change)
    batch = _Batch(db, scope, owner=owner, rows=rows, recorder=recorder, now=now)
    ids = [await batch.write(prepared) for prepared in changes]
    return Applied(ids, await batch.finish())


async def _owner(db: AsyncConnection, scope: Scope, *, adds: bool, now: datetime) -> tuple[OwnerRow | None, bool]:
    """The owner's row, and whether it is that of an heir. Who is not there has no rows, and is made for new ones."""
    row = await lock(db, scope.owner)
    if row is not None or not adds:
        return row, False
    heir = await heir_of(db, scope.owner, now=now)
    return await lock_or_make(db, heir or scope.owner), heir is not None


class _Batch:
    """One call's changes to one owner."""

    def __init__(
        self,
        db: AsyncConnection,
        scope: Scope,
        *,
        owner: OwnerRow,
        rows: KnownRows,
        recorder: Recorder,
        now: datetime,
    ) -> None:
        self._db, self._scope, self._owner, self._now = db, scope, owner, now
        self._rows, self._recorder = rows, recorder
        self._pending = PendingRows(db, owner, recorder)
        self._generation = owner.generation + 1
        self._changed = self._erased = False
        self._models: dict[tuple[str, int], int] = {}

    async def write(self, prepared: Prepared) -> str:
        change = prepared.change
        if isinstance(change, Erase):
            if not self._pending.erased:
                await self._pending.flush(self._generation)
            await self._erase(change.memory_id)
            return change.memory_id
        if self._pending.erased:
            await self._pending.flush(self._generation)
        if isinstance(change, Insert):
            return await self._insert(change, prepared)
        if isinstance(change, Revise):
            return await self._revise(change, prepared)
        return await self._reindex(change, prepared)

    async def finish(self) -> str | None:
        """Write what is pending, and move the owner's counters."""
        if not self._changed:
            return None
        await self._pending.flush(self._generation)
        change_id = await self._recorder.finish(self._now)
        await advance(self._db, self._owner, erased=self._erased)
        return change_id

    async def _insert(self, change: Insert, prepared: Prepared) -> str:
        record = change.record
        sources = sources_of(record)
        if change.once and sources and (earlier := self._rows.of_source(sources[0])):
            return earlier
        if record.id in self._rows.taken or record.id in self._rows.rows:
            raise ConflictError(_ID_TAKEN)
        if self._owner.last_seq == MAX_SEQ:
            raise StoreError(f"this owner has used all of its {MAX_SEQ} rows: export it and import it anew")
        self._owner.last_seq += 1
        seq = self._owner.last_seq
        rows = source_rows(self._owner.columns, sources, seq=seq)
        self._pending.insert(seq, prepared.record, entry=await self._entry(prepared), sources=rows)
        self._tell(Event.ADD, record, old=None, reason=change.reason)
        self._recorder.insert(seq)
        self._rows.put(seq, record, values=prepared.record)
        self._changed = True
        return record.id

    async def _revise(self, change: Revise, prepared: Prepared) -> str:
        record, row = change.record, self._find(change.record.id)
        if record.version != row.version + 1:
            raise ConflictError(_CHANGED_SINCE)
        values = prepared.record if change.sets_uses else {**prepared.record, **_uses(row, prepared.record)}
        entry = await self._entry(prepared)
        changes_entry = entry is not None or bool(change.adds_flags) or change.drops_vector
        self._pending.revise(row.seq, values, changes_entry=changes_entry)
        if entry is not None:
            self._pending.entries[row.seq] = entry
        elif changes_entry:
            self._pending.thin(row.seq, flags=int(change.adds_flags), is_bare=change.drops_vector)
        sources = sources_of(record)
        if sources != row.sources:
            self._pending.sources[row.seq] = source_rows(self._owner.columns, sources, seq=row.seq)
        self._tell(change.event, record, old=row.content, reason=change.reason)
        self._rows.put(row.seq, record, values=values)
        self._changed = True
        return record.id

    async def _reindex(self, change: Reindex, prepared: Prepared) -> str:
        row = self._rows.rows.get(change.memory_id)
        entry = await self._entry(prepared)
        if row is None or not row.is_covered(self._scope) or row.version != change.version or entry is None:
            return change.memory_id
        self._pending.touch(row.seq, change.memory_id, entry=entry)
        self._changed = True
        return change.memory_id

    async def _erase(self, memory_id: str) -> None:
        """Erase a row, and what it tells for others: these may lie outside of the scope of the call."""
        behind = [self._find(memory_id)]
        if not self._erased:
            await note_erasure(self._db)
        while behind:
            row = behind.pop()
            if row.seq in self._pending.erased:
                continue
            behind.extend(await told_by(self._db, self._owner, teller=row))
            self._pending.erased[row.seq] = row.id
            self._rows.drop(row.id)
        self._erased = self._changed = True

    def _find(self, memory_id: str) -> KnownRow:
        row = self._rows.rows.get(memory_id)
        if row is None or not row.is_covered(self._scope):
            raise MemoryNotFoundError(_NOT_FOUND)
        return row

    async def _entry(self, prepared: Prepared) -> Values | None:
        if prepared.entry is None:
            return None
        if prepared.model is None:
            return {**prepared.entry, "model": None}
        if prepared.model not in self._models:
            name, size = prepared.model
            self._models[prepared.model] = await model_number(self._db, name, vector_bytes=size)
        return {**prepared.entry, "model": self._models[prepared.model]}

    def _tell(self, event: Event, record: MemoryRecord, *, old: str | None, reason: str | None) -> None:
        if record.kind is Kind.MEMORY and event is not Event.NONE:
            self._pending.history.append(history_values(event, record, old=old, reason=reason, now=self._now))


async def note_erasure(db: AsyncConnection) -> None:
    """Remember that the files of the server may still hold what is erased now."""
    if (await db.execute(ERASED.select())).first() is None:
        await db.execute(insert(ERASED), {"id": 1})


def _uses(row: KnownRow, new: Values) -> Values:
    """A use is noted beside the version: whoever read the record before must not take it back."""
    times = [at for at in (row.last_accessed_at, new["last_accessed_at"]) if at is not None]
    return {
        "growth": new["growth"] if row.access_count < new["access_count"] else row.growth,
        "access_count": max(row.access_count, new["access_count"]),
        "last_accessed_at": max(times, default=None),
    }
