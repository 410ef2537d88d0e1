"""Change sets, and every record as it was before each, beside the memories."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import BigInteger, Select, bindparam, delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.rows.record_columns import RECORD_COLUMNS, entry_of
from ebbing.adapters.sql.connection.database import Database
from ebbing.adapters.sql.memories.owner_rows import lock
from ebbing.adapters.sql.memories.row_values import record_from
from ebbing.adapters.sql.tables.conditions import REACH, chunks, is_in, key_of, of_owner
from ebbing.adapters.sql.tables.owner_tables import CHANGE_SET, ENTRY_COLUMNS, MEMORY, OWNER, REVISION
from ebbing.adapters.sql.tables.service_tables import EMBEDDING_MODEL
from ebbing.domain.memory.change_set import Cause, LoggedChange
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.cursor import cursor_after, position
from ebbing.index.index_entry import IndexEntry
from ebbing.index.shard import micros, moment
from ebbing.ports.stores.change_log import ChangePage, RecordChange

_COLUMNS: Final = tuple(
    CHANGE_SET.c[name] for name in ("id", "no", "cause", "at", "undoes", "is_partial", "inserted", "revised", "erased")
)
_LOGGED: Final = select(*_COLUMNS).where(of_owner(CHANGE_SET))
_LIST: Final = (
    _LOGGED.where(CHANGE_SET.c.no < bindparam("below", type_=BigInteger))
    .order_by(CHANGE_SET.c.no.desc())
    .limit(bindparam("most", type_=BigInteger))
)
_ALL: Final = _LOGGED.order_by(CHANGE_SET.c.no)
_UNDOINGS: Final = _ALL.where(CHANGE_SET.c.undoes.is_not(None))
_GET: Final = _LOGGED.where(CHANGE_SET.c.id == bindparam("of_id"))
_SCOPE_OF: Final = (
    select(OWNER.c.kind, OWNER.c.name)
    .join(CHANGE_SET, (OWNER.c.tenant == CHANGE_SET.c.tenant) & (OWNER.c.owner == CHANGE_SET.c.owner))
    .where(CHANGE_SET.c.id == bindparam("of_id"), CHANGE_SET.c.tenant == bindparam("of_tenant"))
    .execution_options(**{REACH: "tenant: it is asked whose a change set is"})
)
_STATES: Final = (
    select(
        REVISION.c.seq,
        REVISION.c.no,
        *(REVISION.c[name] for name in (*RECORD_COLUMNS, *ENTRY_COLUMNS)),
        EMBEDDING_MODEL.c.name,
    )
    .select_from(REVISION.outerjoin(EMBEDDING_MODEL, EMBEDDING_MODEL.c.no == REVISION.c.model))
    .where(of_owner(REVISION), is_in(REVISION.c.seq, "seqs"), REVISION.c.no >= bindparam("since", type_=BigInteger))
    .order_by(REVISION.c.seq, REVISION.c.no)
)
_REVISED: Final = select(REVISION.c.seq).where(of_owner(REVISION), REVISION.c.no == bindparam("of_no"))
_NOW: Final = select(MEMORY.c.seq, *(MEMORY.c[name] for name in RECORD_COLUMNS)).where(of_owner(MEMORY))
_BETWEEN: Final = select(MEMORY.c.seq).where(
    of_owner(MEMORY), MEMORY.c.seq.between(bindparam("first", type_=BigInteger), bindparam("last", type_=BigInteger))
)
_BY_SEQ: Final = _NOW.where(is_in(MEMORY.c.seq, "seqs")).order_by(MEMORY.c.seq)
_BY_ID: Final = _NOW.where(MEMORY.c.id == bindparam("of_id"))
_OLD: Final = select(CHANGE_SET.c.no).where(of_owner(CHANGE_SET), CHANGE_SET.c.at < bindparam("before"))
_DROP_STATES: Final = delete(REVISION).where(of_owner(REVISION), is_in(REVISION.c.no, "numbers"))
_DROP: Final = delete(CHANGE_SET).where(of_owner(CHANGE_SET), is_in(CHANGE_SET.c.no, "numbers"))


class SqlChangeLog:
    """A `ChangeLog` over the tables `change_set` and `revision`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(self, scope: Scope, *, limit: int = 20, cursor: str | None = None) -> ChangePage:
        values = {**key_of(scope.owner), "below": position(cursor)[0], "most": limit + 1}
        rows = await self._database.rows(_LIST, values)
        shown = [_logged(row) for row in rows[:limit]]
        return ChangePage(tuple(shown), cursor_after(shown[-1].number, 0) if len(rows) > limit else None)

    async def undoings(self, scope: Scope) -> list[LoggedChange]:
        return [_logged(row) for row in await self._database.rows(_UNDOINGS, key_of(scope.owner))]

    async def get(self, scope: Scope, change_id: str) -> LoggedChange | None:
        row = await self._database.row(_GET, {**key_of(scope.owner), "of_id": change_id})
        return None if row is None else _logged(row)

    async def scope_of(self, tenant: str, change_id: str) -> Scope | None:
        row = await self._database.row(_SCOPE_OF, {"of_id": change_id, "of_tenant": tenant})
        return None if row is None else Scope(**{f"{row.kind}_id": row.name}, tenant=tenant)

    async def records(self, scope: Scope, change_id: str) -> list[RecordChange]:
        return await self._database.read(lambda db: _records(db, scope, change_id=change_id))

    async def of_memory(self, scope: Scope, memory_id: str) -> list[RecordChange]:
        return await self._database.read(lambda db: _of_memory(db, scope, memory_id=memory_id))

    async def trim(self, scope: Scope, *, before: datetime) -> int:
        old = {**key_of(scope.owner), "before": micros(before)}
        if not await self._database.rows(_OLD, old):
            return 0

        async def work(db: AsyncConnection) -> int:
            owner = await lock(db, scope.owner)
            if owner is None:
                return 0
            numbers = list((await db.execute(_OLD, old)).scalars())
            for some in chunks(numbers):
                await db.execute(_DROP_STATES, {**owner.key, "numbers": some})
                await db.execute(_DROP, {**owner.key, "numbers": some})
            return len(numbers)

        return await self._database.write(work)


async def _records(db: AsyncConnection, scope: Scope, *, change_id: str) -> list[RecordChange]:
    key = key_of(scope.owner)
    row = (await db.execute(_GET, {**key, "of_id": change_id})).first()
    if row is None:
        return []
    logged = _logged(row)
    born: set[int] = set()
    for first, last in json.loads(row.inserted):
        born.update((await db.execute(_BETWEEN, {**key, "first": first, "last": last})).scalars())
    revised = set((await db.execute(_REVISED, {**key, "of_no": logged.number})).scalars())
    seqs = sorted(born | revised)
    states = await _states(db, key, seqs=seqs, since=logged.number)
    changes = []
    for seq, *columns in await _rows(db, _BY_SEQ, key=key, seqs=seqs):
        now, row_states = record_from(columns, scope), states.get(seq, [])
        later = [state for state in row_states if state[0] > logged.number]
        after = _record(later[0], scope) if later else now
        mine = None if seq in born else next((state for state in row_states if state[0] == logged.number), None)
        before = None if mine is None else _record(mine, scope)
        changes.append(RecordChange(logged, before, None if mine is None else _entry(mine), after, now))
    return changes


async def _of_memory(db: AsyncConnection, scope: Scope, *, memory_id: str) -> list[RecordChange]:
    key = key_of(scope.owner)
    row = (await db.execute(_BY_ID, {**key, "of_id": memory_id})).first()
    if row is None:
        return []
    seq, *columns = row
    now = after = record_from(columns, scope)
    states = (await _states(db, key, seqs=[seq], since=0)).get(seq, [])
    logged_rows = (await db.execute(_ALL, key)).all()
    sets = {row.no: _logged(row) for row in logged_rows}
    changes = []
    for state in reversed(states):
        before = _record(state, scope)
        if state[0] in sets:
            changes.append(RecordChange(sets[state[0]], before, _entry(state), after, now))
        after = before
    for row in logged_rows:
        if any(first <= seq <= last for first, last in json.loads(row.inserted)):
            return [*changes, RecordChange(_logged(row), None, None, after, now)]
    return changes


async def _states(
    db: AsyncConnection, key: dict[str, Any], *, seqs: Sequence[int], since: int
) -> dict[int, list[Sequence[Any]]]:
    """The states that are kept of rows, the oldest first."""
    states: dict[int, list[Sequence[Any]]] = {}
    for seq, *state in await _rows(db, _STATES, key={**key, "since": since}, seqs=seqs):
        states.setdefault(seq, []).append(state)
    return states


async def _rows(
    db: AsyncConnection, statement: Select[Any], *, key: dict[str, Any], seqs: Sequence[int]
) -> list[Sequence[Any]]:
    rows: list[Sequence[Any]] = []
    for some in chunks(seqs):
        rows += (await db.execute(statement, {**key, "seqs": some})).all()
    return rows


def _logged(row: Any) -> LoggedChange:
    count = sum(last - first + 1 for first, last in json.loads(row.inserted))
    cause, at, is_partial = Cause(row.cause), moment(row.at), bool(row.is_partial)
    return LoggedChange(row.id, row.no, cause, at, count, row.revised, row.erased, row.undoes, is_partial=is_partial)


def _record(state: Sequence[Any], scope: Scope) -> MemoryRecord:
    return record_from(state[1 : 1 + len(RECORD_COLUMNS)], scope)


def _entry(state: Sequence[Any]) -> IndexEntry | None:
    return entry_of(state[1 + len(RECORD_COLUMNS) :])
