"""Makes two persons one, and parts them again: all of it in one transaction."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Delete, Table, and_, bindparam, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.sql.memories.owner_rows import MAX_SEQ, OwnerRow, advance, forget_owner, lock, lock_or_make
from ebbing.adapters.sql.people.identity_rows import merge_of
from ebbing.adapters.sql.people.moving import Range, count_rows, move
from ebbing.adapters.sql.people.parting import park_edits, part, unpark_edits
from ebbing.adapters.sql.service.job_rows import hand_over_jobs
from ebbing.adapters.sql.tables.conditions import of_owner
from ebbing.adapters.sql.tables.owner_tables import CHANGE_SET, MARK, PROFILE
from ebbing.adapters.sql.tables.service_tables import IDENTITY, IDENTITY_MERGE, REQUEST
from ebbing.domain.errors import IdentityNotFoundError, InvalidInputError
from ebbing.domain.memory.identity import Merge
from ebbing.domain.memory.scope import Owner
from ebbing.index.shard import micros

_OF_TENANT: Final = IDENTITY_MERGE.c.tenant == bindparam("of_tenant")
_NAMES: Final = select(IDENTITY.c.channel, IDENTITY.c.channel_user_id, IDENTITY.c.is_primary).where(
    IDENTITY.c.tenant == bindparam("of_tenant"), IDENTITY.c.unified_id == bindparam("of_gone")
)
_HAND_OVER_NAMES: Final = (
    update(IDENTITY)
    .where(IDENTITY.c.tenant == bindparam("of_tenant"), IDENTITY.c.unified_id == bindparam("of_gone"))
    .values(unified_id=bindparam("new_kept"), is_primary=0)
)
_GIVE_BACK_NAME: Final = (
    update(IDENTITY)
    .where(
        IDENTITY.c.tenant == bindparam("of_tenant"),
        IDENTITY.c.channel == bindparam("of_channel"),
        IDENTITY.c.channel_user_id == bindparam("of_name"),
        IDENTITY.c.unified_id == bindparam("of_kept"),
    )
    .values(unified_id=bindparam("new_gone"), is_primary=bindparam("new_primary"))
)
_REQUESTS: Final = (
    update(REQUEST)
    .where(
        REQUEST.c.tenant == bindparam("of_tenant"),
        REQUEST.c.owner_kind == "user",
        REQUEST.c.owner_name == bindparam("of_gone"),
    )
    .values(owner_name=bindparam("new_kept"))
)
_NUMBER: Final = (
    select(IDENTITY_MERGE.c.no)
    .where(_OF_TENANT, IDENTITY_MERGE.c.kept == bindparam("of_kept"), IDENTITY_MERGE.c.gone == bindparam("of_gone"))
    .order_by(IDENTITY_MERGE.c.no.desc())
    .limit(1)
)
_THIS: Final = and_(_OF_TENANT, IDENTITY_MERGE.c.no == bindparam("of_no"))
_LOCK: Final = select(IDENTITY_MERGE).where(_THIS).with_for_update()
_MOVED: Final = ("first_seq", "last_seq", "memories", "episodes")
_NOTE: Final = update(IDENTITY_MERGE).where(_THIS).values({name: bindparam(f"new_{name}") for name in _MOVED})
_UNDONE: Final = update(IDENTITY_MERGE).where(_THIS).values(undone_at=bindparam("new_undone_at"))
_STANDS: Final = IDENTITY_MERGE.c.undone_at.is_(None)
_LATER: Final = select(IDENTITY_MERGE.c.no).where(
    _OF_TENANT, IDENTITY_MERGE.c.gone == bindparam("of_kept"), IDENTITY_MERGE.c.no > bindparam("of_no"), _STANDS
)
_SHIFT: Final = (
    update(IDENTITY_MERGE)
    .where(_OF_TENANT, IDENTITY_MERGE.c.kept == bindparam("of_gone"), IDENTITY_MERGE.c.no < bindparam("of_no"), _STANDS)
    .values(
        first_seq=IDENTITY_MERGE.c.first_seq + bindparam("shift"),
        last_seq=IDENTITY_MERGE.c.last_seq + bindparam("shift"),
    )
)
_NOT_THERE: Final = "there is no merge with this id: `identities.list_merges` shows the merges"


def _all_of(table: Table) -> Delete:
    return delete(table).where(of_owner(table))


_LEFT_BEHIND: Final = tuple(map(_all_of, (PROFILE, MARK, CHANGE_SET)))


async def merge_persons(db: AsyncConnection, tenant: str, *, target: str, gone: str, at: datetime) -> Merge:
    """See `IdentityBook.merge`."""
    if target == gone:
        raise InvalidInputError("a person cannot be merged with themselves: name two")
    staying, leaving = await _locked(db, tenant, target=target, gone=gone)
    values: dict[str, Any] = {"of_tenant": tenant, "of_kept": target, "of_gone": gone, "new_kept": target}
    names = [tuple(row) for row in await db.execute(_NAMES, values)]
    if leaving is None and not names:
        raise IdentityNotFoundError("nobody of this name has a memory or comes from a channel")
    number = await _numbered(db, values, names=names, at=at)
    counts, rows = (0, 0), Range(1, 0)
    if leaving is not None:
        counts = await count_rows(db, leaving)
        staying = staying or await lock_or_make(db, Owner(tenant, "user", target))
        rows = await _moved(db, leaving, staying=staying, number=number)
    await hand_over_jobs(db, tenant, target=target, gone=gone)
    for statement in (_REQUESTS, _HAND_OVER_NAMES):
        await db.execute(statement, values)
    moved = {f"new_{name}": value for name, value in zip(_MOVED, (rows.first, rows.last, *counts), strict=True)}
    await db.execute(_NOTE, {"of_tenant": tenant, "of_no": number, **moved})
    return Merge(number, target, gone, at, *counts)


async def undo_merge(db: AsyncConnection, tenant: str, *, number: int, at: datetime) -> Merge:
    """See `IdentityBook.undo`."""
    row = (await db.execute(_LOCK, {"of_tenant": tenant, "of_no": number})).first()
    if row is None:
        raise IdentityNotFoundError(_NOT_THERE)
    if row.undone_at is not None:
        raise InvalidInputError("this merge was undone already")
    values = {"of_tenant": tenant, "of_kept": row.kept, "of_gone": row.gone, "of_no": number}
    if (await db.execute(_LATER, values)).first() is not None:
        raise InvalidInputError("the person who was kept was merged into somebody else since: undo that merge first")
    staying, back = await _locked(db, tenant, target=row.kept, gone=row.gone)
    if staying is not None and row.last_seq >= row.first_seq:
        back = back or await lock_or_make(db, Owner(tenant, "user", row.gone))
        rows = await move(db, Range(row.first_seq, row.last_seq), of=staying, to=back)
        await advance(db, staying, erased=True)
        # Rows that earlier merges had brought stand further behind now, if the one who is back had new ones.
        await db.execute(_SHIFT, {**values, "shift": rows.first - 1})
        await unpark_edits(db, staying, to=back, merge=number)
        await part(db, staying, back=back, at=at)
    for channel, name, primary in json.loads(row.names):
        place = {**values, "of_channel": channel, "of_name": name}
        await db.execute(_GIVE_BACK_NAME, {**place, "new_gone": row.gone, "new_primary": primary})
    await db.execute(_UNDONE, {**values, "new_undone_at": micros(at)})
    merge = merge_of(row)
    return Merge(merge.id, merge.target, merge.gone, merge.at, merge.memories, merge.episodes, at)


async def _locked(
    db: AsyncConnection, tenant: str, *, target: str, gone: str
) -> tuple[OwnerRow | None, OwnerRow | None]:
    """Both owners' rows; locked in one order, so that two who merge never wait for each other."""
    rows = {name: await lock(db, Owner(tenant, "user", name)) for name in sorted((target, gone))}
    return rows[target], rows[gone]


async def _numbered(db: AsyncConnection, values: dict[str, Any], *, names: list[Any], at: datetime) -> int:
    """Write down that there is a merge; its number."""
    row = {"tenant": values["of_tenant"], "kept": values["of_kept"], "gone": values["of_gone"], "at": micros(at)}
    row |= {"first_seq": 1, "last_seq": 0, "memories": 0, "episodes": 0, "names": json.dumps(names)}
    await db.execute(insert(IDENTITY_MERGE), row)
    return int((await db.execute(_NUMBER, values)).scalar_one())


async def _moved(db: AsyncConnection, leaving: OwnerRow, *, staying: OwnerRow, number: int) -> Range:
    """Move everything that belongs to an owner to another, and remove the owner; where the rows are now."""
    if staying.last_seq + leaving.last_seq > MAX_SEQ:
        raise InvalidInputError(f"together they have more than {MAX_SEQ} rows, which is more than one owner can")
    rows = await move(db, Range(1, leaving.last_seq), of=leaving, to=staying)
    await park_edits(db, leaving, to=staying, merge=number)
    for statement in _LEFT_BEHIND:
        await db.execute(statement, leaving.key)
    await forget_owner(db, leaving)
    return rows
