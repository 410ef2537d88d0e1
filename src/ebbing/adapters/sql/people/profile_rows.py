"""The rows of profiles, for whoever changes what they are made from: within the transaction that does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import bindparam, delete, update
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.sql.memories.owner_rows import OwnerRow
from ebbing.adapters.sql.tables.conditions import chunks, is_in, of_owner
from ebbing.adapters.sql.tables.owner_tables import PROFILE, PROFILE_EDIT
from ebbing.adapters.sql.tables.service_tables import PARKED_EDIT

_OUTDATE: Final = (
    update(PROFILE).where(of_owner(PROFILE)).values(revision=PROFILE.c.revision + 1, generation=-1, entries=None)
)
_FORGET: Final = delete(PROFILE_EDIT).where(of_owner(PROFILE_EDIT), is_in(PROFILE_EDIT.c.memory_id, "ids"))
_FORGET_PARKED: Final = delete(PARKED_EDIT).where(
    PARKED_EDIT.c.tenant == bindparam("of_tenant"), is_in(PARKED_EDIT.c.memory_id, "ids")
)


async def forget_memories(db: AsyncConnection, owner: OwnerRow, *, ids: Sequence[str]) -> None:
    """Take out what a profile says, and edits that name these memories, since they are gone for good."""
    for some in chunks(ids):
        await db.execute(_FORGET, {**owner.key, "ids": some})
        await db.execute(_FORGET_PARKED, {"of_tenant": owner.owner.tenant, "ids": some})
    await outdate(db, owner)


async def outdate(db: AsyncConnection, owner: OwnerRow) -> None:
    """Let a profile hold no longer; whoever works one out now does so for nothing."""
    await db.execute(_OUTDATE, owner.key)
