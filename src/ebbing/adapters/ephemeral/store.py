"""A memory store that forgets everything when it is closed: for tests, for trying things out, for secrets."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from datetime import datetime
from functools import reduce
from itertools import count
from pathlib import Path

from ebbing.adapters.ephemeral.change_log import EphemeralChangeLog, forget_states, record_write
from ebbing.adapters.ephemeral.identities import EphemeralIdentityBook, Home
from ebbing.adapters.ephemeral.jobs import EphemeralJobQueue
from ebbing.adapters.ephemeral.owner_rows import (
    ID_TAKEN,
    WRITTEN_SINCE,
    Kept,
    LoggedWrite,
    Room,
    Staged,
    advanced,
    copy_of,
    is_after,
    with_deleted,
)
from ebbing.adapters.ephemeral.profiles import EphemeralProfileStore
from ebbing.adapters.ephemeral.service import (
    EphemeralAuditLog,
    EphemeralKeyRing,
    EphemeralRequestLog,
    EphemeralWebhookBook,
)
from ebbing.adapters.ephemeral.usage import EphemeralUsageLog
from ebbing.adapters.ephemeral.vector_lengths import VectorLengths
from ebbing.adapters.ephemeral.verify import findings
from ebbing.domain.errors import ConflictError, InvalidInputError, StoreClosedError
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.domain.memory.history import HistoryEntry
from ebbing.domain.memory.record import Kind, MemoryRecord, Stage
from ebbing.domain.memory.scope import Owner, Scope
from ebbing.index.cursor import cursor_after, position
from ebbing.index.shard import Shard, micros
from ebbing.language.text.analyzer import ANALYZER_VERSION
from ebbing.ports.clock import Clock
from ebbing.ports.embedder import Embedder
from ebbing.ports.memory_store import (
    ANY_SHARE,
    Change,
    Insert,
    Outdated,
    Page,
    Receipt,
    Revise,
    Share,
    ShareFilter,
    StoreStats,
)


class EphemeralMemoryStore:
    """A `MemoryStore` in the memory of one process; threads and event loops may share it. No index follows it."""

    outbox = None

    def __init__(self, *, clock: Clock, model_id: str | None = None, dim: int = 0) -> None:
        self._clock, self._model_id, self._dim, self._lengths = clock, model_id, dim, VectorLengths()
        self._rooms: dict[Owner, Room] = {}
        self._owners: dict[str, Owner] = {}
        self._numbers = count(1)
        self._lock = threading.RLock()
        self._closed = threading.Event()
        self._change: ChangeSet | None = None
        """What is written belongs to it."""
        self.jobs = EphemeralJobQueue(clock)
        """A `JobQueue` that lives as long."""
        self.usage = EphemeralUsageLog(self._rooms, self._opened)
        """A `UsageLog` that lives as long."""
        self.keys = EphemeralKeyRing(self._opened)
        """A `KeyRing` that lives as long."""
        self.requests = EphemeralRequestLog(self._opened)
        """A `RequestLog` that lives as long."""
        self.webhooks = EphemeralWebhookBook(self._opened)
        """A `WebhookBook` that lives as long."""
        self.audit = EphemeralAuditLog(self._opened)
        """An `AuditLog` that lives as long."""
        self.profiles = EphemeralProfileStore(self._rooms, self._opened)
        """A `ProfileStore` that lives as long."""
        self.change_log = EphemeralChangeLog(self._rooms, self._opened)
        """A `ChangeLog` that lives as long."""
        home = Home(self._rooms, self._owners, self.jobs, self.requests, self._numbers)
        self.identities = EphemeralIdentityBook(home, self._opened)
        """An `IdentityBook` that lives as long."""

    def use_model(self, embedder: Embedder | None) -> None:
        model = (embedder.model_id, embedder.dim) if embedder else (None, 0)
        with self._lock:
            if model != (self._model_id, self._dim):
                self._model_id, self._dim = model
                for room in self._rooms.values():
                    room.shard = room.past = None

    def within(self, change: ChangeSet) -> EphemeralMemoryStore:
        view = copy(self)
        vars(view).update(_change=change)
        return view

    async def vector_length(self, model_id: str) -> int | None:
        return self._lengths.get(model_id)

    async def write(self, scope: Scope, changes: Sequence[Change], *, seen: int | None = None) -> list[str]:
        with self._opened():
            self._lengths.check(changes)
            owner_asked, change_set = scope.owner, self._change or ChangeSet(Cause.WRITE)
            if scope.owner not in self._rooms and any(isinstance(change, Insert) for change in changes):
                scope, changes, seen = self._for_heir(scope, changes, seen=seen)
            if seen is not None and self._room(scope.owner).generation != max(seen, 0):
                raise ConflictError(WRITTEN_SINCE)
            staged = Staged(scope, self._rooms.get(scope.owner, Room()), numbers=self._numbers, now=self._clock.now())
            ids = [staged.apply(change) for change in changes]
            if any(self._owners.get(memory_id, scope.owner) != scope.owner for memory_id in staged.rows):
                raise ConflictError(ID_TAKEN)
            if staged.rows:
                room = self._rooms[scope.owner] = staged.keep()
                self._log(room, staged.written, owner_asked=owner_asked, owner=scope.owner, change=change_set)
                self._owners.update(dict.fromkeys(staged.rows, scope.owner))
            self._forget([memory_id for memory_id, row in staged.rows.items() if row is None], scope)
            return ids

    async def get(self, scope: Scope, ids: Sequence[str], *, deleted: bool = False) -> list[MemoryRecord]:
        with self._opened():
            matches = (self._find(scope, memory_id) for memory_id in ids)
            records = [row.record for row in matches if row]
        return [copy_of(record) for record in records if deleted or record.deleted_at is None]

    async def from_sources(self, scope: Scope, source_ids: Sequence[str]) -> list[MemoryRecord]:
        with self._opened():
            records = [row.record for row in self._room(scope.owner).from_sources(source_ids)]
        return [copy_of(item) for item in records if item.deleted_at is None and scope.covers(item.whose)]

    async def page(
        self,
        scope: Scope,
        *,
        kinds: Sequence[Kind] = (Kind.MEMORY,),
        limit: int = 100,
        cursor: str | None = None,
        deleted: bool = False,
        at: datetime | None = None,
    ) -> Page:
        if limit < 1:
            raise InvalidInputError("limit must be at least 1")
        after = position(cursor)
        with self._opened():
            shown = [
                (micros(kept.record.created_at), kept.seq, kept.record)
                for kept in self._room(scope.owner).covered(scope)
                if kept.record.kind in kinds
                and (deleted or kept.record.is_active)
                and (at is None or kept.record.holds(at))
            ]
        rest = sorted((row for row in shown if row[:2] < after), key=lambda row: row[:2], reverse=True)
        records = tuple(copy_of(record) for _, _, record in rest[:limit])
        return Page(records, cursor_after(*rest[limit - 1][:2]) if len(rest) > limit else None)

    async def shard(self, scope: Scope, *, deleted: bool = False) -> Shard:
        with self._opened():
            empty = Shard(model_id=self._model_id, dim=self._dim)
            if (room := self._rooms.get(scope.owner)) is None:
                return empty
            if deleted:
                if room.past is None or room.past.generation != room.generation:
                    room.past = with_deleted(room, empty)
                return room.past
            if room.shard is None:
                room.behind = {row.seq: row for row in room.kept.values()}
            if room.shard is None or room.shard.generation != room.generation:
                behind, room.shard = room.shard, None  # what breaks this off leaves none that is half made
                room.shard = advanced(room, behind or empty)
            return room.shard

    async def history(self, scope: Scope, memory_id: str) -> list[HistoryEntry]:
        with self._opened():
            row = self._find(scope, memory_id)
            return list(row.history) if row else []

    async def histories(self, scope: Scope, *, changed_after: datetime) -> list[HistoryEntry]:
        with self._opened():
            covered = [row.history for row in self._room(scope.owner).covered(scope)]
        later = [entry for log in covered if any(is_after(entry, changed_after) for entry in log) for entry in log]
        return sorted(later, key=lambda entry: int(entry.id))

    async def telling(self, scope: Scope, ids: Sequence[str]) -> list[MemoryRecord]:
        wanted_ids = set(ids)
        with self._opened():
            rows = sorted(self._room(scope.owner).kept.values(), key=lambda row: row.seq)
        return [copy_of(row.record) for row in rows if not wanted_ids.isdisjoint(row.record.compression_sources)]

    async def mark(self, scope: Scope, name: str) -> int:
        with self._opened():
            return self._room(scope.owner).marks.get(name, 0)

    async def set_mark(self, scope: Scope, name: str, *, value: int) -> None:
        with self._opened():
            if room := self._rooms.get(scope.owner):
                room.marks[name] = value

    async def outdated(self, scope: Scope, *, limit: int = 100, after: int = 0) -> list[Outdated]:
        with self._opened():
            rows = sorted(self._room(scope.owner).kept.values(), key=lambda row: row.seq)
            outdated_rows = [row for row in rows if row.seq > after and self._is_outdated(row)]
            return [*map(self._outdated, outdated_rows[:limit])]

    async def scope_of(self, tenant: str, memory_id: str) -> Scope | None:
        with self._opened():
            owner = self._owners.get(memory_id)
            if owner is None or owner.tenant != tenant:
                return None
            return self._rooms[owner].kept[memory_id].record.whose

    async def taken(self, ids: Sequence[str]) -> set[str]:
        with self._opened():
            return {memory_id for memory_id in ids if memory_id in self._owners}

    async def owners(self, tenant: str, *, deleted: bool = False) -> list[Owner]:
        with self._opened():
            return [
                owner
                for owner, room in self._rooms.items()
                if owner.tenant == tenant
                and any(deleted or row.record.deleted_at is None for row in room.kept.values())
            ]

    async def shares(self, tenant: str, *, share_filter: ShareFilter = ANY_SHARE) -> list[Share]:
        counts: Counter[tuple[Owner, str | None, str | None, str | None]] = Counter()
        with self._opened():
            for owner, room in self._rooms.items():
                for record in (row.record for row in room.kept.values() if owner.tenant == tenant):
                    app = record.metadata.get("app_id")
                    ids = (record.whose.agent_id, record.whose.run_id, app if isinstance(app, str) else None)
                    filter_values = (share_filter.agent_id, share_filter.run_id, share_filter.app_id)
                    fits = all(want is None or want == has for want, has in zip(filter_values, ids, strict=True))
                    if fits and record.deleted_at is None:
                        counts[(owner, *ids)] += record.kind is Kind.MEMORY and record.retired_at is None
        return [Share(*key, memories=memories) for key, memories in counts.items()]

    async def tenants(self) -> list[str]:
        with self._opened():
            return list({owner.tenant: None for owner in self._rooms})

    async def erase(self, scope: Scope) -> Receipt:
        with self._opened():
            self.requests.forget(scope)
            owner = scope.owner
            receipt = self._erase(owner, list(self._room(owner).covered(scope)))
            is_whole = scope == Scope.of(owner) and owner.kind == "user"
            names = self.identities.forget(owner.tenant, name=owner.name) if is_whole else 0
        return receipt.plus(Receipt(jobs=await self.jobs.forget(scope), identities=names))

    async def reset(self, tenant: str) -> Receipt:
        with self._opened():
            self.requests.forget_tenant(tenant)
            owners = [owner for owner in self._rooms if owner.tenant == tenant]
            receipts = [self._erase(owner, list(self._rooms[owner].kept.values())) for owner in owners]
            self.profiles.reset(tenant)
            names = self.identities.forget(tenant)
        return reduce(Receipt.plus, receipts, Receipt(jobs=await self.jobs.forget_tenant(tenant), identities=names))

    async def scrub(self) -> bool:
        return True

    async def compact(self) -> bool:
        return True

    async def stats(self, tenant: str) -> StoreStats:
        owners = await self.owners(tenant)
        with self._opened():
            kept = [
                kept for owner, room in self._rooms.items() if owner.tenant == tenant for kept in room.kept.values()
            ]
        living = [row for row in kept if row.record.deleted_at is None]
        memories = [row.record for row in living if row.record.kind is Kind.MEMORY]
        return StoreStats(
            owners=len(owners),
            memories=len(memories),
            episodes=len(living) - len(memories),
            deleted=len(kept) - len(living),
            without_vector=sum(map(self._is_bare, living)),
            bytes_on_disk=0,
            by_layer=dict(Counter(str(record.layer) for record in memories)),
            by_type=dict(Counter(str(record.type) for record in memories)),
            by_model=dict(Counter(row.entry.model_id for row in living if row.entry and row.entry.model_id)),
        )

    async def verify(self) -> list[str]:
        with self._opened():
            return findings(row for room in self._rooms.values() for row in room.kept.values())

    async def back_up(self, directory: Path) -> int:  # noqa: ARG002
        raise InvalidInputError("an ephemeral store keeps nothing on disk: there is nothing to back up")

    async def aclose(self) -> None:
        with self._lock:
            self._closed.set()
            self._rooms.clear()
            self._owners.clear()

    @contextmanager
    def _opened(self) -> Iterator[None]:
        with self._lock:
            if self._closed.is_set():
                raise StoreClosedError("the store is closed: open it again")
            yield

    def _forget(self, erased: Sequence[str], scope: Scope) -> None:
        """Lets go of what is kept elsewhere about memories that are gone."""
        for memory_id in erased:
            del self._owners[memory_id]
            self.identities.forget_memory(memory_id)
        if erased:
            self.requests.forget_answers(scope)

    def _log(self, room: Room, written: LoggedWrite, *, owner_asked: Owner, owner: Owner, change: ChangeSet) -> None:
        """Writes down what was written; the caller knows the change set by the owner that they asked for."""
        if written.born or written.before or written.erased:
            if owner_asked in change.ids:
                change.ids[owner] = change.ids[owner_asked]
            record_write(room, written, owner=owner, change=change, now=self._clock.now())
            change.ids[owner_asked] = change.ids[owner]

    def _for_heir(
        self, scope: Scope, changes: Sequence[Change], *, seen: int | None
    ) -> tuple[Scope, Sequence[Change], int | None]:
        """What is written late under a name that was merged away, under the name that was kept."""
        heir = self.identities.late_heir(scope.owner, self._clock.now())
        if heir == scope.owner:
            return scope, changes, seen
        return replace(scope, user_id=heir.name), [_under(change, heir.name) for change in changes], None

    def _room(self, owner: Owner) -> Room:
        return self._rooms.get(owner) or Room()

    def _find(self, scope: Scope, memory_id: str) -> Kept | None:
        row = self._room(scope.owner).kept.get(memory_id)
        return row if row and scope.covers(row.record.whose) else None

    def _erase(self, owner: Owner, gone: Sequence[Kept]) -> Receipt:
        room = self._room(owner)
        edits = len(room.profile.edits)
        tallies = [tally for row in gone if (tally := room.tallies.get(row.record.id))]
        revisions = sum(forget_states(room, row.record.id) for row in gone)
        for row in gone:
            room.put(row.record.id, None)
            del self._owners[row.record.id]
        room.let_go()
        room.generation += 1
        if not room.kept:
            self._rooms.pop(owner, None)
        memories = sum(row.record.kind is Kind.MEMORY for row in gone)
        return Receipt(
            memories=memories,
            episodes=len(gone) - memories,
            history=sum(len(row.history) for row in gone),
            index_entries=sum(row.entry is not None for row in gone),
            source_ids=sum(len(row.record.provenance.source_ids) for row in gone),
            uses=sum(bool(tally.returned) + len(tally.feedback) for tally in tallies),
            edits=edits - (len(room.profile.edits) if room.kept else 0),
            revisions=revisions,
        )

    def _is_bare(self, row: Kept) -> bool:
        """Whether it should have a vector of the model in use, and has none."""
        record = row.record
        needs = record.is_active and record.stage is Stage.FULL and bool(record.content.strip())
        return (
            needs
            and self._model_id is not None
            and not (row.entry and row.entry.vector is not None and row.entry.model_id == self._model_id)
        )

    def _is_outdated(self, row: Kept) -> bool:
        old = row.entry is None or row.entry.analyzer != ANALYZER_VERSION
        return row.record.is_active and (old or self._is_bare(row))

    def _outdated(self, row: Kept) -> Outdated:
        entry = row.entry
        keeps = entry is not None and entry.model_id == self._model_id
        return Outdated(
            row.seq, copy_of(row.record), entry.flags if entry else None, entry.vector if entry and keeps else None
        )


def _under(change: Change, user_id: str) -> Change:
    if not isinstance(change, Insert | Revise):
        return change
    return replace(change, record=replace(change.record, whose=replace(change.record.whose, user_id=user_id)))
