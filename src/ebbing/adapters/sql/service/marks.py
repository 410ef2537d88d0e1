"""How far each step of the upkeep has come with each owner, beside the memories."""

from __future__ import annotations

from typing import Final

from sqlalchemy import and_, bindparam, delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.sql.connection.database import Database
from ebbing.adapters.sql.memories.owner_rows import lock
from ebbing.adapters.sql.tables.conditions import key_of, of_owner
from ebbing.adapters.sql.tables.owner_tables import MARK
from ebbing.domain.memory.scope import Owner

_THIS: Final = and_(of_owner(MARK), MARK.c.name == bindparam("of_name"))
_READ: Final = select(MARK.c.value).where(_THIS)
_DROP: Final = delete(MARK).where(_THIS)


async def mark_of(database: Database, owner: Owner, *, name: str) -> int:
    """The mark, 0 where there is none."""
    row = await database.row(_READ, {**key_of(owner), "of_name": name})
    return 0 if row is None else int(row.value)


async def put_mark(db: AsyncConnection, owner: Owner, *, name: str, value: int) -> None:
    """Set the mark of an owner who has rows; of anybody else there is nothing to remember."""
    row = await lock(db, owner)
    if row is not None:
        await db.execute(_DROP, {**row.key, "of_name": name})
        await db.execute(insert(MARK), {**row.columns, "name": name, "value": value})
