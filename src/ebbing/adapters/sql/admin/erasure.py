"""Removes everything that a scope or a tenant has, from every table, inside one transaction."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Delete, Table, and_, bindparam, delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.rows.counts import receipt_of
from ebbing.adapters.sql.memories.changes import note_erasure
from ebbing.adapters.sql.memories.owner_rows import OwnerRow, advance, forget_owner, lock
from ebbing.adapters.sql.people.identity_rows import forget_identities, forget_identity
from ebbing.adapters.sql.people.profile_rows import outdate
from ebbing.adapters.sql.service.job_rows import forget_jobs, forget_jobs_of_tenant
from ebbing.adapters.sql.service.outbox import append_rows, is_followed
from ebbing.adapters.sql.service.request_rows import forget_requests, forget_requests_of_tenant
from ebbing.adapters.sql.tables.conditions import REACH, covered, of_owner
from ebbing.adapters.sql.tables.owner_tables import (
    CHANGE_SET,
    FEEDBACK,
    HISTORY,
    INDEX_ENTRY,
    MARK,
    MEMORY,
    OWNER,
    PROFILE,
    PROFILE_EDIT,
    RETURNED,
    REVISION,
    SOURCE,
)
from ebbing.adapters.sql.tables.service_tables import PROFILE_DEFAULT, TENANT_SETTING
from ebbing.domain.memory.record import Kind
from ebbing.domain.memory.scope import Owner, Scope
from ebbing.ports.stores.memory_store import Receipt

_COVERED: Final = and_(of_owner(MEMORY), covered(MEMORY))
_SEQS: Final = select(MEMORY.c.seq).where(_COVERED)
_IDS: Final = select(MEMORY.c.id).where(_COVERED)


def _by_seq(table: Table) -> Delete:
    return delete(table).where(of_owner(table), table.c.seq.in_(_SEQS))


_STEPS: Final = {
    "history": delete(HISTORY).where(of_owner(HISTORY), HISTORY.c.memory_id.in_(_IDS)),
    "index": _by_seq(INDEX_ENTRY),
    "source": _by_seq(SOURCE),
    "returned": _by_seq(RETURNED),
    "feedback": _by_seq(FEEDBACK),
    "revision": _by_seq(REVISION),
    "edits": delete(PROFILE_EDIT).where(of_owner(PROFILE_EDIT), PROFILE_EDIT.c.memory_id.in_(_IDS)),
    "episodes": delete(MEMORY).where(_COVERED, MEMORY.c.kind == Kind.EPISODE.value),
    "memories": delete(MEMORY).where(_COVERED),
}
_ALL_EDITS: Final = delete(PROFILE_EDIT).where(of_owner(PROFILE_EDIT))
_ANY: Final = select(MEMORY.c.seq).where(of_owner(MEMORY)).limit(1)
_REST: Final = tuple(delete(table).where(of_owner(table)) for table in (MARK, CHANGE_SET, PROFILE))
_OWNERS: Final = (
    select(OWNER.c.tenant, OWNER.c.kind, OWNER.c.name)
    .where(OWNER.c.tenant == bindparam("of_tenant"))
    .order_by(OWNER.c.owner)
    .execution_options(**{REACH: "tenant: everybody of it is erased"})
)
_OF_TENANT: Final = tuple(
    delete(table).where(table.c.tenant == bindparam("of_tenant")) for table in (PROFILE_DEFAULT, TENANT_SETTING)
)


async def erase_scope(db: AsyncConnection, scope: Scope) -> Receipt:
    """Remove what the scope covers, deleted rows too; an owner who has nothing left goes as well."""
    owner = await lock(db, scope.owner)
    await note_erasure(db)
    await forget_requests(db, scope)
    is_whole = scope == Scope.of(scope.owner) and scope.owner.kind == "user"
    names = await forget_identity(db, scope.tenant, name=scope.owner.name) if is_whole else 0
    receipt = Receipt() if owner is None else await _erase(db, owner, scope=scope)
    return receipt.plus(Receipt(jobs=await forget_jobs(db, scope), identities=names))


async def erase_tenant(db: AsyncConnection, tenant: str) -> Receipt:
    """Remove every owner of a tenant."""
    values = {"of_tenant": tenant}
    await note_erasure(db)
    total = Receipt()
    for row in (await db.execute(_OWNERS, values)).all():
        owner = await lock(db, Owner(*row))
        total = total if owner is None else total.plus(await _erase(db, owner, scope=Scope.of(owner.owner)))
    await forget_requests_of_tenant(db, tenant)
    for statement in _OF_TENANT:
        await db.execute(statement, values)
    jobs, names = await forget_jobs_of_tenant(db, tenant), await forget_identities(db, tenant)
    return total.plus(Receipt(jobs=jobs, identities=names))


async def _erase(db: AsyncConnection, owner: OwnerRow, *, scope: Scope) -> Receipt:
    values: dict[str, Any] = {**owner.key, "agent": None, "run": None}
    if scope != Scope.of(owner.owner):
        values |= {"agent": scope.agent_id, "run": scope.run_id}
    if await is_followed(db):
        await append_rows(db, owner, op="erase", rows=_COVERED, values=values)
    removed = {name: (await db.execute(statement, values)).rowcount for name, statement in _STEPS.items()}
    is_all = scope.agent_id is None and scope.run_id is None
    if is_all:
        removed["edits"] += (await db.execute(_ALL_EDITS, owner.key)).rowcount
    await outdate(db, owner)
    if (await db.execute(_ANY, owner.key)).first() is None:
        removed["edits"] += (await db.execute(_ALL_EDITS, owner.key)).rowcount
        for statement in _REST:
            await db.execute(statement, owner.key)
        await forget_owner(db, owner)
    else:
        await advance(db, owner, erased=True)
    return receipt_of(removed)
