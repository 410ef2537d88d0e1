"""Counts of recalled memories, in the same file as the memories."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from sqlite3 import Connection
from typing import Any, Final

from ebbing.adapters.rows.record_columns import RECORD_COLUMNS, record_of
from ebbing.adapters.sqlite.connection.connections import Connections
from ebbing.adapters.sqlite.connection.writer import GroupCommitWriter
from ebbing.adapters.sqlite.memories.recorder import Recorder
from ebbing.adapters.sqlite.memories.rows import SEQ_BITS
from ebbing.domain.errors import MemoryNotFoundError
from ebbing.domain.forgetting.curves import after_signal
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.domain.memory.feedback import Feedback, Signal, Usage
from ebbing.domain.memory.scope import Owner, Scope
from ebbing.index.shard import micros, moment
from ebbing.ports.stores.usage_log import KEPT_FEEDBACK, Returned

_MINE: Final = (
    "id = :id AND +mid >> 24 = (SELECT no FROM owner WHERE tenant = :tenant AND kind = :kind AND name = :name)"
)
_COVERED: Final = f"{_MINE} AND (:agent IS NULL OR agent_id = :agent) AND (:run IS NULL OR run_id = :run)"
# One statement for a whole batch: it does not stop for Python's lock at every memory, which the searches hold. What an
# owner's memories share is read once, so that for each of them only two numbers are looked up.
_RETURNED: Final = (
    "WITH told AS MATERIALIZED (SELECT no, json_extract(value, '$[3]') AS at, json_extract(value, '$[4]') AS counts"
    " FROM json_each(:batch) CROSS JOIN owner WHERE tenant = json_extract(value, '$[0]')"
    " AND kind = json_extract(value, '$[1]') AND name = json_extract(value, '$[2]'))"
    " INSERT INTO returned (mid, times, last_at)"
    " SELECT mid, one.value, at FROM told CROSS JOIN json_each(counts) AS one CROSS JOIN memory"
    " WHERE memory.id = one.key AND +mid >> 24 = no"
    " ON CONFLICT (mid) DO UPDATE SET times = times + excluded.times, last_at = max(last_at, excluded.last_at)"
)
_RECORD: Final = f"SELECT mid, {', '.join(RECORD_COLUMNS)} FROM memory WHERE {_COVERED}"  # noqa: S608
_MID: Final = f"SELECT mid FROM memory WHERE {_COVERED}"  # noqa: S608
_OLD: Final = (
    "DELETE FROM feedback WHERE mid = :mid AND (recall, signal) IN"  # noqa: S608
    f" (SELECT recall, signal FROM feedback WHERE mid = :mid ORDER BY at DESC LIMIT -1 OFFSET {KEPT_FEEDBACK})"
)


class SqliteUsageLog:
    """A `UsageLog` over the tables `returned`, `feedback` and `memory`."""

    def __init__(self, connections: Connections, writer: GroupCommitWriter) -> None:
        self._connections, self._writer = connections, writer

    async def returned(self, batch: Sequence[Returned]) -> None:
        counts = [_counts(*key, returns=returns) for key, returns in groupby(batch, key=attrgetter("owner", "last_at"))]
        values = {"batch": json.dumps(counts)}
        await self._writer.run(lambda db: _count(db, values))

    async def tell(self, scope: Scope, feedback: Feedback, *, change: ChangeSet | None = None) -> bool:
        change = change or ChangeSet(Cause.FEEDBACK)
        counted, change_id = await self._writer.run(lambda db: _tell(db, scope, feedback=feedback, change=change))
        if change_id is not None:
            change.ids[scope.owner] = change_id
        return counted

    async def usage(self, scope: Scope, memory_id: str) -> Usage:
        with self._connections.reading() as db:
            row = db.execute(_MID, _values(scope, memory_id)).fetchone()
            if row is None:
                return Usage()
            counted = db.execute("SELECT times, last_at FROM returned WHERE mid = ?", row).fetchone()
            signals = db.execute("SELECT recall, signal, at, reason FROM feedback WHERE mid = ? ORDER BY at", row)
            feedback = tuple(
                Feedback(memory_id, Signal(signal), recall, moment(at), reason)
                for recall, signal, at, reason in signals
            )
        if counted is None:
            return Usage(feedback=feedback)
        return Usage(counted[0], moment(counted[1]), feedback)


def _counts(owner: Owner, at: datetime, *, returns: Iterable[Returned]) -> tuple[Any, ...]:
    """One element of a batch: whose the memories are, when they were returned, and how often each was."""
    times: dict[str, int] = {}
    for item in returns:
        times[item.memory_id] = times.get(item.memory_id, 0) + item.times
    return (owner.tenant, owner.kind, owner.name, micros(at), times)


def _count(db: Connection, values: dict[str, str]) -> None:
    db.execute(_RETURNED, values)


def _tell(db: Connection, scope: Scope, *, feedback: Feedback, change: ChangeSet) -> tuple[bool, str | None]:
    """Whether the signal is new, and the id of the change set where it changed the record."""
    stored = db.execute(_RECORD, _values(scope, feedback.memory_id)).fetchone()
    if stored is None:
        raise MemoryNotFoundError("no memory with this id belongs to this owner")
    mid, *row = stored
    signals = db.execute(
        "SELECT signal FROM feedback WHERE mid = ? AND recall = ?", (mid, feedback.recall_id)
    ).fetchall()
    before = {Signal(signal) for (signal,) in signals}
    if feedback.signal in before:
        return False, None
    db.execute(
        "INSERT INTO feedback (mid, recall, signal, at, reason) VALUES (?, ?, ?, ?, ?)",
        (mid, feedback.recall_id, feedback.signal, micros(feedback.at), feedback.reason),
    )
    record = record_of(row, user=scope.user_id, tenant=scope.tenant)
    changed = after_signal(record, feedback, before=before)
    log = Recorder(db, mid >> SEQ_BITS, owner=scope.owner, change=change)
    if changed is not record:
        log.revise(mid, with_entry=False)
        last = changed.last_accessed_at
        db.execute(
            "UPDATE memory SET access_count = ?, last_accessed_at = ?, strength = ?, growth = ? WHERE mid = ?",
            (
                changed.access_count,
                None if last is None else micros(last),
                changed.strength,
                changed.growth,
                mid,
            ),
        )
    db.execute(_OLD, {"mid": mid})
    return True, log.finish(feedback.at)


def _values(scope: Scope, memory_id: str) -> dict[str, Any]:
    return {**_owner(scope.owner), "agent": scope.agent_id, "run": scope.run_id, "id": memory_id}


def _owner(owner: Owner) -> dict[str, str]:
    return {"tenant": owner.tenant, "kind": owner.kind, "name": owner.name}
