"""What has to be put right where rows of one owner were another's for a while."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import and_, bindparam, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.sql.memories.owner_rows import OwnerRow
from ebbing.adapters.sql.people.profile_rows import outdate
from ebbing.adapters.sql.service.outbox import append_rows, is_followed
from ebbing.adapters.sql.tables.conditions import is_in, of_owner
from ebbing.adapters.sql.tables.owner_tables import HISTORY, MEMORY, PROFILE_EDIT
from ebbing.adapters.sql.tables.service_tables import PARKED_EDIT
from ebbing.domain.memory.record import Kind
from ebbing.index.shard import micros

PARTED: Final = "the merge of two persons was undone"
_IDS: Final = select(MEMORY.c.id).where(of_owner(MEMORY), is_in(MEMORY.c.id, "ids"))
_TELLERS: Final = select(MEMORY.c.id, MEMORY.c.compression_sources).where(
    of_owner(MEMORY), MEMORY.c.compression_sources.is_not(None)
)
_CLOSED: Final = select(MEMORY.c.id, MEMORY.c.superseded_by, MEMORY.c.retired_at).where(
    of_owner(MEMORY), MEMORY.c.superseded_by.is_not(None)
)
_THIS: Final = (of_owner(MEMORY), MEMORY.c.id == bindparam("of_id"))
_RECORD: Final = select(
    *(MEMORY.c[name] for name in ("id", "kind", "content", "created_at", "deleted_at", "actor", "role"))
).where(*_THIS)
_EDITS: Final = select(PROFILE_EDIT).where(of_owner(PROFILE_EDIT))
_DROP_EDITS: Final = delete(PROFILE_EDIT).where(of_owner(PROFILE_EDIT), is_in(PROFILE_EDIT.c.slot_key, "slots"))
_PARKED: Final = select(PARKED_EDIT).where(
    PARKED_EDIT.c.tenant == bindparam("of_tenant"), PARKED_EDIT.c.merge == bindparam("of_merge")
)
_DROP_PARKED: Final = delete(PARKED_EDIT).where(
    PARKED_EDIT.c.tenant == bindparam("of_tenant"), PARKED_EDIT.c.merge == bindparam("of_merge")
)
_EDIT: Final = ("slot_key", "slot", "section", "key", "at", "memory_id", "brought_by")


async def part(db: AsyncConnection, staying: OwnerRow, *, back: OwnerRow, at: datetime) -> None:
    """Undo what rows of two owners did to each other: a closed one holds again, and what told of both is deleted."""
    both = ((staying, back), (back, staying))
    tellers: set[str] = set()
    closed: list[tuple[OwnerRow, Any]] = []
    for owner, other in both:
        tellers |= await _tellers_of(db, owner, other=other)
    for owner, other in both:
        rows = await _closed_by(db, owner, other=other, tellers=tellers)
        closed += [(owner, row) for row in rows]
    for owner, row in closed:
        ends = {} if row.retired_at is not None else {"valid_to": None}
        await _change(db, owner, memory_id=row.id, values={"superseded_by": None, "retired_at": None, **ends})
        await _tell(db, owner, memory_id=row.id, event="UPDATE", at=at)
    for owner, _ in both:
        for memory_id in (await db.execute(_IDS, {**owner.key, "ids": sorted(tellers)})).scalars().all():
            await _change(db, owner, memory_id=memory_id, values={"deleted_at": micros(at), "delete_reason": PARTED})
            await _tell(db, owner, memory_id=memory_id, event="DELETE", at=at)


async def park_edits(db: AsyncConnection, leaving: OwnerRow, *, to: OwnerRow, merge: int) -> None:
    """Give the edits of a profile to another owner; where that one has an edit of the same slot, it waits."""
    edits = [_values(row) for row in await db.execute(_EDITS, leaving.key)]
    present = {row.slot_key for row in await db.execute(_EDITS, to.key)}
    going: list[dict[str, Any]] = []
    waiting: list[dict[str, Any]] = []
    for edit in edits:
        if edit["slot_key"] in present:
            waiting.append({"tenant": to.owner.tenant, "merge": merge, **edit})
        else:
            brought_by = f"{edit['brought_by'] or ''}/{merge}"
            going.append({**to.columns, **edit, "brought_by": brought_by})
    await _drop(db, leaving, edits=edits)
    await _add(db, PROFILE_EDIT, rows=going)
    await _add(db, PARKED_EDIT, rows=waiting)
    await outdate(db, to)


async def unpark_edits(db: AsyncConnection, staying: OwnerRow, *, to: OwnerRow, merge: int) -> None:
    """Give back the edits that a merge brought, and those that waited."""
    place = {"of_tenant": to.owner.tenant, "of_merge": merge}
    suffix = f"/{merge}"
    waiting = [_values(row) for row in await db.execute(_PARKED, place)]
    brought = [_values(row) for row in await db.execute(_EDITS, staying.key)]
    brought = [edit for edit in brought if (edit["brought_by"] or "").endswith(suffix)]
    await db.execute(_DROP_PARKED, place)
    await _drop(db, staying, edits=brought)
    present = {row.slot_key for row in await db.execute(_EDITS, to.key)}
    rows: dict[str, dict[str, Any]] = {}
    for edit in brought:
        brought_by = edit["brought_by"].removesuffix(suffix) or None
        rows[edit["slot_key"]] = {**to.columns, **edit, "brought_by": brought_by}
    for edit in waiting:
        rows[edit["slot_key"]] = {**to.columns, **edit}
    for slot in present:
        rows.pop(slot, None)
    await _add(db, PROFILE_EDIT, rows=list(rows.values()))
    await outdate(db, staying)
    await outdate(db, to)


async def _tellers_of(db: AsyncConnection, owner: OwnerRow, *, other: OwnerRow) -> set[str]:
    """Ids of the owner's records that tell of one of the other's."""
    made_of = {row.id: json.loads(row.compression_sources) for row in await db.execute(_TELLERS, owner.key)}
    strange = await _present(db, other, ids={source for sources in made_of.values() for source in sources})
    return {memory_id for memory_id, sources in made_of.items() if not strange.isdisjoint(sources)}


async def _closed_by(db: AsyncConnection, owner: OwnerRow, *, other: OwnerRow, tellers: set[str]) -> list[Any]:
    """The owner's records that one of the other's closed, or one that told of both."""
    closed = (await db.execute(_CLOSED, owner.key)).all()
    strange = await _present(db, other, ids={row.superseded_by for row in closed}) | tellers
    return [row for row in closed if row.superseded_by in strange]


async def _present(db: AsyncConnection, owner: OwnerRow, *, ids: Iterable[str]) -> set[str]:
    names = sorted(ids)
    return set((await db.execute(_IDS, {**owner.key, "ids": names})).scalars()) if names else set()


async def _change(db: AsyncConnection, owner: OwnerRow, *, memory_id: str, values: dict[str, Any]) -> None:
    statement = update(MEMORY).where(*_THIS).values(version=MEMORY.c.version + 1, changed=owner.generation, **values)
    await db.execute(statement, {**owner.key, "of_id": memory_id})
    if await is_followed(db):
        await append_rows(db, owner, op="put", rows=and_(*_THIS), values={**owner.key, "of_id": memory_id})


async def _tell(db: AsyncConnection, owner: OwnerRow, *, memory_id: str, event: str, at: datetime) -> None:
    row = (await db.execute(_RECORD, {**owner.key, "of_id": memory_id})).one()
    if row.kind != Kind.MEMORY:
        return
    values = {
        "memory_id": row.id,
        "old_memory": row.content,
        "new_memory": None if event == "DELETE" else row.content,
        "event": event,
        "created_at": row.created_at,
        "updated_at": micros(at),
        "is_deleted": int(row.deleted_at is not None),
        "actor_id": row.actor,
        "role": row.role,
        "reason": PARTED,
    }
    await db.execute(insert(HISTORY), {**owner.columns, **values})


async def _drop(db: AsyncConnection, owner: OwnerRow, *, edits: Sequence[dict[str, Any]]) -> None:
    if edits:
        await db.execute(_DROP_EDITS, {**owner.key, "slots": [edit["slot_key"] for edit in edits]})


async def _add(db: AsyncConnection, table: Any, *, rows: Sequence[dict[str, Any]]) -> None:
    if rows:
        await db.execute(insert(table), list(rows))


def _values(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in _EDIT}
