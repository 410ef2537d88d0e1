"""The embedded memory store: one SQLite file in a directory is the truth, with everything in it."""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable, Sequence
from dataclasses import astuple, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from sqlite3 import Connection
from typing import Any, Final, TypeVar

from anyio import to_thread

from ebbing.adapters.rows.recent_shards import ShardedStore
from ebbing.adapters.rows.record_columns import RECORD_COLUMNS, record_of
from ebbing.adapters.sqlite.admin.backup import back_up
from ebbing.adapters.sqlite.admin.erasure import erase_scope, erase_tenant
from ebbing.adapters.sqlite.admin.store_stats import OWNERS, SHARES, counts, outdated, shares
from ebbing.adapters.sqlite.admin.verify import findings
from ebbing.adapters.sqlite.connection.connections import Connections
from ebbing.adapters.sqlite.connection.scrubbing import Scrub
from ebbing.adapters.sqlite.connection.writer import GroupCommitWriter
from ebbing.adapters.sqlite.memories.change_log import SqliteChangeLog
from ebbing.adapters.sqlite.memories.changes import apply, prepare
from ebbing.adapters.sqlite.memories.models import vector_length
from ebbing.adapters.sqlite.memories.outbox import SqliteOutbox
from ebbing.adapters.sqlite.memories.rows import COVERED, OF_OWNER, scope_values
from ebbing.adapters.sqlite.memories.shards import ShardCache
from ebbing.adapters.sqlite.memories.staged_writes import take_in_staged_writes
from ebbing.adapters.sqlite.tables.audit import SqliteAuditLog
from ebbing.adapters.sqlite.tables.history import histories, history
from ebbing.adapters.sqlite.tables.identities import SqliteIdentityBook
from ebbing.adapters.sqlite.tables.jobs import SqliteJobQueue
from ebbing.adapters.sqlite.tables.keys import SqliteKeyRing
from ebbing.adapters.sqlite.tables.profiles import SqliteProfileStore
from ebbing.adapters.sqlite.tables.requests import SqliteRequestLog
from ebbing.adapters.sqlite.tables.step_progress import mark_of, put_mark
from ebbing.adapters.sqlite.tables.usage import SqliteUsageLog
from ebbing.adapters.sqlite.tables.webhooks import SqliteWebhookBook
from ebbing.adapters.system.separate_queue import erase_with_jobs
from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.history import HistoryEntry
from ebbing.domain.memory.record import Kind, MemoryRecord
from ebbing.domain.memory.scope import Owner, Scope
from ebbing.index.cursor import cursor_after, position
from ebbing.index.shard import Shard, micros
from ebbing.ports.clock import Clock
from ebbing.ports.job_queue import JobQueue, SeparateJobQueue
from ebbing.ports.stores.memory_store import (
    ANY_SHARE,
    Change,
    Erase,
    Outdated,
    Page,
    Receipt,
    Share,
    ShareFilter,
    StoreStats,
)

_Result = TypeVar("_Result")

DEFAULT_SHARD_CACHE_BYTES: Final = 512 * 1024 * 1024
INLINE_IDS: Final = 100
"""Up to this many records are read without a change of thread."""

_CREATED: Final = RECORD_COLUMNS.index("created_at")
_COLUMNS: Final = ", ".join(f"memory.{name}" for name in RECORD_COLUMNS)
_GET: Final = (
    f"SELECT {_COLUMNS} FROM memory WHERE id IN (SELECT value FROM json_each(:ids)) AND +{OF_OWNER}"  # noqa: S608
    f" AND {COVERED} AND (:deleted OR deleted_at IS NULL)"
)
_FROM_SOURCES: Final = (
    f"SELECT {_COLUMNS} FROM memory WHERE mid IN (SELECT mid FROM source WHERE source_id IN"  # noqa: S608
    " (SELECT value FROM json_each(:sources)) AND kind IN ('memory', 'episode') AND owner_no ="
    " (SELECT no FROM owner WHERE tenant = :tenant AND kind = :owner_kind AND name = :name))"
    f" AND {COVERED} AND deleted_at IS NULL ORDER BY mid"
)
_PAGE: Final = (
    f"SELECT mid & 16777215, {_COLUMNS} FROM memory WHERE {OF_OWNER}"  # noqa: S608
    " AND created_at <= :created AND (created_at < :created OR mid & 16777215 < :seq)"
    f" AND kind IN (SELECT value FROM json_each(:kinds)) AND {COVERED}"
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
_SCOPE_OF: Final = (
    "SELECT owner.kind, owner.name, agent_id, run_id FROM memory JOIN owner ON owner.no = mid >> 24"
    " WHERE memory.id = ? AND tenant = ?"
)
_TAKEN: Final = "SELECT id FROM memory WHERE id IN (SELECT value FROM json_each(?))"


class SqliteMemoryStore(ShardedStore[ShardCache]):
    """A `MemoryStore` in `directory/ebbing.db`. Any number of threads, event loops and processes may use it at once."""

    def __init__(
        self, connections: Connections, *, model_id: str | None, dim: int, clock: Clock, shard_cache_bytes: int
    ) -> None:
        self._connections, self._clock, self._model_id = connections, clock, model_id
        self._writer = GroupCommitWriter(connections)
        self._shards = ShardCache(connections, model_id=model_id, dim=dim, max_bytes=shard_cache_bytes)
        self._pasts = ShardCache(
            connections, model_id=model_id, dim=dim, max_bytes=shard_cache_bytes // 4, with_deleted=True
        )
        self.jobs: JobQueue = SqliteJobQueue(connections, self._writer, clock=clock)
        """A `JobQueue` in the same file, unless a separate one is used."""
        self._separate_jobs: SeparateJobQueue | None = None
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
        self.change_log = SqliteChangeLog(connections, self._writer)
        """A `ChangeLog` in the same file."""
        self.outbox = SqliteOutbox(connections, self._writer) if connections.files else None
        """An `Outbox` in the same file; None for a store in RAM, which no index may outlive."""
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
        with connections.turn:
            take_in_staged_writes(connections.writer)
        return cls(connections, model_id=model_id, dim=dim, clock=clock, shard_cache_bytes=shard_cache_bytes)

    @classmethod
    def in_memory(cls, *, clock: Clock, model_id: str | None = None, dim: int = 0) -> SqliteMemoryStore:
        """Makes a store in RAM that is gone when it is closed: for tests, for trying things out, for secrets."""
        connections = Connections(None)
        return cls(connections, model_id=model_id, dim=dim, clock=clock, shard_cache_bytes=DEFAULT_SHARD_CACHE_BYTES)

    def use_queue(self, queue: SeparateJobQueue) -> None:
        self.jobs, self._separate_jobs = queue, queue
        self.identities.use_queue(queue)

    async def vector_length(self, model_id: str) -> int | None:
        with self._connections.reading() as db:
            return vector_length(db, model_id)

    async def write(self, scope: Scope, changes: Sequence[Change], *, seen: int | None = None) -> list[str]:
        if not changes:
            self._connections.check()
            return []
        now, prepared = self._clock.now(), prepare(scope, changes)
        erases = any(isinstance(change, Erase) for change in changes)
        work = partial(apply, scope=scope, changes=prepared, now=now, seen=seen, change=self._change)
        applied = await self._writer.run(work, scrub=Scrub.SOON if erases else Scrub.NO)
        self._note_write(scope.owner, applied.change_id, erases=erases)
        return applied.ids

    async def get(self, scope: Scope, ids: Sequence[str], *, deleted: bool = False) -> list[MemoryRecord]:
        if len(ids) <= INLINE_IDS:
            return self._get(scope, ids, deleted=deleted)
        return await _in_a_thread(partial(self._get, scope, ids, deleted=deleted))

    async def from_sources(self, scope: Scope, source_ids: Sequence[str]) -> list[MemoryRecord]:
        values = {**scope_values(scope), "sources": json.dumps(list(source_ids))}
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
        if limit < 1:
            raise InvalidInputError("limit must be at least 1")
        created, seq = position(cursor)
        values = {**scope_values(scope), "deleted": deleted, "kinds": json.dumps(list(kinds)), "limit": limit + 1}
        values["at"] = None if at is None else micros(at)
        return await _in_a_thread(self._page, scope, {**values, "created": created, "seq": seq})

    async def shard(self, scope: Scope, *, deleted: bool = False) -> Shard:
        shards = self._pasts if deleted else self._shards
        loaded = shards.current(scope.owner)
        return loaded if loaded is not None else await _in_a_thread(shards.load, scope.owner)

    async def history(self, scope: Scope, memory_id: str) -> list[HistoryEntry]:
        with self._connections.reading() as db:
            return history(db, scope, memory_id=memory_id)

    async def histories(self, scope: Scope, *, changed_after: datetime) -> list[HistoryEntry]:
        return await _in_a_thread(partial(self._histories, scope, changed_after=changed_after))

    async def telling(self, scope: Scope, ids: Sequence[str]) -> list[MemoryRecord]:
        values = {**scope_values(scope), "ids": json.dumps(list(ids))}
        rows = await _in_a_thread(self._rows, _TELLING, values) if ids else []
        return [record_of(row, user=scope.user_id, tenant=scope.tenant) for row in rows]

    async def mark(self, scope: Scope, name: str) -> int:
        with self._connections.reading() as db:
            return mark_of(db, scope.owner, name=name)

    async def set_mark(self, scope: Scope, name: str, *, value: int) -> None:
        await self._writer.run(lambda db: put_mark(db, scope.owner, name=name, value=value))

    async def outdated(self, scope: Scope, *, limit: int = 100, after: int = 0) -> list[Outdated]:
        return await _in_a_thread(partial(self._outdated, scope, limit=limit, after=after))

    async def scope_of(self, tenant: str, memory_id: str) -> Scope | None:
        with self._connections.reading() as db:
            row = db.execute(_SCOPE_OF, (memory_id, tenant)).fetchone()
        if row is None:
            return None
        kind, name, agent, run = row
        return Scope(user_id=name if kind == "user" else None, agent_id=agent, run_id=run, tenant=tenant)

    async def taken(self, ids: Sequence[str]) -> set[str]:
        return {row[0] for row in await _in_a_thread(self._rows, _TAKEN, (json.dumps(list(ids)),))} if ids else set()

    async def owners(self, tenant: str, *, deleted: bool = False) -> list[Owner]:
        return [Owner(*row) for row in await _in_a_thread(self._rows, OWNERS, (tenant, deleted))]

    async def shares(self, tenant: str, *, share_filter: ShareFilter = ANY_SHARE) -> list[Share]:
        return shares(await _in_a_thread(self._rows, SHARES, (tenant, *astuple(share_filter))))

    async def tenants(self) -> list[str]:
        return [row[0] for row in await _in_a_thread(self._rows, "SELECT DISTINCT tenant FROM owner", ())]

    async def erase(self, scope: Scope) -> Receipt:
        work = partial(self._writer.run, lambda db: erase_scope(db, scope), scrub=Scrub.FILE)
        receipt = await erase_with_jobs(self._separate_jobs, work, forget=lambda queue: queue.forget(scope))
        self._let_go_of(scope.owner)
        return receipt

    async def reset(self, tenant: str) -> Receipt:
        work = partial(self._writer.run, lambda db: erase_tenant(db, tenant), scrub=Scrub.FILE)
        receipt = await erase_with_jobs(self._separate_jobs, work, forget=lambda queue: queue.forget_tenant(tenant))
        self._let_go_of_all()
        return receipt

    async def stats(self, tenant: str) -> StoreStats:
        return await _in_a_thread(self._stats, tenant)

    async def verify(self) -> list[str]:
        return await _in_a_thread(self._verify)

    async def scrub(self) -> bool:
        await self._writer.run(_nothing, scrub=Scrub.FILE)
        return self._is_scrubbed()

    async def compact(self) -> bool:
        """Nobody can write meanwhile; the disk needs room for a second copy."""
        await self._writer.run(_nothing, scrub=Scrub.LARGE_FILE)
        return self._is_scrubbed()

    async def back_up(self, directory: Path) -> int:
        if not self._connections.files:
            raise InvalidInputError("an ephemeral store keeps nothing on disk: there is nothing to back up")
        return await _in_a_thread(back_up, self._connections, directory)

    async def aclose(self) -> None:
        if not self._connections.begin_closing():
            return
        await _in_a_thread(self._writer.close)
        self._connections.close()
        if self._separate_jobs is not None:
            await self._separate_jobs.aclose()
        self._let_go_of_all()

    def _is_scrubbed(self) -> bool:
        return not self._rows("SELECT 1 FROM unscrubbed LIMIT 1", ())

    def _get(self, scope: Scope, ids: Sequence[str], *, deleted: bool) -> list[MemoryRecord]:
        values = {**scope_values(scope), "ids": json.dumps(list(ids)), "deleted": deleted}
        with self._connections.reading() as db:
            rows = db.execute(_GET, values).fetchall()
        records = {row[0]: record_of(row, user=scope.user_id, tenant=scope.tenant) for row in rows}
        return [records[memory_id] for memory_id in ids if memory_id in records]

    def _page(self, scope: Scope, values: dict[str, Any]) -> Page:
        rows = self._rows(_PAGE, values)
        shown = rows[: values["limit"] - 1]
        records = tuple(record_of(row[1:], user=scope.user_id, tenant=scope.tenant) for row in shown)
        return Page(records, cursor_after(shown[-1][1 + _CREATED], shown[-1][0]) if len(rows) > len(shown) else None)

    def _rows(self, sql: str, values: Sequence[Any] | dict[str, Any]) -> list[Any]:
        with self._connections.reading() as db:
            return db.execute(sql, values).fetchall()

    def _histories(self, scope: Scope, *, changed_after: datetime) -> list[HistoryEntry]:
        with self._connections.reading() as db:
            return histories(db, scope, changed_after=changed_after)

    def _stats(self, tenant: str) -> StoreStats:
        with self._connections.reading() as db:
            counted = counts(db, tenant=tenant, model_id=self._model_id)
        on_disk = sum(file.stat().st_size for file in self._connections.files if file.exists())
        owners = len(self._rows(OWNERS, (tenant, False)))
        return replace(counted, owners=owners, bytes_on_disk=on_disk, is_scrubbed=self._is_scrubbed())

    def _outdated(self, scope: Scope, *, limit: int, after: int) -> list[Outdated]:
        with self._connections.reading() as db:
            return outdated(db, scope, model_id=self._model_id, limit=limit, after=after)

    def _verify(self) -> list[str]:
        with self._connections.reading() as db:
            return findings(db)


async def _in_a_thread(work: Callable[..., _Result], *args: Any) -> _Result:
    return await to_thread.run_sync(work, *args)


def _nothing(_: Connection) -> None:
    """Work for the writer that changes nothing, for the sake of what follows it."""


def _let_go(connections: Connections, writer: GroupCommitWriter) -> None:
    """Closes what a store worked with, unless that was done."""
    if connections.begin_closing() and writer.close():
        connections.close()
