"""Applies a list of changes inside one transaction. Every statement names the owner."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from sqlite3 import Connection
from typing import Final, NamedTuple

from ebbing.adapters.rows.record_columns import RECORD_COLUMNS, Values, entry_values, record_values
from ebbing.adapters.sqlite.memories.models import model_number
from ebbing.adapters.sqlite.memories.outbox import FOLLOWED, append
from ebbing.adapters.sqlite.memories.recorder import Recorder
from ebbing.adapters.sqlite.memories.rows import MAX_SEQ, first_mid, last_mid, utc_text
from ebbing.adapters.sqlite.tables.identities import late_heir
from ebbing.adapters.sqlite.tables.profiles import forget_memory
from ebbing.adapters.sqlite.tables.requests import forget_answers
from ebbing.domain.errors import ConflictError, InvalidInputError, MemoryNotFoundError, StoreError
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import Kind, MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.domain.nesting import check_nesting
from ebbing.index.index_entry import read_entry
from ebbing.ports.stores.memory_store import Change, Erase, Insert, Reindex, Revise

_OWNER: Final = f"SELECT no, last_seq, generation, {FOLLOWED} FROM owner WHERE tenant = ? AND kind = ? AND name = ?"  # noqa: S608
_ID_TAKEN: Final = "a memory with this id is already stored: give the new one an id of its own"
# A use is noted beside the version (see `usage.py`): whoever read the record before must not take it back.
_USES: Final = f"?{1 + RECORD_COLUMNS.index('access_count')}"
_MERGED_COLUMNS: Final = {
    "access_count": "max(access_count, {new})",
    "last_accessed_at": "nullif(max(ifnull(last_accessed_at, -1 << 63), ifnull({new}, -1 << 63)), -1 << 63)",
    "growth": f"iif(access_count < {_USES}, {{new}}, growth)",
}
_SET: Final = ", ".join(
    f"{name} = {_MERGED_COLUMNS.get(name, '{new}').format(new=f'?{number}')}"
    for number, name in enumerate(RECORD_COLUMNS[1:], start=2)
)
_SET_WITH_USES: Final = ", ".join(f"{name} = ?{number}" for number, name in enumerate(RECORD_COLUMNS[1:], start=2))
_INSERT: Final = (
    f"INSERT INTO memory (mid, {', '.join(RECORD_COLUMNS)}) VALUES ({', '.join('?' * (1 + len(RECORD_COLUMNS)))})"  # noqa: S608
)
_UPDATE: Final = f"UPDATE memory SET changed = ?1, {_SET} WHERE mid = ?{len(RECORD_COLUMNS) + 1}"  # noqa: S608
_UPDATE_WITH_USES: Final = f"UPDATE memory SET changed = ?1, {_SET_WITH_USES} WHERE mid = ?{len(RECORD_COLUMNS) + 1}"  # noqa: S608
_THIN: Final = (
    "UPDATE index_entry SET flags = flags | :flags, model = iif(:bare, NULL, model), vector = iif(:bare, NULL, vector)"
    " WHERE mid = :mid"
)
_FIND: Final = (
    "SELECT mid, version, content, kind, run_id, source_ids FROM memory WHERE id = ? AND mid BETWEEN ? AND ?"
    " AND (? IS NULL OR agent_id = ?) AND (? IS NULL OR run_id = ?)"
)

_TOLD_BY: Final = (
    "SELECT id FROM memory WHERE superseded_by = ? AND retired_at IS NOT NULL AND id IN"
    " (SELECT json_each.value FROM memory AS teller, json_each(teller.compression_sources) WHERE teller.mid = ?)"
    " AND mid >> 24 = ?"
)

Source = tuple[str, str, str]
"""Kind, run ('' for none) and a source id of a record; of its first one `Insert.once` compares them."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A change with its columns, worked out by the caller's thread so that the writer only writes."""

    change: Change
    record: Values = ()
    entry: Values | None = None


def prepare(scope: Scope, changes: Sequence[Change]) -> list[Prepared]:
    """Checks what can be checked without the file.

    Raises:
        InvalidInputError: a record belongs to another owner, or cannot be stored.
    """
    prepared = []
    for change in changes:
        if isinstance(change, Erase):
            prepared.append(Prepared(change))
            continue
        if isinstance(change, Reindex):
            prepared.append(Prepared(change, entry=entry_values(change.entry)))
            continue
        record = change.record
        check_owner(record.belongs_to, scope)
        if isinstance(change, Insert):
            check_nesting(record.metadata, "metadata")
        entry = entry_values(read_entry(change.entry, record)) if change.entry else None
        prepared.append(Prepared(change, record_values(record), entry))
    return prepared


def check_owner(owner: Scope, scope: Scope) -> None:
    """Refuses a record that belongs to another owner than the scope names.

    Raises:
        InvalidInputError: it does.
    """
    if owner is not scope and owner.owner != scope.owner:
        raise InvalidInputError("the record names another owner than the scope it is written under")


class Applied(NamedTuple):
    """What came of a list of changes."""

    ids: list[str]
    change_id: str | None
    """Of the change set; None where nothing was changed."""


def apply(
    db: Connection,
    scope: Scope,
    *,
    changes: Sequence[Prepared],
    now: datetime,
    seen: int | None = None,
    change: ChangeSet | None = None,
) -> Applied:
    """Writes everything, or raises and leaves it to the transaction to forget all.

    The id of the change set (`change`, or one of its own) holds once the transaction is committed.
    """
    adds = any(isinstance(item.change, Insert) for item in changes)
    batch = _Batch(db, scope, now=now, adds=adds, change=change or ChangeSet(Cause.WRITE))
    batch.expect(seen)
    ids = [batch.write(prepared) for prepared in changes]
    batch.finish()
    return Applied(ids, batch.change_id)


class _Batch:
    """One call's changes to one owner."""

    def __init__(self, db: Connection, scope: Scope, *, now: datetime, adds: bool, change: ChangeSet) -> None:
        self._db, self._scope, self._now = db, scope, now
        self._is_late = False
        """It is written under a name that was merged away a short time ago."""
        self._no, self._seq, generation, self._follow = self._owner(adds=adds)
        self._log = Recorder(db, self._no, owner=scope.owner, change=change)
        self.change_id: str | None = None
        """Of the change set; None where nothing was changed, or it is not finished."""
        self._generation = generation + 1
        self._changed = self._erased = False
        self._models: dict[tuple[str, int], int] = {}

    def expect(self, seen: int | None) -> None:
        """Refuses to go on if somebody wrote since the owner's generation was `seen`."""
        if seen is not None and not self._is_late and self._generation != max(seen, 0) + 1:
            raise ConflictError("memories of this owner were written since they were read: read them again and retry")

    def write(self, prepared: Prepared) -> str:
        change = prepared.change
        if isinstance(change, Insert):
            return self._insert(change, prepared)
        if isinstance(change, Revise):
            return self._revise(change, prepared)
        if isinstance(change, Reindex):
            return self._reindex(change, prepared)
        return self._erase(change)

    def finish(self) -> None:
        """Moves the owner's counters, which is what tells every cached shard that it is behind."""
        if not self._changed:
            return
        self.change_id = self._log.finish(self._now)
        self._db.execute(
            "UPDATE owner SET last_seq = ?, generation = ?,"
            " erased_generation = CASE WHEN ? THEN ? ELSE erased_generation END WHERE no = ?",
            (self._seq, self._generation, self._erased, self._generation, self._no),
        )

    def _owner(self, *, adds: bool) -> tuple[int, int, int, bool]:
        """Number, last seq, generation, and whether an index outside the file follows the changes.

        An owner who is not there has no rows, and is made only for new ones.
        """
        owner = self._scope.owner
        key = (owner.tenant, owner.kind, owner.name)
        row = self._db.execute(_OWNER, key).fetchone()
        if row is None and not adds:
            return 0, 0, 0, False
        if row is None and owner.kind == "user":
            heir = late_heir(self._db, owner.tenant, name=owner.name, now=self._now)
            if heir is not None:
                self._is_late, key = True, (owner.tenant, owner.kind, heir)
                row = self._db.execute(_OWNER, key).fetchone()
        if row is None:
            self._db.execute("INSERT INTO owner (tenant, kind, name) VALUES (?, ?, ?)", key)
            row = self._db.execute(_OWNER, key).fetchone()
        return row[0], row[1], row[2], bool(row[3])

    def _insert(self, change: Insert, prepared: Prepared) -> str:
        record = change.record
        sources = _sources(record)
        if change.once and sources and (earlier := self._id_of_source(sources[0])):
            return earlier
        if self._seq == MAX_SEQ:
            raise StoreError(f"this owner has used all of its {MAX_SEQ} rows: export it and import it anew")
        self._seq += 1
        mid = first_mid(self._no) | self._seq
        try:
            self._db.execute(_INSERT, (mid, *prepared.record))
        except sqlite3.IntegrityError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_CONSTRAINT_UNIQUE:
                raise
            raise ConflictError(_ID_TAKEN) from error
        if prepared.entry:
            self._put_entry(mid, prepared.entry, model_id=change.entry.model_id if change.entry else None)
        self._put_sources(sources, mid)
        self._tell(Event.ADD, record, old=None, reason=change.reason)
        self._log.insert(self._seq)
        return self._done(mid, record.id, op="put")

    def _revise(self, change: Revise, prepared: Prepared) -> str:
        record = change.record
        mid, version, old_content, old_sources = self._find(record.id)
        if record.version != version + 1:
            raise ConflictError("the memory changed since it was read: read it again and retry")
        self._log.revise(mid, with_entry=bool(prepared.entry or change.adds_flags or change.drops_vector))
        update = _UPDATE_WITH_USES if change.sets_uses else _UPDATE
        self._db.execute(update, (self._generation, *prepared.record[1:], mid))
        if prepared.entry:
            self._put_entry(mid, prepared.entry, model_id=change.entry.model_id if change.entry else None)
        elif change.adds_flags or change.drops_vector:
            self._db.execute(_THIN, {"mid": mid, "flags": change.adds_flags, "bare": change.drops_vector})
        sources = _sources(record)
        if sources != old_sources:
            self._drop_sources(old_sources, mid)
            self._put_sources(sources, mid)
        self._tell(change.event, record, old=old_content, reason=change.reason)
        return self._done(mid, record.id, op="put")

    def _reindex(self, change: Reindex, prepared: Prepared) -> str:
        row = self._look(change.memory_id)
        if row is None or row[1] != change.version or prepared.entry is None:
            return change.memory_id
        self._put_entry(row[0], prepared.entry, model_id=change.entry.model_id)
        self._db.execute("UPDATE memory SET changed = ? WHERE mid = ?", (self._generation, row[0]))
        return self._done(row[0], change.memory_id, op="put")

    def _erase(self, change: Erase, *, covered: bool = True) -> str:
        """Erases a row, and what it tells for others: these may lie outside of the scope of the call."""
        mid, _, _, sources = self._find(change.memory_id, covered=covered)
        for (behind,) in self._db.execute(_TOLD_BY, (change.memory_id, mid, self._no)).fetchall():
            self._erase(Erase(behind), covered=False)
        self._db.execute("DELETE FROM history WHERE memory_id = ?", (change.memory_id,))
        for table in ("index_entry", "returned", "feedback"):
            self._db.execute(f"DELETE FROM {table} WHERE mid = ?", (mid,))  # noqa: S608
        self._drop_sources(sources, mid)
        forget_memory(self._db, change.memory_id, owner_no=self._no)
        self._log.erase(mid)
        self._db.execute("DELETE FROM memory WHERE mid = ?", (mid,))
        forget_answers(self._db, scope=self._scope)
        self._erased = True
        return self._done(mid, change.memory_id, op="erase")

    def _done(self, mid: int, memory_id: str, *, op: str) -> str:
        self._changed = True
        if self._follow:
            append(self._db, mid, memory_id=memory_id, op=op)
        return memory_id

    def _id_of_source(self, source: Source) -> str | None:
        row = self._db.execute(
            "SELECT id FROM source JOIN memory USING (mid) WHERE owner_no = ? AND source.kind = ? AND run = ?"
            " AND source_id = ? AND place = 0 AND deleted_at IS NULL ORDER BY mid LIMIT 1",
            (self._no, *source),
        ).fetchone()
        return None if row is None else str(row[0])

    def _find(self, memory_id: str, *, covered: bool = True) -> tuple[int, int, str, list[Source]]:
        row = self._look(memory_id, covered=covered)
        if row is None:
            raise MemoryNotFoundError("no memory with this id belongs to this owner")
        mid, version, content, kind, run_id, source_ids = row
        ids = json.loads(source_ids) if source_ids else ()
        return mid, version, content, [(kind, run_id or "", source_id) for source_id in ids]

    def _look(self, memory_id: str, *, covered: bool = True) -> Values | None:
        agent, run = (self._scope.agent_id, self._scope.run_id) if covered else (None, None)
        bounds = (first_mid(self._no), last_mid(self._no))
        row: Values | None = self._db.execute(_FIND, (memory_id, *bounds, agent, agent, run, run)).fetchone()
        return row

    def _put_entry(self, mid: int, values: Values, *, model_id: str | None) -> None:
        *columns, vector = values
        self._db.execute(
            "INSERT OR REPLACE INTO index_entry (mid, length, flags, numbers, analyzer, terms, model, vector)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (mid, *columns, None if model_id is None else self._model(model_id, len(vector)), vector),
        )

    def _model(self, name: str, vector_bytes: int) -> int:
        model = (name, vector_bytes)
        if model not in self._models:
            self._models[model] = model_number(self._db, name, vector_bytes=vector_bytes)
        return self._models[model]

    def _put_sources(self, sources: Sequence[Source], mid: int) -> None:
        for place, source in enumerate(sources):
            self._db.execute("INSERT OR IGNORE INTO source VALUES (?, ?, ?, ?, ?, ?)", (self._no, *source, mid, place))

    def _drop_sources(self, sources: Sequence[Source], mid: int) -> None:
        for source in sources:
            self._db.execute(
                "DELETE FROM source WHERE owner_no = ? AND kind = ? AND run = ? AND source_id = ? AND mid = ?",
                (self._no, *source, mid),
            )

    def _tell(self, event: Event, record: MemoryRecord, *, old: str | None, reason: str | None) -> None:
        if record.kind is not Kind.MEMORY or event is Event.NONE:
            return
        self._db.execute(
            "INSERT INTO history (memory_id, old_memory, new_memory, event, created_at, updated_at, is_deleted,"
            " actor_id, role, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(record.id, old, None if event is Event.DELETE else record.content, event),
                *(utc_text(record.created_at), None if event is Event.ADD else utc_text(self._now)),
                *(int(record.deleted_at is not None), record.actor, record.role, reason),
            ),
        )


def _sources(record: MemoryRecord) -> list[Source]:
    return [(record.kind, record.belongs_to.run_id or "", source_id) for source_id in record.provenance.source_ids]
