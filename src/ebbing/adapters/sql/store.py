"""The memory store on a database server: PostgreSQL, MariaDB or MySQL holds the truth for any number of processes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

from sqlalchemy import URL, delete
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.rows.recent_shards import ShardedStore
from ebbing.adapters.sql.admin.erasure import erase_scope, erase_tenant
from ebbing.adapters.sql.admin.stats import counts, outdated_rows, owners_of, shares_of, tenant_names
from ebbing.adapters.sql.admin.verify import findings
from ebbing.adapters.sql.connection.addresses import address_of
from ebbing.adapters.sql.connection.database import DEFAULT_CONNECTIONS, DEFAULT_SECONDS, Database
from ebbing.adapters.sql.connection.dialects import rewriting
from ebbing.adapters.sql.connection.schema import open_schema
from ebbing.adapters.sql.memories.change_log import SqlChangeLog
from ebbing.adapters.sql.memories.changes import apply, prepare
from ebbing.adapters.sql.memories.history import histories, history
from ebbing.adapters.sql.memories.models import vector_length
from ebbing.adapters.sql.memories.records import (
    ids_taken,
    page_of_records,
    records,
    records_from_sources,
    records_telling,
    scope_of_record,
)
from ebbing.adapters.sql.memories.shards import ShardCache
from ebbing.adapters.sql.people.identities import SqlIdentityBook
from ebbing.adapters.sql.people.profiles import SqlProfileStore
from ebbing.adapters.sql.service.audit import SqlAuditLog
from ebbing.adapters.sql.service.jobs import SqlJobQueue
from ebbing.adapters.sql.service.keys import SqlKeyRing
from ebbing.adapters.sql.service.marks import mark_of, put_mark
from ebbing.adapters.sql.service.outbox import SqlOutbox
from ebbing.adapters.sql.service.requests import SqlRequestLog
from ebbing.adapters.sql.service.usage import SqlUsageLog
from ebbing.adapters.sql.service.webhooks import SqlWebhookBook
from ebbing.adapters.sql.sessions.working_memory import SqlWorkingMemory
from ebbing.adapters.sql.tables.owner_tables import METADATA
from ebbing.adapters.sql.tables.service_tables import ERASED
from ebbing.adapters.system.separate_queue import erase_with_jobs
from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.domain.memory.history import HistoryEntry
from ebbing.domain.memory.record import Kind, MemoryRecord
from ebbing.domain.memory.scope import Owner, Scope
from ebbing.index.shard import Shard
from ebbing.ports.clock import Clock
from ebbing.ports.ids import Ids
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

DEFAULT_SHARD_CACHE_BYTES: Final = 512 * 1024 * 1024


class SqlMemoryStore(ShardedStore[ShardCache]):
    """A `MemoryStore` in a database of a server. Any number of event loops, processes and machines may use it."""

    def __init__(self, database: Database, *, clock: Clock, shard_cache_bytes: int) -> None:
        self._database, self._clock = database, clock
        self._model_id = None
        self._shards = ShardCache(database, max_bytes=shard_cache_bytes)
        self._pasts = ShardCache(database, max_bytes=shard_cache_bytes // 4, with_deleted=True)
        self.jobs: JobQueue = SqlJobQueue(database, clock=clock)
        """A `JobQueue` in the same database, unless a separate one is used."""
        self._separate_jobs: SeparateJobQueue | None = None
        self.usage = SqlUsageLog(database)
        """A `UsageLog` in the same database."""
        self.keys = SqlKeyRing(database)
        """A `KeyRing` in the same database."""
        self.requests = SqlRequestLog(database)
        """A `RequestLog` in the same database."""
        self.webhooks = SqlWebhookBook(database)
        """A `WebhookBook` in the same database."""
        self.audit = SqlAuditLog(database)
        """An `AuditLog` in the same database."""
        self.profiles = SqlProfileStore(database)
        """A `ProfileStore` in the same database."""
        self.identities = SqlIdentityBook(database)
        """An `IdentityBook` in the same database."""
        self.change_log = SqlChangeLog(database)
        """A `ChangeLog` in the same database."""
        self.outbox = SqlOutbox(database)
        """An `Outbox` in the same database."""

    @classmethod
    def open(
        cls,
        address: str | URL,
        *,
        clock: Clock,
        connections: int = DEFAULT_CONNECTIONS,
        seconds: float = DEFAULT_SECONDS,
        row_security: bool = False,
        shard_cache_bytes: int = DEFAULT_SHARD_CACHE_BYTES,
    ) -> SqlMemoryStore:
        """Open the store at an address; in an empty database its tables are made.

        Args:
            seconds: how long the server may take for one statement, and to open the store.
            row_security: whether the tables have policies for their rows, as a second wall between owners.

        Raises:
            ConfigurationError: the address is not usable.
            MissingExtraError: the driver is not installed.
            SchemaError: the tables are of another layout: run `ebbing migrate`, or install the newer Ebbing.
            StoreError: the server cannot be reached, or refuses.
        """
        url = address_of(address) if isinstance(address, str) else address
        open_schema(url, seconds=seconds, row_security=row_security)
        database = Database(url, connections=connections, seconds=seconds, row_security=row_security)
        return cls(database, clock=clock, shard_cache_bytes=shard_cache_bytes)

    def use_queue(self, queue: SeparateJobQueue) -> None:
        self.jobs, self._separate_jobs = queue, queue
        self.identities.use_queue(queue)

    async def vector_length(self, model_id: str) -> int | None:
        return await self._database.read(lambda db: vector_length(db, model_id))

    async def write(self, scope: Scope, changes: Sequence[Change], *, seen: int | None = None) -> list[str]:
        self._database.check()
        if not changes:
            return []
        now, prepared = self._clock.now(), prepare(scope, changes)
        change = self._change or ChangeSet(Cause.WRITE)
        applied = await self._database.write(
            lambda db: apply(db, scope, changes=prepared, now=now, seen=seen, change=change)
        )
        erases = any(isinstance(item, Erase) for item in changes)
        self._note_write(scope.owner, applied.change_id, erases=erases)
        return applied.ids

    async def get(self, scope: Scope, ids: Sequence[str], *, deleted: bool = False) -> list[MemoryRecord]:
        return await records(self._database, scope, ids=ids, deleted=deleted)

    async def from_sources(self, scope: Scope, source_ids: Sequence[str]) -> list[MemoryRecord]:
        return await records_from_sources(self._database, scope, source_ids=source_ids)

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
        return await page_of_records(
            self._database, scope, kinds=kinds, limit=limit, cursor=cursor, deleted=deleted, at=at
        )

    async def shard(self, scope: Scope, *, deleted: bool = False) -> Shard:
        return await (self._pasts if deleted else self._shards).current(scope.owner)

    async def history(self, scope: Scope, memory_id: str) -> list[HistoryEntry]:
        return await history(self._database, scope, memory_id=memory_id)

    async def histories(self, scope: Scope, *, changed_after: datetime) -> list[HistoryEntry]:
        return await histories(self._database, scope, changed_after=changed_after)

    async def telling(self, scope: Scope, ids: Sequence[str]) -> list[MemoryRecord]:
        return await records_telling(self._database, scope, ids=ids)

    async def mark(self, scope: Scope, name: str) -> int:
        return await mark_of(self._database, scope.owner, name=name)

    async def set_mark(self, scope: Scope, name: str, *, value: int) -> None:
        await self._database.write(lambda db: put_mark(db, scope.owner, name=name, value=value))

    async def outdated(self, scope: Scope, *, limit: int = 100, after: int = 0) -> list[Outdated]:
        return await outdated_rows(self._database, scope, model_id=self._model_id, limit=limit, after=after)

    async def scope_of(self, tenant: str, memory_id: str) -> Scope | None:
        return await scope_of_record(self._database, tenant, memory_id=memory_id)

    async def taken(self, ids: Sequence[str]) -> set[str]:
        return await ids_taken(self._database, ids)

    async def owners(self, tenant: str, *, deleted: bool = False) -> list[Owner]:
        return await owners_of(self._database, tenant, deleted=deleted)

    async def shares(self, tenant: str, *, share_filter: ShareFilter = ANY_SHARE) -> list[Share]:
        return await shares_of(self._database, tenant, share_filter=share_filter)

    async def tenants(self) -> list[str]:
        return await tenant_names(self._database)

    async def erase(self, scope: Scope) -> Receipt:
        work = partial(self._database.write, lambda db: erase_scope(db, scope), is_long=True)
        receipt = await erase_with_jobs(self._separate_jobs, work, forget=lambda queue: queue.forget(scope))
        self._let_go_of(scope.owner)
        return receipt

    async def reset(self, tenant: str) -> Receipt:
        work = partial(self._database.write, lambda db: erase_tenant(db, tenant), is_long=True)
        receipt = await erase_with_jobs(self._separate_jobs, work, forget=lambda queue: queue.forget_tenant(tenant))
        self._let_go_of_all()
        return receipt

    async def stats(self, tenant: str) -> StoreStats:
        return await counts(self._database, tenant, model_id=self._model_id)

    async def verify(self) -> list[str]:
        return await self._database.read(findings, is_long=True)

    async def scrub(self) -> bool:
        """The rows are gone; what their place in the server's files still holds goes with `compact`, or as the server
        uses the place again."""
        return not await self._database.rows(ERASED.select())

    async def compact(self) -> bool:
        """Each table is locked while it is written anew; the disk needs room for a second copy of the largest."""

        async def rewrite(db: AsyncConnection) -> None:
            for table in METADATA.sorted_tables:
                await db.execute(rewriting(db, table))

        async def forget(db: AsyncConnection) -> None:
            await db.execute(delete(ERASED))

        await self._database.write(forget)  # first: what is erased meanwhile is noted anew
        await self._database.outside_transactions(rewrite)
        return await self.scrub()

    def working_memory(self, ids: Ids, *, most_tokens: int) -> SqlWorkingMemory:
        """Return a working memory in the same database, which is open as long as the store."""
        return SqlWorkingMemory(self._database, self._clock, ids=ids, most_tokens=most_tokens)

    async def back_up(self, directory: Path) -> int:  # noqa: ARG002
        raise InvalidInputError(
            "a store on a database server is backed up with the server's own tools: pg_dump for PostgreSQL,"
            " mariadb-dump or mysqldump for MariaDB and MySQL"
        )

    async def aclose(self) -> None:
        await self._database.aclose()
        if self._separate_jobs is not None:
            await self._separate_jobs.aclose()
        self._let_go_of_all()
