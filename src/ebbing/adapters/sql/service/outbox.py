"""What an index outside the store has to follow: rows written in the same transaction as the change itself.

A `put` says "read this row again", an `erase` says "forget it". See `ebbing.ports.stores.outbox.Outbox`.

Writers of different owners run at the same time, and a number that the server hands out first may be committed last.
So a change gets its place in the order of all changes not from whoever writes it, but from whoever reads next: the
reader locks the last place, and gives the following ones to the changes that it sees, which are committed. A change
that is committed later gets a later place, and no cursor is beyond it. Writers wait for nobody. Changes of one owner
are noted while the owner's row is locked, so that their order among each other is that of their numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, and_, bindparam, delete, func, insert, literal, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.sql.connection.database import Database
from ebbing.adapters.sql.memories.owner_rows import OwnerRow
from ebbing.adapters.sql.tables.columns import WHOLE
from ebbing.adapters.sql.tables.conditions import MOST_VALUES, REACH, key_of, of_owner
from ebbing.adapters.sql.tables.owner_tables import MEMORY, OUTBOX, OWNER
from ebbing.adapters.sql.tables.service_tables import OUTBOX_FOLLOWER, OUTBOX_STATE
from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.scope import Owner
from ebbing.ports.stores.outbox import Followed, Standing

_UNKNOWN: Final = "no follower of this name is registered: register it first"
_IN_ORDER: Final = {REACH: "service: changes are followed in order"}
_COLUMNS: Final = ("tenant", "owner", "owner_no", "seq", "memory_id", "op")
_FOLLOWERS: Final = "followers"
"""Under this name stands how many followers there are; a writer shares the lock of it until the transaction ends."""
_LAST_PLACE: Final = "last_place"

_STATE: Final = select(OUTBOX_STATE.c.value).where(OUTBOX_STATE.c.name == bindparam("of_name"))
_SHARE_STATE: Final = _STATE.with_for_update(read=True)
_LOCK_STATE: Final = _STATE.with_for_update()
_SET_STATE: Final = (
    update(OUTBOX_STATE).where(OUTBOX_STATE.c.name == bindparam("of_name")).values(value=bindparam("new_value"))
)
_NAMES: Final = select(OUTBOX_FOLLOWER.c.name).order_by(OUTBOX_FOLLOWER.c.name)
_IS_FOLLOWER: Final = OUTBOX_FOLLOWER.c.name == bindparam("follower")
_CURSOR: Final = select(OUTBOX_FOLLOWER.c.place).where(_IS_FOLLOWER)
_LOCK_CURSOR: Final = _CURSOR.with_for_update()
_SET_CURSOR: Final = update(OUTBOX_FOLLOWER).where(_IS_FOLLOWER).values(place=bindparam("new_place"))
_UNREGISTER: Final = delete(OUTBOX_FOLLOWER).where(_IS_FOLLOWER)
_FIRST_CURSOR: Final = select(func.count(), func.min(OUTBOX_FOLLOWER.c.place)).select_from(OUTBOX_FOLLOWER)

_WITHOUT_PLACE: Final = (
    select(OUTBOX.c.tenant, OUTBOX.c.owner, OUTBOX.c.no)
    .where(OUTBOX.c.place.is_(None))
    .order_by(OUTBOX.c.no)
    .limit(bindparam("most", type_=WHOLE))
    .execution_options(**_IN_ORDER)
)
_GIVE_PLACE: Final = (
    update(OUTBOX).where(of_owner(OUTBOX), OUTBOX.c.no == bindparam("of_no")).values(place=bindparam("new_place"))
)
_READ: Final = (
    select(OUTBOX, OWNER.c.kind, OWNER.c.name)
    .outerjoin(
        OWNER,
        and_(OWNER.c.tenant == OUTBOX.c.tenant, OWNER.c.owner == OUTBOX.c.owner, OWNER.c.no == OUTBOX.c.owner_no),
    )
    .where(OUTBOX.c.place > bindparam("after", type_=WHOLE))
    .order_by(OUTBOX.c.place)
    .limit(bindparam("most", type_=WHOLE))
    .execution_options(**_IN_ORDER)
)
_TRIM: Final = delete(OUTBOX).where(OUTBOX.c.place <= bindparam("upto", type_=WHOLE)).execution_options(**_IN_ORDER)
_TRIM_ALL: Final = delete(OUTBOX).execution_options(**_IN_ORDER)
_STANDING: Final = select(OWNER.c.no, OUTBOX_FOLLOWER.c.place).join_from(OWNER, OUTBOX_FOLLOWER, _IS_FOLLOWER)
_STANDING_OF_OWNER: Final = _STANDING.where(of_owner(OWNER))
_BEHIND: Final = (
    select(OUTBOX.c.seq)
    .distinct()
    .where(
        of_owner(OUTBOX),
        OUTBOX.c.owner_no == bindparam("of_no"),
        or_(OUTBOX.c.place.is_(None), OUTBOX.c.place > bindparam("after", type_=WHOLE)),
    )
    .limit(bindparam("most", type_=WHOLE))
)


class Note(NamedTuple):
    """A change of one row that followers have to know."""

    seq: int
    memory_id: str
    op: str


class SqlOutbox:
    """An `Outbox` in the same database; an owner's partition is their number in it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def register(self, name: str) -> int:
        async def work(db: AsyncConnection) -> int:
            await _lock_state(db, _FOLLOWERS)  # waits for whoever writes and notes nothing
            place = (await db.execute(_CURSOR, {"follower": name})).scalar()
            if place is not None:
                return int(place)
            last = await _give_places(db, most=None)
            await db.execute(insert(OUTBOX_FOLLOWER), {"name": name, "place": last})
            await _count_followers(db)
            return last

        return await self._database.write(work)

    async def unregister(self, name: str) -> None:
        async def work(db: AsyncConnection) -> None:
            await _lock_state(db, _FOLLOWERS)
            await db.execute(_UNREGISTER, {"follower": name})
            await _count_followers(db)
            await _trim(db)

        await self._database.write(work)

    async def followers(self) -> list[str]:
        return [row.name for row in await self._database.rows(_NAMES)]

    async def cursor(self, name: str) -> int | None:
        rows = await self._database.rows(_CURSOR, {"follower": name})
        return int(rows[0].place) if rows else None

    async def read(self, name: str, *, limit: int = 100) -> list[Followed]:
        async def work(db: AsyncConnection) -> list[Followed]:
            cursor = (await db.execute(_CURSOR, {"follower": name})).scalar()
            if cursor is None:
                raise InvalidInputError(_UNKNOWN)
            await _give_places(db, most=limit)
            rows = await db.execute(_READ, {"after": cursor, "most": limit})
            return [_followed(row) for row in rows]

        return await self._database.write(work)

    async def advance(self, name: str, seq: int) -> None:
        async def work(db: AsyncConnection) -> None:
            cursor = (await db.execute(_LOCK_CURSOR, {"follower": name})).scalar()
            if cursor is None:
                raise InvalidInputError(_UNKNOWN)
            await db.execute(_SET_CURSOR, {"follower": name, "new_place": max(cursor, seq)})
            await _trim(db)

        await self._database.write(work)

    async def backlog(self, name: str) -> int:
        cursor = await self._database.row(_CURSOR, {"follower": name})
        if cursor is None:
            raise InvalidInputError(_UNKNOWN)
        last = await self._database.row(_STATE, {"of_name": _LAST_PLACE})
        return (0 if last is None else int(last.value)) - int(cursor.place)

    async def standing(self, name: str, owner: Owner, *, limit: int) -> Standing | None:
        row = await self._database.row(_STANDING_OF_OWNER, {**key_of(owner), "follower": name})
        if row is None:
            return None
        values = {**key_of(owner), "of_no": row.no, "after": row.place, "most": limit + 1}
        behind = await self._database.rows(_BEHIND, values)
        rows = None if len(behind) > limit else tuple(seq for (seq,) in behind)
        return Standing(str(row.no), rows)


async def is_followed(db: AsyncConnection) -> bool:
    """Whether anybody is registered. Who registers or ceases to follow waits until the running transaction ends."""
    return bool((await db.execute(_SHARE_STATE, {"of_name": _FOLLOWERS})).scalar())


async def append(db: AsyncConnection, owner: OwnerRow, *, notes: Sequence[Note]) -> None:
    """Add changes of one owner, whose row is locked, to the running transaction."""
    if notes:
        columns = {**owner.columns, "owner_no": owner.no}
        await db.execute(insert(OUTBOX), [{**columns, **note._asdict()} for note in notes])


async def append_rows(
    db: AsyncConnection, owner: OwnerRow, *, op: str, rows: ColumnElement[bool], values: dict[str, Any], shift: int = 0
) -> None:
    """Add a change of every row of `memory` that meets a condition, under the number that it has, or had, with `owner`.

    Args:
        db: the connection of the running transaction.
        owner: whose rows these are, or were.
        op: `put` or `erase`.
        rows: the condition.
        values: what the condition binds.
        shift: what is added to the rows' numbers.
    """
    columns = {**owner.columns, "owner_no": owner.no}
    constants = [bindparam(f"new_{name}", columns[name], type_=OUTBOX.c[name].type) for name in _COLUMNS[:3]]
    selection = select(*constants, MEMORY.c.seq + literal(shift, WHOLE), MEMORY.c.id, literal(op)).where(rows)
    await db.execute(insert(OUTBOX).from_select(list(_COLUMNS), selection), values)


def _followed(row: Any) -> Followed:
    owner = None if row.name is None else Owner(row.tenant, row.kind, row.name)
    return Followed(row.place, row.memory_id, row.op, str(row.owner_no), row.seq, owner)


async def _lock_state(db: AsyncConnection, name: str) -> int:
    """The value of a name once nobody else has it in hand."""
    value = (await db.execute(_LOCK_STATE, {"of_name": name})).scalar()
    if value is None:
        await db.execute(insert(OUTBOX_STATE), {"name": name, "value": 0})
    return int(value or 0)


async def _give_places(db: AsyncConnection, *, most: int | None) -> int:
    """Give changes that have no place the next ones, at most so many if that is said; the last place of all."""
    last = await _lock_state(db, _LAST_PLACE)
    count = 0
    while most is None or count < most:
        step = MOST_VALUES if most is None else min(MOST_VALUES, most - count)
        rows = (await db.execute(_WITHOUT_PLACE, {"most": step})).all()
        if not rows:
            break
        count += len(rows)
        places = [
            {"of_tenant": row.tenant, "of_owner": row.owner, "of_no": row.no, "new_place": place}
            for place, row in enumerate(rows, start=last + 1)
        ]
        await db.execute(_GIVE_PLACE, places)
        last += len(rows)
    if count:
        await db.execute(_SET_STATE, {"of_name": _LAST_PLACE, "new_value": last})
    return last


async def _count_followers(db: AsyncConnection) -> None:
    count, _ = (await db.execute(_FIRST_CURSOR)).one()
    await db.execute(_SET_STATE, {"of_name": _FOLLOWERS, "new_value": count})


async def _trim(db: AsyncConnection) -> None:
    """Remove what every follower has passed."""
    count, first = (await db.execute(_FIRST_CURSOR)).one()
    if count:
        await db.execute(_TRIM, {"upto": first})
    else:
        await db.execute(_TRIM_ALL)
