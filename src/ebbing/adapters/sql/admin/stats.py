"""What a tenant has, counted, and which rows of an owner are to be indexed anew."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any, Final

from sqlalchemy import BigInteger, and_, bindparam, case, exists, func, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.rows.counts import stats_of
from ebbing.adapters.rows.record_columns import RECORD_COLUMNS
from ebbing.adapters.sql.connection.database import Database
from ebbing.adapters.sql.connection.dialects import bytes_on_disk
from ebbing.adapters.sql.memories.row_values import record_from
from ebbing.adapters.sql.tables.conditions import REACH, key_of, of_owner, optional, same_row
from ebbing.adapters.sql.tables.owner_tables import INDEX_ENTRY, MEMORY, OWNER
from ebbing.adapters.sql.tables.service_tables import EMBEDDING_MODEL, ERASED
from ebbing.domain.memory.record import Kind
from ebbing.domain.memory.scope import Owner, Scope
from ebbing.index.shard import vector_of
from ebbing.language.text.analyzer import ANALYZER_VERSION
from ebbing.ports.stores.memory_store import Outdated, Share, ShareFilter, StoreStats

_MODEL: Final = bindparam("model", type_=EMBEDDING_MODEL.c.name.type)
_WITH_ENTRIES: Final = MEMORY.outerjoin(INDEX_ENTRY, same_row(MEMORY, INDEX_ENTRY)).outerjoin(
    EMBEDDING_MODEL, EMBEDDING_MODEL.c.no == INDEX_ENTRY.c.model
)
# A row that faded from its vector on purpose, or has no text, needs none.
_IS_BARE: Final = and_(
    _MODEL.is_not(None),
    MEMORY.c.stage.is_(None),
    MEMORY.c.retired_at.is_(None),
    MEMORY.c.is_blank == 0,
    or_(INDEX_ENTRY.c.vector.is_(None), EMBEDDING_MODEL.c.name.is_(None), EMBEDDING_MODEL.c.name != _MODEL),
)
_IS_DELETED: Final = case((MEMORY.c.deleted_at.is_(None), 0), else_=1)
_GROUPS: Final = (MEMORY.c.kind, MEMORY.c.layer, MEMORY.c.type, _IS_DELETED, EMBEDDING_MODEL.c.name)
_COUNTS: Final = (
    select(*_GROUPS, func.count(), func.sum(case((_IS_BARE, 1), else_=0)))
    .select_from(_WITH_ENTRIES)
    .where(MEMORY.c.tenant == bindparam("of_tenant"))
    .group_by(*_GROUPS)
    .execution_options(**{REACH: "tenant: its rows are counted"})
)
_OWNERS: Final = (
    select(OWNER.c.tenant, OWNER.c.kind, OWNER.c.name)
    .where(OWNER.c.tenant == bindparam("of_tenant"))
    .order_by(OWNER.c.no)
    .execution_options(**{REACH: "tenant: its owners are listed"})
)
_HIS: Final = and_(MEMORY.c.tenant == OWNER.c.tenant, MEMORY.c.owner == OWNER.c.owner)
_WITH_ROWS: Final = _OWNERS.where(exists(select(MEMORY.c.seq).where(_HIS)))
_WITH_LIVING: Final = _OWNERS.where(exists(select(MEMORY.c.seq).where(_HIS, MEMORY.c.deleted_at.is_(None))))
_IS_TOLD: Final = case((and_(MEMORY.c.kind == Kind.MEMORY.value, MEMORY.c.retired_at.is_(None)), 1), else_=0)
_PARTS: Final = (OWNER.c.tenant, OWNER.c.kind, OWNER.c.name, MEMORY.c.agent_id, MEMORY.c.run_id, MEMORY.c.app_id)
_SHARES: Final = (
    select(*_PARTS, func.sum(_IS_TOLD))
    .select_from(OWNER.join(MEMORY, _HIS))
    .where(
        OWNER.c.tenant == bindparam("of_tenant"),
        MEMORY.c.deleted_at.is_(None),
        *(optional(MEMORY.c[f"{part}_id"], part) for part in ("agent", "run", "app")),
    )
    .group_by(*_PARTS, OWNER.c.no)
    .order_by(OWNER.c.no)
    .execution_options(**{REACH: "tenant: its shares are listed"})
)
_TENANTS: Final = select(OWNER.c.tenant).distinct().execution_options(**{REACH: "service: the tenants are listed"})
_OUTDATED: Final = (
    select(
        MEMORY.c.seq,
        INDEX_ENTRY.c.flags,
        EMBEDDING_MODEL.c.name,
        INDEX_ENTRY.c.vector,
        *(MEMORY.c[name] for name in RECORD_COLUMNS),
    )
    .select_from(_WITH_ENTRIES)
    .where(
        of_owner(MEMORY),
        MEMORY.c.seq > bindparam("after", type_=BigInteger),
        MEMORY.c.deleted_at.is_(None),
        MEMORY.c.retired_at.is_(None),
        or_(INDEX_ENTRY.c.length.is_(None), INDEX_ENTRY.c.analyzer != ANALYZER_VERSION, _IS_BARE),
    )
    .order_by(MEMORY.c.seq)
    .limit(bindparam("most"))
)


async def counts(database: Database, tenant: str, *, model_id: str | None) -> StoreStats:
    """How many rows there are of what."""

    async def work(db: AsyncConnection) -> tuple[list[Any], int, int, bool]:
        counted = (await db.execute(_COUNTS, {"of_tenant": tenant, "model": model_id})).all()
        living = len((await db.execute(_WITH_LIVING, {"of_tenant": tenant})).all())
        size = (await db.execute(bytes_on_disk(db))).scalar_one()
        return list(counted), living, int(size), (await db.execute(ERASED.select())).first() is None

    counted, living, size, is_scrubbed = await database.read(work)
    return stats_of(counted, owners=living, bytes_on_disk=size, is_scrubbed=is_scrubbed)


async def owners_of(database: Database, tenant: str, *, deleted: bool) -> list[Owner]:
    """See `MemoryStore.owners`."""
    statement = _WITH_ROWS if deleted else _WITH_LIVING
    return [Owner(*row) for row in await database.rows(statement, {"of_tenant": tenant})]


async def shares_of(database: Database, tenant: str, *, share_filter: ShareFilter) -> list[Share]:
    """See `MemoryStore.shares`."""
    values = dict(zip(("agent", "run", "app"), astuple(share_filter), strict=True))
    rows = await database.rows(_SHARES, {"of_tenant": tenant, **values})
    return [Share(Owner(*row[:3]), row[3], row[4], row[5], int(row[6])) for row in rows]


async def tenant_names(database: Database) -> list[str]:
    """See `MemoryStore.tenants`."""
    return [row.tenant for row in await database.rows(_TENANTS)]


async def outdated_rows(
    database: Database, scope: Scope, *, model_id: str | None, limit: int, after: int
) -> list[Outdated]:
    """See `MemoryStore.outdated`."""
    values = {**key_of(scope.owner), "model": model_id, "after": after, "most": limit}
    return [
        Outdated(seq, record_from(row, scope), flags, vector_of(vector) if model == model_id else None)
        for seq, flags, model, vector, *row in await database.rows(_OUTDATED, values)
    ]
