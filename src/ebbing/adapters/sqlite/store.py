"""The embedded memory store: one SQLite file in a directory is the truth, with everything in it."""

from __future__ import annotations

import json
import sqlite3
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from anyio import to_thread

from ebbing.adapters.sqlite.audit import SqliteAuditLog
from ebbing.adapters.sqlite.backup import back_up
from ebbing.adapters.sqlite.changes import apply, prepare
from ebbing.adapters.sqlite.connections import Connections
from ebbing.adapters.sqlite.erasure import erase_scope, erase_tenant
from ebbing.adapters.sqlite.identities import SqliteIdentityBook
from ebbing.adapters.sqlite.jobs import SqliteJobQueue
from ebbing.adapters.sqlite.keys import SqliteKeyRing
from ebbing.adapters.sqlite.outbox import Outbox
from ebbing.adapters.sqlite.profiles import SqliteProfileStore
from ebbing.adapters.sqlite.recent_writes import Written
from ebbing.adapters.sqlite.requests import SqliteRequestLog
from ebbing.adapters.sqlite.rows import RECORD_COLUMNS, record_of, utc_text
from ebbing.adapters.sqlite.scrubbing import Scrub
from ebbing.adapters.sqlite.shards import ShardCache
from ebbing.adapters.sqlite.staging import Arrival, Arrivals, arrival_of
from ebbing.adapters.sqlite.step_progress import mark_of, put_mark
from ebbing.adapters.sqlite.store_stats import counts, outdated
from ebbing.adapters.sqlite.usage import SqliteUsageLog
from ebbing.adapters.sqlite.verify import findings
from ebbing.adapters.sqlite.webhooks import SqliteWebhookBook
from ebbing.adapters.sqlite.writer import GroupCommitWriter
from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.history import Event, HistoryEntry
from ebbing.domain.memory.record import Kind, MemoryRecord
from ebbing.domain.memory.scope import Owner, Scope
from ebbing.index.cursor import cursor_after, position
from ebbing.index.shard import Shard, micros
from ebbing.ports.clock import Clock
from ebbing.ports.embedder import Embedder
from ebbing.ports.loop import on_a_loop
from ebbing.ports.memory_store import Change, Erase, Outdated, Page, Receipt, StoreStats

_Result = TypeVar("_Result")

DEFAULT_SHARD_CACHE_BYTES: Final = 512 * 1024 * 1024
INLINE_IDS: Final = 100
"""Up to this many records are read without a change of thread."""

_CREATED: Final = RECORD_COLUMNS.index("created_at")
_COLUMNS: Final = ", ".join(f"memory.{name}" for name in RECORD_COLUMNS)
# `+no` has no type affinity; with one, SQLite would not use the index on `mid >> 24`.
_OF_OWNER: Final = "mid >> 24 = (SELECT +no FROM owner WHERE tenant = :tenant AND kind = :owner_kind AND name = :name)"
_COVERED: Final = "(:agent IS NULL OR agent_id = :agent) AND (:run IS NULL OR run_id = :run)"
_GET: Final = (
    f"SELECT {_COLUMNS} FROM memory WHERE id IN (SELECT value FROM json_each(:ids)) AND +{_OF_OWNER}"  # noqa: S608
    f" AND {_COVERED} AND (:deleted OR deleted_at IS NULL)"
)
_FROM_SOURCES: Final = (
    f"SELECT {_COLUMNS} FROM memory WHERE mid IN (SELECT mid FROM source WHERE source_id IN"  # noqa: S608
    " (SELECT value FROM json_each(:sources)) AND kind IN ('memory', 'episode') AND owner_no ="
    " (SELECT no FROM owner WHERE tenant = :tenant AND kind = :owner_kind AND name = :name))"
    f" AND {_COVERED} AND deleted_at IS NULL ORDER BY mid"
)
_PAGE: Final = (
    f"SELECT mid & 16777215, {_COLUMNS} FROM memory WHERE {_OF_OWNER}"  # noqa: S608
    " AND created_at <= :created AND (created_at < :created OR mid & 16777215 < :seq)"
    f" AND kind IN (SELECT value FROM json_each(:kinds)) AND {_COVERED}"
    " AND (:deleted OR deleted_at IS NULL AND retired_at IS NULL)"
    " AND (:at IS NULL OR (valid_to IS NULL OR valid_to > :at) AND (expires_at IS NULL OR expires_at > :at))"
    " ORDER BY created_at DESC, mid DESC LIMIT :limit"
)
_TELLING: Final = (
    f"SELECT {_COLUMNS} FROM memory, owner WHERE tenant = :tenant AND owner.kind = :owner_kind"  # noqa: S608
    " AND owner.name = :name AND mid BETWEEN owner.no << 24 AND owner.no << 24 | 16777215"
    " AND compression_sources IS NOT NULL AND EXISTS (SELECT 1 FROM json_each(compression_sources) AS made_of"
    " WHERE made_of.value IN (SELECT value FROM json_each(:ids))) ORDER BY mid"
)
_HISTORY_COLUMNS: Final = (
    "id, memory_id, old_memory, new_memory, event, created_at, updated_at, is_deleted, actor_id, role, reason"
)
_HISTORY: Final = (
    f"SELECT {_HISTORY_COLUMNS} FROM history WHERE memory_id = :id AND EXISTS"  # noqa: S608
    f" (SELECT 1 FROM memory WHERE memory.id = :id AND +{_OF_OWNER} AND {_COVERED}) ORDER BY id"
)
_HISTORIES: Final = (
    f"SELECT {_HISTORY_COLUMNS} FROM history WHERE memory_id IN"  # noqa: S608
    " (SELECT memory.id FROM memory CROSS JOIN history AS later ON later.memory_id = memory.id"
    f" WHERE {_OF_OWNER} AND changed IS NOT NULL AND {_COVERED} AND later.updated_at > :moment) ORDER BY id"
)
_SCOPE_OF: Final = (
    "SELECT owner.kind, owner.name, agent_id, run_id FROM memory JOIN owner ON owner.no = mid >> 24"
    " WHERE memory.id = ? AND tenant = ?"
)
_TAKEN: Final = "SELECT id FROM memory WHERE id IN (SELECT value FROM json_each(?))"
_OWNERS: Final = (
    "SELECT tenant, kind, name FROM owner WHERE tenant = ? AND EXISTS (SELECT 1 FROM memory"
    " WHERE mid BETWEEN owner.no << 24 AND owner.no << 24 | 16777215 AND (? OR deleted_at IS NULL)) ORDER BY no"
)


class SqliteMemoryStore:
    """A `MemoryStore` in `directory/ebbing.db`. Any number of threads, event loops and processes may use it at once."""

    def __init__(
        self, connections: Connections, *, model_id: str | None, dim: int, clock: Clock, shard_cache_bytes: int
    ) -> None:
        self._connections, self._clock, self._model_id = connections, clock, model_id
        self._writer = GroupCommitWriter(connections, Arrivals())
        self._shards = ShardCache(connections, model_id=model_id, dim=dim, max_bytes=shard_cache_bytes)
        self._pasts = ShardCache(
            connections, model_id=model_id, dim=dim, max_bytes=shard_cache_bytes // 4, with_deleted=True
        )
        self.jobs = SqliteJobQueue(connections, self._writer, clock=clock)
        """A `JobQueue` in the same file."""
        self.usage = SqliteUsageLog(connections, self._writer)
        """A `UsageLog` in the same file."""
        self.keys = SqliteKeyRing(connections, self._writer)
        """A `KeyRing` in the same file."""
        self.requests = SqliteRequestLog(connections, self._writer)
        """A `RequestLog` in the same file."""
        self.webhooks = SqliteWebhookBook(connections, self._writer)
        """A `WebhookBook` in the same file."""
        self.audit = SqliteAuditLog(connections, self._writer)
        """An `AuditLog` in the same file."""
        self.profiles = SqliteProfileStore(connections, self._writer)
        """A `ProfileStore` in the same file."""
        self.identities = SqliteIdentityBook(connections, self._writer)
        """An `IdentityBook` in the same file."""
        self.outbox = Outbox(connections, self._writer)
        """What indexes outside the file have to follow."""
        # Whoever forgets to close a store leaves neither a thread nor an open file behind.
        weakref.finalize(self, _let_go, connections, self._writer)

    @classmethod
    def open(
        cls,
        directory: str | Path,
        *,
        clock: Clock,
        model_id: str | None = None,
        dim: int = 0,
        history_path: str | Path | None = None,
        shard_cache_bytes: int = DEFAULT_SHARD_CACHE_BYTES,
    ) -> SqliteMemoryStore:
        """Opens the store in `directory`, or makes one. Vectors of another model than `model_id` are not searched.

        With `history_path`, the change history lives in a database file there.

        Raises:
            SchemaError: the file belongs to a newer Ebbing or to another program.
            StoreError: the directory cannot be used.
        """
        connections = Connections(Path(directory), history_path=Path(history_path) if history_path else None)
        return cls(connections, model_id=model_id, dim=dim, clock=clock, shard_cache_bytes=shard_cache_bytes)

    def use_model(self, embedder: Embedder | None) -> None:
        self._model_id = embedder.model_id if embedder else None
        for shards in (self._shards, self._pasts):
            shards.use_model(self._model_id, embedder.dim if embedder else 0)

    async def write(self, scope: Scope, changes: Sequence[Change], *, seen: int | None = None) -> list[str]:
        if not changes:
            self._connections.check()
            return []
        arrival = arrival_of(scope, changes) if seen is None else None
        if arrival is not None and await self._writer.arrive(partial(self._append, arrival)):
            return arrival.ids
        now, prepared = self._clock.now(), prepare(scope, changes)
        erases = any(isinstance(change, Erase) for change in changes)
        added, noticed = list[Written](), self.webhooks.noticed
        work = partial(apply, scope=scope, changes=prepared, now=now, seen=seen, noticed=noticed, wrote=added.append)
        ids = await self._writer.run(work, scrub=Scrub.SOON if erases else Scrub.NO)
        self._shards.writes.note(scope.owner, added)
        if erases:
            self._let_go_of(scope.owner)
        return ids

    def _append(self, arrival: Arrival, db: sqlite3.Connection) -> bool:
        has_webhooks = arrival.append(db)
        if has_webhooks is None:
            return False
        self.webhooks.noticed(has_webhooks)
        return True

    async def get(self, scope: Scope, ids: Sequence[str], *, deleted: bool = False) -> list[MemoryRecord]:
        await self._writer.settled()
        if len(ids) <= INLINE_IDS:
            return self._get(scope, ids, deleted=deleted)
        return await _in_a_thread(partial(self._get, scope, ids, deleted=deleted))

    async def from_sources(self, scope: Scope, source_ids: Sequence[str]) -> list[MemoryRecord]:
        await self._writer.settled()
        values = {**_names(scope), "sources": json.dumps(list(source_ids))}
        rows = self._rows(_FROM_SOURCES, values) if source_ids else []
        return [record_of(row, user=scope.user_id, tenant=scope.tenant) for row in rows]

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
        await self._writer.settled()
        if limit < 1:
            raise InvalidInputError("limit must be at least 1")
        created, seq = position(cursor)
        values = {**_names(scope), "deleted": deleted, "kinds": json.dumps(list(kinds)), "limit": limit + 1}
        values["at"] = None if at is None else micros(at)
        return await _in_a_thread(self._page, scope, {**values, "created": created, "seq": seq})

    async def shard(self, scope: Scope, *, deleted: bool = False) -> Shard:
        shards = self._pasts if deleted else self._shards
        found = shards.current(scope.owner)
        if found is not None:
            return found
        await self._writer.settled()
        found = shards.at_once(scope.owner)
        return found if found is not None else await _in_a_thread(shards.load, scope.owner)

    async def history(self, scope: Scope, memory_id: str) -> list[HistoryEntry]:
        await self._writer.settled()
        with self._connections.reading() as db:
            return [_entry_of(row) for row in db.execute(_HISTORY, {**_names(scope), "id": memory_id})]

    async def histories(self, scope: Scope, *, changed_after: datetime) -> list[HistoryEntry]:
        await self._writer.settled()
        values = {**_names(scope), "moment": utc_text(changed_after)}
        return [_entry_of(row) for row in await _in_a_thread(self._rows, _HISTORIES, values)]

    async def telling(self, scope: Scope, ids: Sequence[str]) -> list[MemoryRecord]:
        await self._writer.settled()
        values = {**_names(scope), "ids": json.dumps(list(ids))}
        rows = await _in_a_thread(self._rows, _TELLING, values) if ids else []
        return [record_of(row, user=scope.user_id, tenant=scope.tenant) for row in rows]

    async def mark(self, scope: Scope, name: str) -> int:
        with self._connections.reading() as db:
            return mark_of(db, scope.owner, name=name)

    async def set_mark(self, scope: Scope, name: str, *, value: int) -> None:
        await self._writer.run(lambda db: put_mark(db, scope.owner, name=name, value=value))

    async def outdated(self, scope: Scope, *, limit: int = 100, after: int = 0) -> list[Outdated]:
        await self._writer.settled()
        return await _in_a_thread(partial(self._outdated, scope, limit=limit, after=after))

    async def scope_of(self, tenant: str, memory_id: str) -> Scope | None:
        await self._writer.settled()
        with self._connections.reading() as db:
            row = db.execute(_SCOPE_OF, (memory_id, tenant)).fetchone()
        if row is None:
            return None
        kind, name, agent, run = row
        return Scope(user_id=name if kind == "user" else None, agent_id=agent, run_id=run, tenant=tenant)

    async def taken(self, ids: Sequence[str]) -> set[str]:
        await self._writer.settled()
        return {row[0] for row in await _in_a_thread(self._rows, _TAKEN, (json.dumps(list(ids)),))} if ids else set()

    async def owners(self, tenant: str, *, deleted: bool = False) -> list[Owner]:
        await self._writer.settled()
        return [Owner(*row) for row in await _in_a_thread(self._rows, _OWNERS, (tenant, deleted))]

    async def tenants(self) -> list[str]:
        await self._writer.settled()
        return [row[0] for row in await _in_a_thread(self._rows, "SELECT DISTINCT tenant FROM owner", ())]

    async def erase(self, scope: Scope) -> Receipt:
        receipt = await self._writer.run(lambda db: erase_scope(db, scope), scrub=Scrub.FILE)
        self._let_go_of(scope.owner)
        return receipt

    async def reset(self, tenant: str) -> Receipt:
        receipt = await self._writer.run(lambda db: erase_tenant(db, tenant), scrub=Scrub.FILE)
        self._shards.clear()
        self._pasts.clear()
        return receipt

    async def stats(self, tenant: str) -> StoreStats:
        await self._writer.settled()
        return await _in_a_thread(self._stats, tenant)

    async def verify(self) -> list[str]:
        await self._writer.settled()
        return await _in_a_thread(self._verify)

    async def scrub(self) -> bool:
        await self._writer.run(_nothing, scrub=Scrub.FILE)
        return self._is_scrubbed()

    async def compact(self) -> bool:
        """Nobody can write meanwhile; the disk needs room for a second copy."""
        await self._writer.run(_nothing, scrub=Scrub.LARGE_FILE)
        return self._is_scrubbed()

    async def back_up(self, directory: Path) -> int:
        await self._writer.settled()
        return await _in_a_thread(back_up, self._connections, directory)

    async def aclose(self) -> None:
        if not self._connections.begin_closing():
            return
        await _in_a_thread(self._writer.close)
        self._connections.close()
        self._shards.clear()
        self._pasts.clear()

    def _is_scrubbed(self) -> bool:
        return not self._rows("SELECT 1 FROM unscrubbed LIMIT 1", ())

    def _let_go_of(self, owner: Owner) -> None:
        self._shards.forget(owner)
        self._pasts.forget(owner)

    def _get(self, scope: Scope, ids: Sequence[str], *, deleted: bool) -> list[MemoryRecord]:
        values = {**_names(scope), "ids": json.dumps(list(ids)), "deleted": deleted}
        with self._connections.reading() as db:
            rows = db.execute(_GET, values).fetchall()
        found = {row[0]: record_of(row, user=scope.user_id, tenant=scope.tenant) for row in rows}
        return [found[memory_id] for memory_id in ids if memory_id in found]

    def _page(self, scope: Scope, values: dict[str, Any]) -> Page:
        rows = self._rows(_PAGE, values)
        shown = rows[: values["limit"] - 1]
        records = tuple(record_of(row[1:], user=scope.user_id, tenant=scope.tenant) for row in shown)
        return Page(records, cursor_after(shown[-1][1 + _CREATED], shown[-1][0]) if len(rows) > len(shown) else None)

    def _rows(self, sql: str, values: Sequence[Any] | dict[str, Any]) -> list[Any]:
        with self._connections.reading() as db:
            return db.execute(sql, values).fetchall()

    def _stats(self, tenant: str) -> StoreStats:
        with self._connections.reading() as db:
            counted = counts(db, tenant=tenant, model_id=self._model_id)
        on_disk = sum(file.stat().st_size for file in self._connections.files if file.exists())
        owners = len(self._rows(_OWNERS, (tenant, False)))
        return replace(counted, owners=owners, bytes_on_disk=on_disk, is_scrubbed=self._is_scrubbed())

    def _outdated(self, scope: Scope, *, limit: int, after: int) -> list[Outdated]:
        with self._connections.reading() as db:
            return outdated(db, scope, model_id=self._model_id, limit=limit, after=after)

    def _verify(self) -> list[str]:
        with self._connections.reading() as db:
            return findings(db)


async def _in_a_thread(work: Callable[..., _Result], *args: Any) -> _Result:
    await on_a_loop()
    return await to_thread.run_sync(work, *args)


def _nothing(_: sqlite3.Connection) -> None:
    """Work for the writer that changes nothing, for the sake of what follows it."""


def _names(scope: Scope) -> dict[str, str | None]:
    owner = scope.owner
    return {
        "tenant": owner.tenant,
        "owner_kind": owner.kind,
        "name": owner.name,
        "agent": scope.agent_id,
        "run": scope.run_id,
    }


def _entry_of(row: Sequence[Any]) -> HistoryEntry:
    number, memory_id, old, new, event, created, updated, is_deleted, actor, role, reason = row
    return HistoryEntry(
        id=str(number),
        memory_id=memory_id,
        old_memory=old,
        new_memory=new,
        event=Event(event),
        created_at=datetime.fromisoformat(created),
        updated_at=None if updated is None else datetime.fromisoformat(updated),
        is_deleted=bool(is_deleted),
        actor_id=actor,
        role=role,
        reason=reason,
    )


def _let_go(connections: Connections, writer: GroupCommitWriter) -> None:
    """Closes what a store worked with, unless that was done."""
    if connections.begin_closing() and writer.close():
        connections.close()
