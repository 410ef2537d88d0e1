"""The rows of names and merges, for whoever forgets a person: within the transaction that does."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import and_, bindparam, delete, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.sql.tables.conditions import is_in
from ebbing.adapters.sql.tables.service_tables import IDENTITY, IDENTITY_MERGE, PARKED_EDIT
from ebbing.domain.memory.identity import Merge
from ebbing.index.shard import moment

_OF_TENANT: Final = IDENTITY_MERGE.c.tenant == bindparam("of_tenant")
_ABOUT: Final = and_(
    _OF_TENANT, or_(IDENTITY_MERGE.c.kept == bindparam("of_name"), IDENTITY_MERGE.c.gone == bindparam("of_name"))
)
_NUMBERS: Final = select(IDENTITY_MERGE.c.no).where(_ABOUT)
_DROP_PARKED: Final = delete(PARKED_EDIT).where(
    PARKED_EDIT.c.tenant == bindparam("of_tenant"), is_in(PARKED_EDIT.c.merge, "numbers")
)
_DROP_MERGES: Final = delete(IDENTITY_MERGE).where(_ABOUT)
_DROP_NAMES: Final = delete(IDENTITY).where(
    IDENTITY.c.tenant == bindparam("of_tenant"), IDENTITY.c.unified_id == bindparam("of_name")
)
_DROP_ALL: Final = tuple(
    delete(table).where(table.c.tenant == bindparam("of_tenant")) for table in (PARKED_EDIT, IDENTITY_MERGE, IDENTITY)
)


async def forget_identity(db: AsyncConnection, tenant: str, *, name: str) -> int:
    """Remove the names and merges of a person; how many names."""
    values = {"of_tenant": tenant, "of_name": name}
    numbers = list((await db.execute(_NUMBERS, values)).scalars())
    if numbers:
        await db.execute(_DROP_PARKED, {"of_tenant": tenant, "numbers": numbers})
        await db.execute(_DROP_MERGES, values)
    return (await db.execute(_DROP_NAMES, values)).rowcount


async def forget_identities(db: AsyncConnection, tenant: str) -> int:
    """The same of everybody of a tenant."""
    return [(await db.execute(statement, {"of_tenant": tenant})).rowcount for statement in _DROP_ALL][-1]


def merge_of(row: Any) -> Merge:
    """Return the merge that a row holds."""
    undone = None if row.undone_at is None else moment(row.undone_at)
    return Merge(row.no, row.kept, row.gone, moment(row.at), row.memories, row.episodes, undone)
