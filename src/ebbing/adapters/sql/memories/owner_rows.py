"""The row of an owner: whoever changes something of theirs locks it, so that an owner's writers take turns."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import bindparam, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.sql.tables.conditions import key_of, of_owner
from ebbing.adapters.sql.tables.owner_tables import OWNER
from ebbing.adapters.sql.tables.service_tables import IDENTITY_MERGE
from ebbing.domain.memory.identity import MERGE_GRACE
from ebbing.domain.memory.scope import Owner
from ebbing.index.shard import micros

MAX_SEQ: Final = (1 << 31) - 1
"""Rows that one owner can ever have, erased ones included."""

_COLUMNS: Final = (OWNER.c.no, OWNER.c.generation, OWNER.c.last_seq, OWNER.c.last_change)
_LOCK: Final = select(*_COLUMNS).where(of_owner(OWNER)).with_for_update()
_MAKE: Final = insert(OWNER)
_HEIR: Final = (
    select(IDENTITY_MERGE.c.kept)
    .where(
        IDENTITY_MERGE.c.tenant == bindparam("of_tenant"),
        IDENTITY_MERGE.c.gone == bindparam("gone"),
        IDENTITY_MERGE.c.undone_at.is_(None),
        IDENTITY_MERGE.c.at > bindparam("since"),
    )
    .order_by(IDENTITY_MERGE.c.no.desc())
    .limit(1)
)
_FORGET: Final = delete(OWNER).where(of_owner(OWNER))
_COUNTERS: Final = ("generation", "erased_generation", "last_seq", "last_change")


@dataclass(slots=True)
class OwnerRow:
    """An owner as the store knows them, locked until the transaction ends."""

    owner: Owner
    key: dict[str, Any]
    """Tenant and owner, as the conditions of statements name them."""
    no: int
    """Given to nobody twice: another number under the same name means that all was erased in between."""
    generation: int
    last_seq: int
    last_change: int

    @property
    def columns(self) -> dict[str, Any]:
        """Tenant and owner, as new rows name them."""
        return {"tenant": self.owner.tenant, "owner": self.key["of_owner"]}


async def lock(db: AsyncConnection, owner: Owner) -> OwnerRow | None:
    """Return the owner's row once nobody else changes anything of theirs; None where there is none."""
    key = key_of(owner)
    row = (await db.execute(_LOCK, key)).first()
    if row is None:
        return None
    return OwnerRow(owner, key, row.no, row.generation, row.last_seq, row.last_change)


async def lock_or_make(db: AsyncConnection, owner: Owner) -> OwnerRow:
    """Return the owner's row, made where there is none."""
    row = await lock(db, owner)
    if row is None:
        key = {"tenant": owner.tenant, "owner": owner.digest, "kind": owner.kind, "name": owner.name}
        await db.execute(_MAKE, {**key, **dict.fromkeys(_COUNTERS, 0)})
        row = await lock(db, owner)
    assert row is not None
    return row


async def heir_of(db: AsyncConnection, owner: Owner, *, now: datetime) -> Owner | None:
    """Whose the memories are that somebody still writes under a name that was merged away a short time ago."""
    if owner.kind != "user":
        return None
    values = {"of_tenant": owner.tenant, "gone": owner.name, "since": micros(now - MERGE_GRACE)}
    heir = (await db.execute(_HEIR, values)).scalar()
    return None if heir is None else owner._replace(name=heir)


async def advance(db: AsyncConnection, row: OwnerRow, *, erased: bool) -> None:
    """Raise the owner's generation, which tells every cached shard of every process that it is behind."""
    row.generation += 1
    values = {"generation": row.generation, "last_seq": row.last_seq, "last_change": row.last_change}
    if erased:
        values["erased_generation"] = row.generation
    await db.execute(update(OWNER).where(of_owner(OWNER)).values(**values), row.key)


async def note_change(db: AsyncConnection, row: OwnerRow) -> None:
    """Keep the number of the last change set, of a change that no shard has to know."""
    await db.execute(update(OWNER).where(of_owner(OWNER)).values(last_change=row.last_change), row.key)


async def forget_owner(db: AsyncConnection, row: OwnerRow) -> None:
    """Remove the row of an owner who has nothing left."""
    await db.execute(_FORGET, row.key)
