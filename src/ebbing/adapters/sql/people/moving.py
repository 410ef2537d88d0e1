"""Rows of one owner become another's: every table that names an owner or a row, inside one transaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import BigInteger, ColumnElement, Insert, Table, and_, bindparam, case, delete, func, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.sql.memories.owner_rows import OwnerRow, advance
from ebbing.adapters.sql.service.outbox import append_rows, is_followed
from ebbing.adapters.sql.tables.columns import DIGEST, NAME
from ebbing.adapters.sql.tables.conditions import of_owner
from ebbing.adapters.sql.tables.owner_tables import FEEDBACK, HISTORY, INDEX_ENTRY, MEMORY, RETURNED, REVISION, SOURCE
from ebbing.domain.memory.record import Kind

_OFFSET: Final = bindparam("offset", type_=BigInteger)


def _between(table: Table) -> ColumnElement[bool]:
    first, last = bindparam("first", type_=BigInteger), bindparam("last", type_=BigInteger)
    return and_(of_owner(table), table.c.seq.between(first, last))


def _copying(table: Table, rows: ColumnElement[bool]) -> Insert:
    """The statement that writes rows once more, as the other owner's: where the table is spread, they go elsewhere."""
    others: dict[str, ColumnElement[Any]] = {
        "tenant": bindparam("new_tenant", type_=NAME),
        "owner": bindparam("new_owner", type_=DIGEST),
    }
    if "seq" in table.c:
        others["seq"] = table.c.seq + _OFFSET
    if "changed" in table.c:
        others["changed"] = _CHANGED
    columns = [others.get(column.name, column) for column in table.c]
    return insert(table).from_select([column.name for column in table.c], select(*columns).where(rows))


# A row that was changed since it was stored must not seem to have been changed later than its new owner.
_CHANGED: Final = case((MEMORY.c.changed.is_(None), None), else_=bindparam("generation", type_=BigInteger))
_HISTORY: Final = and_(of_owner(HISTORY), HISTORY.c.memory_id.in_(select(MEMORY.c.id).where(_between(MEMORY))))
_ROWS: Final = {table: _between(table) for table in (INDEX_ENTRY, RETURNED, FEEDBACK, SOURCE)}
_MOVE: Final = [
    statement
    for table, rows in {HISTORY: _HISTORY, **_ROWS, MEMORY: _between(MEMORY)}.items()
    for statement in (_copying(table, rows), delete(table).where(rows))
]
# What they were before belongs to change sets of the former owner, who cannot undo anything of them any more.
_DROP_STATES: Final = delete(REVISION).where(_between(REVISION))
_HERE_NOW: Final = _between(MEMORY)
_COUNTS: Final = select(MEMORY.c.kind, func.count()).where(of_owner(MEMORY)).group_by(MEMORY.c.kind)


@dataclass(frozen=True, slots=True)
class Range:
    """Rows of an owner by their seq, both ends included."""

    first: int
    last: int


async def move(db: AsyncConnection, rows: Range, *, of: OwnerRow, to: OwnerRow) -> Range:
    """Put rows behind the last one of another owner, who thereby has a new generation; where they are now."""
    moved = Range(to.last_seq + 1, to.last_seq + 1 + rows.last - rows.first)
    values = {
        **of.key,
        "new_tenant": to.owner.tenant,
        "new_owner": to.key["of_owner"],
        "first": rows.first,
        "last": rows.last,
        "offset": moved.first - rows.first,
        "generation": to.generation + 1,
    }
    for statement in (_DROP_STATES, *_MOVE):
        await db.execute(statement, values)
    if await is_followed(db):
        here = {**to.key, "first": moved.first, "last": moved.last}
        await append_rows(db, of, op="erase", rows=_HERE_NOW, values=here, shift=rows.first - moved.first)
        await append_rows(db, to, op="put", rows=_HERE_NOW, values=here)
    to.last_seq = max(to.last_seq, moved.last)
    await advance(db, to, erased=False)
    return moved


async def count_rows(db: AsyncConnection, owner: OwnerRow) -> tuple[int, int]:
    """How many memories and episodes an owner has, deleted ones too."""
    counts = {kind: count for kind, count in await db.execute(_COUNTS, owner.key)}  # noqa: C416
    return counts.get(Kind.MEMORY, 0), sum(count for kind, count in counts.items() if kind != Kind.MEMORY)
