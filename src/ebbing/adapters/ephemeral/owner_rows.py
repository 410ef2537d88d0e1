"""One owner's rows in RAM, and how a list of changes becomes part of them: all or none."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final

from ebbing.domain.errors import ConflictError, InvalidInputError, MemoryNotFoundError
from ebbing.domain.memory.change_set import Cause, LoggedChange
from ebbing.domain.memory.feedback import Usage
from ebbing.domain.memory.history import Event, HistoryEntry
from ebbing.domain.memory.profile import ProfileEdit
from ebbing.domain.memory.record import Kind, MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.domain.nesting import check_nesting
from ebbing.index.index_entry import IndexEntry, read_entry
from ebbing.index.shard import Shard, micros, row_for
from ebbing.ports.memory_store import Change, Erase, Insert, Reindex, Revise
from ebbing.ports.profile_store import Kept as KeptProfile

NOTHING_LOGGED: Final = LoggedChange("", 0, Cause.WRITE, datetime.min.replace(tzinfo=UTC), 0, 0, 0)
"""In the place of a change set that has no name yet."""
ID_TAKEN: Final = "a memory with this id is already stored: give the new one an id of its own"

WRITTEN_SINCE: Final = "memories of this owner were written since they were read: read them again and retry"


@dataclass(frozen=True, slots=True)
class Kept:
    """A record with everything that is kept beside it."""

    seq: int
    record: MemoryRecord
    entry: IndexEntry | None
    history: tuple[HistoryEntry, ...] = ()


@dataclass(slots=True)
class LoggedWrite:
    """A change set with what it takes to undo it; or what one write adds to one."""

    logged: LoggedChange = NOTHING_LOGGED
    born: set[str] = field(default_factory=set)
    """Ids of the rows that it inserted."""
    before: dict[str, Kept] = field(default_factory=dict)
    """By id, the rows that it revised, as they were."""
    with_entry: set[str] = field(default_factory=set)
    """Ids of those whose index entry it changed."""
    erased: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Room:
    """One owner's rows."""

    kept: dict[str, Kept] = field(default_factory=dict)
    last_seq: int = 0
    generation: int = 0
    shard: Shard | None = None
    past: Shard | None = None
    """The shard with the deleted rows, for questions about the past."""
    tallies: dict[str, Usage] = field(default_factory=dict)
    """By memory id, what is known of its use."""
    marks: dict[str, int] = field(default_factory=dict)
    """How far each step of the upkeep has come."""
    profile: KeptProfile = field(default_factory=KeptProfile)
    brought: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """By slot, the merges of persons that brought an edit of the profile, the last one last."""
    behind: dict[int, Kept | None] = field(default_factory=dict)
    """By seq, what the shard does not know yet; None for what is gone."""
    log: list[LoggedWrite] = field(default_factory=list)
    """The change sets, oldest first."""
    sources: dict[str, set[str]] = field(default_factory=dict)
    """By source id, the memories that rest on it."""

    def from_sources(self, source_ids: Iterable[str]) -> list[Kept]:
        """The rows that rest on one of these, in order of arrival."""
        ids = {memory_id for name in source_ids for memory_id in self.sources.get(name, ())}
        return sorted((self.kept[memory_id] for memory_id in ids), key=lambda kept: kept.seq)

    def covered(self, scope: Scope) -> Iterator[Kept]:
        """The rows that a read under this scope may see."""
        return (row for row in self.kept.values() if scope.covers(row.record.whose))

    def let_go(self) -> None:
        """Forgets what was worked out from the rows, with the texts that it holds."""
        self.shard = self.past = None
        self.behind = {}

    def put(self, memory_id: str, row: Kept | None) -> None:
        """Replaces a row, or removes it."""
        before = self.take_out(memory_id)
        if row:
            self.kept[memory_id] = row
            self.behind[row.seq] = row
            for name in row.record.provenance.source_ids:
                self.sources.setdefault(name, set()).add(memory_id)
        elif before:
            self.tallies.pop(memory_id, None)
            self.behind[before.seq] = None
            self.keep_edits([edit for edit in self.profile.edits if edit.memory_id != memory_id])

    def take_out(self, memory_id: str) -> Kept | None:
        """Removes a row, and nothing that is kept about it."""
        before = self.kept.pop(memory_id, None)
        for name in before.record.provenance.source_ids if before else ():
            self.sources[name].discard(memory_id)
            if not self.sources[name]:
                del self.sources[name]
        return before

    def keep_edits(self, edits: Iterable[ProfileEdit]) -> None:
        """These are all edits of the profile from now on."""
        self.profile = replace(self.profile, edits=tuple(sorted(edits, key=lambda edit: edit.slot)))
        self.forget_snapshot()

    def forget_snapshot(self) -> None:
        """Takes what the profile says away: it has to be worked out again."""
        before = self.profile.snapshot
        snapshot = None if before is None else replace(before, generation=-1, entries=())
        self.profile = replace(self.profile, snapshot=snapshot, revision=self.profile.revision + 1)


class Staged:
    """One call's changes beside the rows they will replace, so that a refused change leaves nothing behind."""

    def __init__(self, scope: Scope, room: Room, *, numbers: Iterator[int], now: datetime) -> None:
        self.rows: dict[str, Kept | None] = {}
        self.written = LoggedWrite()
        """For the change log."""
        self._fresh: dict[str, list[str]] = {}
        """By first source id, the memories that this call inserts or revises."""
        self._scope, self._room, self._numbers, self._now = scope, room, numbers, now
        self._seq = room.last_seq

    def apply(self, change: Change) -> str:
        """Stages one change; returns the id that holds it."""
        if isinstance(change, Erase):
            self._erase(self._find(change.memory_id))
            return change.memory_id
        if isinstance(change, Reindex):
            return self._reindex(change)
        if change.record.whose.owner != self._scope.owner:
            raise InvalidInputError("the record names another owner than the scope it is written under")
        if isinstance(change, Revise):
            return self._revise(change)
        return self._insert(change)

    def keep(self) -> Room:
        """Lets the staged rows replace the old ones."""
        for memory_id, row in self.rows.items():
            self._room.put(memory_id, row)
        if None in self.rows.values():
            self._room.let_go()
        self._room.last_seq = self._seq
        self._room.generation += 1
        return self._room

    def _insert(self, change: Insert) -> str:
        check_nesting(change.record.metadata, "metadata")
        record = storable(change.record)
        if change.once and (earlier := self._known(record)):
            return earlier
        if self._look(record.id):
            raise ConflictError(ID_TAKEN)
        self._seq += 1
        history = self._told(Event.ADD, record, old=None, reason=change.reason)
        self.written.born.add(record.id)
        self._stage(Kept(self._seq, record, change.entry and read_entry(change.entry, record), history))
        return record.id

    def _revise(self, change: Revise) -> str:
        record, before = storable(change.record), self._find(change.record.id)
        if record.version != before.record.version + 1:
            raise ConflictError("the memory changed since it was read: read it again and retry")
        record = record if change.sets_uses else _with_uses(record, before.record)
        self._note(before, with_entry=bool(change.entry or change.adds_flags or change.drops_vector))
        entries = self._told(change.event, record, old=before.record.content, reason=change.reason)
        entry = read_entry(change.entry, record) if change.entry else _thinned(before.entry, change)
        self._stage(Kept(before.seq, record, entry, before.history + entries))
        return record.id

    def _reindex(self, change: Reindex) -> str:
        row = self._look(change.memory_id)
        if row and self._scope.covers(row.record.whose) and row.record.version == change.version:
            self.rows[change.memory_id] = replace(row, entry=read_entry(change.entry, row.record))
        return change.memory_id

    def _erase(self, row: Kept) -> None:
        """Erases a row, and what it tells for others: these may lie outside of the scope of the call."""
        teller = row.record
        self.rows[teller.id] = None
        self.written.before.pop(teller.id, None)
        self.written.erased.append(teller.id)
        for behind in map(self._look, teller.compression_sources):
            if behind and behind.record.retired_at is not None and behind.record.superseded_by == teller.id:
                self._erase(behind)

    def _note(self, before: Kept, *, with_entry: bool) -> None:
        """Keeps a row as it was before this write."""
        if before.record.id in self.written.born:
            return
        self.written.before.setdefault(before.record.id, before)
        if with_entry:
            self.written.with_entry.add(before.record.id)

    def _stage(self, row: Kept) -> None:
        self.rows[row.record.id] = row
        for name in row.record.provenance.source_ids[:1]:
            self._fresh.setdefault(name, []).append(row.record.id)

    def _look(self, memory_id: str) -> Kept | None:
        return self.rows[memory_id] if memory_id in self.rows else self._room.kept.get(memory_id)

    def _find(self, memory_id: str) -> Kept:
        row = self._look(memory_id)
        if row is None or not self._scope.covers(row.record.whose):
            raise MemoryNotFoundError("no memory with this id belongs to this owner")
        return row

    def _known(self, record: MemoryRecord) -> str | None:
        key = _source_key(record)
        if key is None:
            return None
        ids = {*self._room.sources.get(key[2], ()), *self._fresh.get(key[2], ())}
        same = (row for row in map(self._look, ids) if row and _source_key(row.record) == key)
        living = [row for row in same if row.record.deleted_at is None]
        return min(living, key=lambda row: row.seq).record.id if living else None

    def _told(
        self, event: Event, record: MemoryRecord, *, old: str | None, reason: str | None
    ) -> tuple[HistoryEntry, ...]:
        if record.kind is not Kind.MEMORY or event is Event.NONE:
            return ()
        entry = HistoryEntry(
            id=str(next(self._numbers)),
            memory_id=record.id,
            old_memory=old,
            new_memory=None if event is Event.DELETE else record.content,
            event=event,
            created_at=record.created_at,
            updated_at=None if event is Event.ADD else self._now,
            is_deleted=record.deleted_at is not None,
            actor_id=record.actor,
            role=record.role,
            reason=reason,
        )
        return (entry,)


def _thinned(entry: IndexEntry | None, change: Revise) -> IndexEntry | None:
    """What stays of an entry."""
    if entry is None:
        return None
    vector, model = (None, None) if change.drops_vector else (entry.vector, entry.model_id)
    return replace(entry, flags=entry.flags | change.adds_flags, vector=vector, model_id=model)


def _with_uses(record: MemoryRecord, before: MemoryRecord) -> MemoryRecord:
    """The record with the uses that were noted since its writer read it."""
    times = [moment for moment in (record.last_accessed_at, before.last_accessed_at) if moment]
    uses = max(record.access_count, before.access_count)
    growth = record.growth if record.access_count > before.access_count else before.growth
    return replace(record, access_count=uses, last_accessed_at=max(times, default=None), growth=growth)


def _source_key(record: MemoryRecord) -> tuple[Kind, str | None, str] | None:
    ids = record.provenance.source_ids
    return (record.kind, record.whose.run_id, ids[0]) if ids else None


def advanced(room: Room, shard: Shard) -> Shard:
    """The room's shard with what it was behind."""
    shard = shard.successor()
    gone = [seq for seq, row in room.behind.items() if row is None or not row.record.is_active]
    living = (row for seq, row in sorted(room.behind.items()) if row and row.record.is_active)
    shard.mark_deleted(gone)
    shard.upsert([row_for(row.seq, row.record, entry=row.entry) for row in living])
    shard.generation = room.generation
    room.behind = {}
    return shard


def with_deleted(room: Room, empty: Shard) -> Shard:
    """A shard of all the room's rows, the deleted ones too."""
    stored = sorted(room.kept.values(), key=lambda stored: stored.seq)
    empty.upsert([row_for(item.seq, item.record, entry=item.entry) for item in stored])
    empty.generation = room.generation
    return empty


def is_after(entry: HistoryEntry, moment: datetime) -> bool:
    """Whether this is a change that happened after the moment; what a memory began with is no change."""
    return entry.updated_at is not None and entry.updated_at > moment


def storable(record: MemoryRecord) -> MemoryRecord:
    """A copy that shares nothing with the caller's, refusing what a file could not hold either.

    Raises:
        InvalidInputError: the metadata is not JSON, the text is broken Unicode, or a time has no zone.
    """
    try:
        record.content.encode()
        micros(record.created_at)
        return copy_of(record)
    except UnicodeError as error:
        raise InvalidInputError(
            "the text holds broken Unicode (a lone surrogate): replace it before storing"
        ) from error
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError("the record cannot be stored: metadata must be JSON, times need a zone") from error


def copy_of(record: MemoryRecord) -> MemoryRecord:
    """The record with metadata of its own, which its receiver may change."""
    return replace(record, metadata=json.loads(json.dumps(dict(record.metadata)))) if record.metadata else record
