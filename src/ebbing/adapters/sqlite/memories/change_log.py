"""Change sets, and every record as it was before each, in the same file as the memories."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from sqlite3 import Connection
from typing import Any, Final, TypeVar

from anyio import to_thread

from ebbing.adapters.rows.record_columns import RECORD_COLUMNS, entry_of, record_of
from ebbing.adapters.sqlite.connection.connections import Connections
from ebbing.adapters.sqlite.connection.writer import GroupCommitWriter
from ebbing.adapters.sqlite.memories.recorder import ENTRY_COLUMNS
from ebbing.adapters.sqlite.memories.rows import first_mid, last_mid
from ebbing.domain.memory.change_set import Cause, LoggedChange
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.cursor import cursor_after, position
from ebbing.index.index_entry import IndexEntry
from ebbing.index.shard import micros, moment
from ebbing.ports.stores.change_log import ChangePage, RecordChange

_Result = TypeVar("_Result")

_OWNER: Final = "(SELECT no FROM owner WHERE tenant = :tenant AND kind = :owner_kind AND name = :name)"
_LOGGED: Final = (
    "change_set.id, change_set.no, cause, at, undoes, is_partial, inserted, revised, erased,"
    " change_set.owner_no FROM change_set"
)
_LIST: Final = f"SELECT {_LOGGED} WHERE owner_no = {_OWNER} AND no < :below ORDER BY no DESC LIMIT :limit"
_UNDOINGS: Final = f"SELECT {_LOGGED} WHERE owner_no = {_OWNER} AND undoes IS NOT NULL ORDER BY no"
_GET: Final = f"SELECT {_LOGGED} WHERE id = :id AND owner_no = {_OWNER}"
_SCOPE_OF: Final = (
    "SELECT owner.kind, owner.name FROM change_set JOIN owner ON owner.no = owner_no WHERE id = ? AND tenant = ?"
)
_COLUMNS: Final = ", ".join(RECORD_COLUMNS)
_STATE: Final = (
    f"revision.no, {', '.join(f'revision.{name}' for name in (*RECORD_COLUMNS, *ENTRY_COLUMNS))}, model.name"
    " FROM revision LEFT JOIN model ON model.no = revision.model"
)
_STATES: Final = (
    f"SELECT mid, {_STATE} WHERE mid BETWEEN :first AND :last AND mid IN (SELECT value FROM json_each(:mids))"  # noqa: S608
    " AND revision.no >= :no ORDER BY mid, revision.no"
)
_REVISED: Final = "SELECT mid FROM revision WHERE mid BETWEEN :first AND :last AND no = :no"
_INSERTED: Final = (
    "SELECT mid FROM memory, json_each(:ranges) WHERE mid BETWEEN :base | json_extract(json_each.value, '$[0]')"
    " AND :base | json_extract(json_each.value, '$[1]')"
)
_NOW: Final = (
    f"SELECT mid, {_COLUMNS} FROM memory WHERE mid BETWEEN :first AND :last AND mid IN"  # noqa: S608
    " (SELECT value FROM json_each(:mids)) ORDER BY mid"
)
_MID: Final = f"SELECT mid FROM memory WHERE id = :id AND +mid >> 24 = {_OWNER}"  # noqa: S608
_SETS: Final = f"SELECT {_LOGGED} WHERE owner_no = :owner_no AND no IN (SELECT value FROM json_each(:numbers))"  # noqa: S608
_BIRTH: Final = (
    f"SELECT {_LOGGED} WHERE owner_no = :owner_no AND EXISTS (SELECT 1 FROM json_each(inserted)"  # noqa: S608
    " WHERE :seq BETWEEN json_extract(json_each.value, '$[0]') AND json_extract(json_each.value, '$[1]'))"
)
_OLD: Final = f"SELECT no FROM change_set WHERE owner_no = {_OWNER} AND at < :before"  # noqa: S608


class SqliteChangeLog:
    """A `ChangeLog` over the tables `change_set` and `revision`."""

    def __init__(self, connections: Connections, writer: GroupCommitWriter) -> None:
        self._connections, self._writer = connections, writer

    async def page(self, scope: Scope, *, limit: int = 20, cursor: str | None = None) -> ChangePage:
        below = position(cursor)[0]
        rows = await self._rows(_LIST, {**_owner(scope), "below": below, "limit": limit + 1})
        shown = [_logged(row) for row in rows[:limit]]
        return ChangePage(tuple(shown), cursor_after(shown[-1].number, 0) if len(rows) > limit else None)

    async def undoings(self, scope: Scope) -> list[LoggedChange]:
        return [_logged(row) for row in await self._rows(_UNDOINGS, _owner(scope))]

    async def get(self, scope: Scope, change_id: str) -> LoggedChange | None:
        rows = await self._rows(_GET, {**_owner(scope), "id": change_id})
        return _logged(rows[0]) if rows else None

    async def scope_of(self, tenant: str, change_id: str) -> Scope | None:
        rows = await self._rows(_SCOPE_OF, (change_id, tenant))
        return Scope(**{f"{rows[0][0]}_id": rows[0][1]}, tenant=tenant) if rows else None

    async def records(self, scope: Scope, change_id: str) -> list[RecordChange]:
        return await self._read(partial(_records, scope=scope, change_id=change_id))

    async def of_memory(self, scope: Scope, memory_id: str) -> list[RecordChange]:
        return await self._read(partial(_of_memory, scope=scope, memory_id=memory_id))

    async def trim(self, scope: Scope, *, before: datetime) -> int:
        with self._connections.reading() as db:
            if not db.execute(_OLD, {**_owner(scope), "before": micros(before)}).fetchone():
                return 0
        return await self._writer.run(lambda db: _trim(db, scope, before=before))

    async def _rows(self, sql: str, values: Any) -> list[Any]:
        return await self._read(lambda db: db.execute(sql, values).fetchall())

    async def _read(self, work: Callable[[Connection], _Result]) -> _Result:
        return await to_thread.run_sync(self._in_one_moment, work)

    def _in_one_moment(self, work: Callable[[Connection], _Result]) -> _Result:
        with self._connections.reading() as db:
            db.execute("BEGIN")
            try:
                return work(db)
            finally:
                db.execute("ROLLBACK")


def _records(db: Connection, scope: Scope, *, change_id: str) -> list[RecordChange]:
    row = db.execute(_GET, {**_owner(scope), "id": change_id}).fetchone()
    if row is None:
        return []
    logged, owner_no = _logged(row), row[9]
    bounds = {"first": first_mid(owner_no), "last": last_mid(owner_no), "no": logged.number}
    born = {mid for (mid,) in db.execute(_INSERTED, {"ranges": row[6], "base": first_mid(owner_no)})}
    revised = {mid for (mid,) in db.execute(_REVISED, bounds)}
    values = {**bounds, "mids": json.dumps(sorted(born | revised))}
    states: dict[int, list[Any]] = {}
    for mid, *state in db.execute(_STATES, values):
        states.setdefault(mid, []).append(state)
    changes = []
    for mid, *columns in db.execute(_NOW, values).fetchall():
        now, history = _record(columns, scope), states.get(mid, [])
        later = [state for state in history if state[0] > logged.number]
        after = _record(later[0][1:], scope) if later else now
        mine = None if mid in born else next((state for state in history if state[0] == logged.number), None)
        before = None if mine is None else _record(mine[1:], scope)
        changes.append(RecordChange(logged, before, None if mine is None else _entry(mine), after, now))
    return changes


def _of_memory(db: Connection, scope: Scope, *, memory_id: str) -> list[RecordChange]:
    row = db.execute(_MID, {**_owner(scope), "id": memory_id}).fetchone()
    if row is None:
        return []
    [mid] = row
    owner_no = mid >> 24
    values = {"first": mid, "last": mid, "mids": json.dumps([mid]), "no": 0}
    [(_, *columns)] = db.execute(_NOW, values).fetchall()
    now = after = _record(columns, scope)
    states = [state for _, *state in db.execute(_STATES, values)]
    numbers = {"owner_no": owner_no, "numbers": json.dumps([state[0] for state in states])}
    sets = {row[1]: _logged(row) for row in db.execute(_SETS, numbers)}
    changes = []
    for state in reversed(states):
        before = _record(state[1:], scope)
        if state[0] in sets:
            changes.append(RecordChange(sets[state[0]], before, _entry(state), after, now))
        after = before
    birth = db.execute(_BIRTH, {"owner_no": owner_no, "seq": mid - first_mid(owner_no)}).fetchone()
    return [*changes, RecordChange(_logged(birth), None, None, after, now)] if birth else changes


def _trim(db: Connection, scope: Scope, *, before: datetime) -> int:
    values = {**_owner(scope), "before": micros(before)}
    mids = f"mid BETWEEN {_OWNER} << 24 AND {_OWNER} << 24 | 16777215"
    db.execute(f"DELETE FROM revision WHERE {mids} AND no IN ({_OLD})", values)  # noqa: S608
    return db.execute(f"DELETE FROM change_set WHERE owner_no = {_OWNER} AND at < :before", values).rowcount  # noqa: S608


def _owner(scope: Scope) -> dict[str, Any]:
    owner = scope.owner
    return {"tenant": owner.tenant, "owner_kind": owner.kind, "name": owner.name}


def _logged(row: Sequence[Any]) -> LoggedChange:
    change_id, number, cause, at, undoes, is_partial, inserted, revised, erased, _ = row
    count = sum(last - first + 1 for first, last in json.loads(inserted))
    return LoggedChange(
        change_id, number, Cause(cause), moment(at), count, revised, erased, undoes, is_partial=bool(is_partial)
    )


def _record(columns: Sequence[Any], scope: Scope) -> MemoryRecord:
    return record_of(columns[: len(RECORD_COLUMNS)], user=scope.user_id, tenant=scope.tenant)


def _entry(state: Sequence[Any]) -> IndexEntry | None:
    return entry_of(state[1 + len(RECORD_COLUMNS) :])
