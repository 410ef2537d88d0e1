"""Work to be done later, in the same file as what it is about."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from anyio import to_thread

from ebbing.adapters.sqlite.connections import Connections
from ebbing.adapters.sqlite.writer import GroupCommitWriter
from ebbing.domain.errors import InvalidInputError
from ebbing.index.shard import micros, moment
from ebbing.ports.clock import Clock
from ebbing.ports.job_queue import Job, JobState

KEEP_DONE: Final = timedelta(days=30)
"""Finished jobs are shown for so long."""

_COLUMNS: Final = "id, kind, key, payload, state, attempts, max_attempts, run_at, leased_until, last_error"
_DUE: Final = (
    f"SELECT {_COLUMNS} FROM job WHERE kind IN (SELECT value FROM json_each(:kinds))"  # noqa: S608
    " AND ((state = 'waiting' AND run_at <= :now) OR (state = 'running' AND leased_until <= :now))"
    " ORDER BY run_at, id LIMIT 1"
)
_BURY: Final = (
    "UPDATE job SET state = 'dead', leased_until = NULL, last_error = 'the worker died or overran its lease'"
    " WHERE state = 'running' AND leased_until <= ? AND attempts >= max_attempts"
)
_LEASED: Final = "WHERE id = ? AND state = 'running' AND attempts = ?"


class SqliteJobQueue:
    """A `JobQueue` in the store's file. An attempt's number names its lease, so that a late worker cannot finish it."""

    def __init__(self, connections: Connections, writer: GroupCommitWriter, *, clock: Clock) -> None:
        self._connections, self._writer, self._clock = connections, writer, clock

    async def enqueue(
        self,
        kind: str,
        key: str,
        *,
        payload: Mapping[str, Any] | None = None,
        run_at: datetime | None = None,
        max_attempts: int = 5,
    ) -> int:
        if max_attempts < 1:
            raise InvalidInputError("max_attempts must be at least 1")
        try:
            text = json.dumps(dict(payload or {}), ensure_ascii=False)
        except (TypeError, ValueError) as error:
            raise InvalidInputError("a job's payload must be JSON") from error
        values = (kind, key, text, max_attempts, micros(run_at or self._clock.now()))

        def work(db: sqlite3.Connection) -> int:
            db.execute(
                "INSERT INTO job (kind, key, payload, state, attempts, max_attempts, run_at)"
                " VALUES (?, ?, ?, 'waiting', 0, ?, ?) ON CONFLICT DO NOTHING",
                values,
            )
            waiting = "SELECT id FROM job WHERE kind = ? AND key = ? AND state = 'waiting'"
            return int(db.execute(waiting, (kind, key)).fetchone()[0])

        return await self._writer.run(work)

    async def claim(self, kinds: Sequence[str], *, lease: timedelta) -> Job | None:
        now = self._clock.now()
        due = {"kinds": json.dumps(list(kinds)), "now": micros(now)}
        with self._connections.reading() as db:
            if db.execute(_DUE, due).fetchone() is None:
                return None

        def work(db: sqlite3.Connection) -> Job | None:
            db.execute(_BURY, (due["now"],))
            row = db.execute(_DUE, due).fetchone()
            if row is None:
                return None
            db.execute(
                "UPDATE job SET state = 'running', attempts = attempts + 1, leased_until = ? WHERE id = ?",
                (micros(now + lease), row[0]),
            )
            return _job(db.execute(f"SELECT {_COLUMNS} FROM job WHERE id = ?", (row[0],)).fetchone())  # noqa: S608

        return await self._writer.run(work)

    async def complete(self, job: Job) -> bool:
        forgotten = micros(self._clock.now() - KEEP_DONE)

        def work(db: sqlite3.Connection) -> bool:
            ended = db.execute(
                f"UPDATE job SET state = 'done', leased_until = NULL, last_error = NULL {_LEASED}",  # noqa: S608
                (job.id, job.attempts),
            )
            db.execute("DELETE FROM job WHERE state = 'done' AND run_at < ?", (forgotten,))
            return ended.rowcount == 1

        return await self._writer.run(work)

    async def fail(self, job: Job, error: str, *, retry_after: timedelta) -> bool:
        again = micros(self._clock.now() + retry_after)

        def work(db: sqlite3.Connection) -> bool:
            waiting = "SELECT 1 FROM job WHERE kind = ? AND key = ? AND state = 'waiting'"
            replaced = db.execute(waiting, (job.kind, job.key)).fetchone() is not None
            is_last = replaced or job.attempts >= job.max_attempts
            ended = db.execute(
                f"UPDATE job SET state = ?, run_at = ?, leased_until = NULL, last_error = ? {_LEASED}",  # noqa: S608
                ("dead" if is_last else "waiting", again, error, job.id, job.attempts),
            )
            return ended.rowcount == 1

        return await self._writer.run(work)

    def _list(self, state: JobState | None, limit: int) -> Sequence[Job]:
        query = f"SELECT {_COLUMNS} FROM job WHERE ? IS NULL OR state = ? ORDER BY id DESC LIMIT ?"  # noqa: S608
        with self._connections.reading() as db:
            return [_job(row) for row in db.execute(query, (state, state, limit))]

    async def list(self, *, state: JobState | None = None, limit: int = 100) -> list[Job]:
        return [*await to_thread.run_sync(self._list, state, limit)]


def _job(row: Sequence[Any]) -> Job:
    number, kind, key, payload, state, attempts, max_attempts, run_at, leased_until, last_error = row
    return Job(
        id=number,
        kind=kind,
        key=key,
        payload=json.loads(payload),
        state=JobState(state),
        attempts=attempts,
        max_attempts=max_attempts,
        run_at=moment(run_at),
        leased_until=None if leased_until is None else moment(leased_until),
        last_error=last_error,
    )
