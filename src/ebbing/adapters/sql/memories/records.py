"""Reads records of one owner."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import BigInteger, bindparam, or_, select

from ebbing.adapters.rows.record_columns import RECORD_COLUMNS
from ebbing.adapters.sql.connection.database import Database
from ebbing.adapters.sql.memories.known_rows import TAKEN
from ebbing.adapters.sql.memories.row_values import record_from, source_digest
from ebbing.adapters.sql.tables.conditions import (
    REACH,
    chunks,
    covered,
    is_in,
    key_of,
    names_of,
    of_owner,
)
from ebbing.adapters.sql.tables.owner_tables import MEMORY, OWNER, SOURCE
from ebbing.domain.memory.record import Kind, MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.cursor import cursor_after, position
from ebbing.index.shard import micros
from ebbing.ports.stores.memory_store import Page

COLUMNS: Final = tuple(MEMORY.c[name] for name in RECORD_COLUMNS)
_CREATED: Final = RECORD_COLUMNS.index("created_at")
_NOT_DELETED: Final = MEMORY.c.deleted_at.is_(None)
_GET: Final = select(*COLUMNS).where(of_owner(MEMORY), is_in(MEMORY.c.id, "ids"), covered(MEMORY))
_FROM_SOURCES: Final = (
    select(*COLUMNS)
    .where(
        of_owner(MEMORY),
        MEMORY.c.seq.in_(
            select(SOURCE.c.seq).where(of_owner(SOURCE), is_in(SOURCE.c.digest, "digests")),
        ),
        covered(MEMORY),
        _NOT_DELETED,
    )
    .order_by(MEMORY.c.seq)
)
_AT: Final = bindparam("at", type_=BigInteger)
_BEFORE: Final = bindparam("created", type_=BigInteger)
_PAGE: Final = (
    select(MEMORY.c.seq, *COLUMNS)
    .where(
        of_owner(MEMORY),
        MEMORY.c.created_at <= _BEFORE,
        or_(MEMORY.c.created_at < _BEFORE, MEMORY.c.seq < bindparam("seq", type_=BigInteger)),
        is_in(MEMORY.c.kind, "kinds"),
        covered(MEMORY),
    )
    .order_by(MEMORY.c.created_at.desc(), MEMORY.c.seq.desc())
    .limit(bindparam("most", type_=BigInteger))
)
_PAGE_ACTIVE: Final = _PAGE.where(_NOT_DELETED, MEMORY.c.retired_at.is_(None))
_HOLDS: Final = (
    or_(MEMORY.c.valid_to.is_(None), MEMORY.c.valid_to > _AT),
    or_(MEMORY.c.expires_at.is_(None), MEMORY.c.expires_at > _AT),
)
_TELLERS: Final = select(MEMORY.c.seq, MEMORY.c.compression_sources).where(
    of_owner(MEMORY), MEMORY.c.compression_sources.is_not(None)
)
_BY_SEQ: Final = select(*COLUMNS).where(of_owner(MEMORY), is_in(MEMORY.c.seq, "seqs")).order_by(MEMORY.c.seq)
_SCOPE_OF: Final = (
    select(OWNER.c.kind, OWNER.c.name, MEMORY.c.agent_id, MEMORY.c.run_id)
    .join(OWNER, (OWNER.c.tenant == MEMORY.c.tenant) & (OWNER.c.owner == MEMORY.c.owner))
    .where(MEMORY.c.id == bindparam("of_id"), MEMORY.c.tenant == bindparam("of_tenant"))
    .execution_options(**{REACH: "tenant: it is asked whose a memory is"})
)


async def records(database: Database, scope: Scope, *, ids: Sequence[str], deleted: bool) -> list[MemoryRecord]:
    """See `MemoryStore.get`."""
    statement = _GET if deleted else _GET.where(_NOT_DELETED)
    by_id: dict[str, MemoryRecord] = {}
    for some in chunks(list(dict.fromkeys(ids))):
        for row in await database.rows(statement, {**names_of(scope), "ids": some}):
            by_id[row[0]] = record_from(row, scope)
    return [by_id[memory_id] for memory_id in ids if memory_id in by_id]


async def records_from_sources(database: Database, scope: Scope, *, source_ids: Sequence[str]) -> list[MemoryRecord]:
    """See `MemoryStore.from_sources`."""
    if not source_ids:
        return []
    values = {**names_of(scope), "digests": [source_digest(source) for source in source_ids]}
    return [record_from(row, scope) for row in await database.rows(_FROM_SOURCES, values)]


async def page_of_records(
    database: Database,
    scope: Scope,
    *,
    kinds: Sequence[Kind],
    limit: int,
    cursor: str | None,
    deleted: bool,
    at: datetime | None,
) -> Page:
    """See `MemoryStore.page`."""
    created, seq = position(cursor)
    statement = _PAGE if deleted else _PAGE_ACTIVE
    values: dict[str, Any] = {"created": created, "seq": seq, "kinds": list(kinds), "most": limit + 1}
    if at is not None:
        statement, values["at"] = statement.where(*_HOLDS), micros(at)
    rows = await database.rows(statement, {**names_of(scope), **values})
    shown = rows[:limit]
    following = cursor_after(shown[-1][1 + _CREATED], shown[-1][0]) if len(rows) > limit else None
    return Page(tuple(record_from(row[1:], scope) for row in shown), following)


async def records_telling(database: Database, scope: Scope, *, ids: Sequence[str]) -> list[MemoryRecord]:
    """See `MemoryStore.telling`."""
    sources, key = set(ids), key_of(scope.owner)
    if not sources:
        return []
    tellers = await database.rows(_TELLERS, key)
    seqs = [seq for seq, made_of in tellers if not sources.isdisjoint(json.loads(made_of))]
    telling: list[MemoryRecord] = []
    for some in chunks(seqs):
        telling += [record_from(row, scope) for row in await database.rows(_BY_SEQ, {**key, "seqs": some})]
    return telling


async def scope_of_record(database: Database, tenant: str, *, memory_id: str) -> Scope | None:
    """See `MemoryStore.scope_of`."""
    row = await database.row(_SCOPE_OF, {"of_id": memory_id, "of_tenant": tenant})
    if row is None:
        return None
    kind, name, agent, run = row
    return Scope(user_id=name if kind == "user" else None, agent_id=agent, run_id=run, tenant=tenant)


async def ids_taken(database: Database, ids: Sequence[str]) -> set[str]:
    """See `MemoryStore.taken`."""
    taken: set[str] = set()
    for some in chunks(list(ids)):
        taken.update(row[0] for row in await database.rows(TAKEN, {"ids": some}))
    return taken
