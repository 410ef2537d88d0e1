"""Work to be done later, in the same file as what it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from sqlite3 import Connection
from typing import Any

from anyio import to_thread

from ebbing.adapters.sqlite.connection.connections import Connections
from ebbing.adapters.sqlite.connection.scrubbing import Scrub
from ebbing.adapters.sqlite.connection.writer import GroupCommitWriter
from ebbing.adapters.sqlite.tables import job_rows as rows
from ebbing.adapters.system.job_payload import DescribedJobs, payload_text
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import micros
from ebbing.ports.clock import Clock
from ebbing.ports.job_queue import LOST, Job, JobState, NewJob


class SqliteJobQueue(DescribedJobs):
    """A `JobQueue` in the store's file."""

    def __init__(self, connections: Connections, writer: GroupCommitWriter, *, clock: Clock) -> None:
        self._connections, self._writer, self._clock = connections, writer, clock

    async def _enqueue(self, job: NewJob) -> int:
        values = self._values(job)

        def work(db: Connection) -> int:
            db.execute(rows.ADD, values)
            return int(db.execute(rows.WAITING, values).fetchone()[0])

        return await self._writer.run(work)

    async def enqueue_all(self, jobs: Sequence[NewJob]) -> int:
        values = [self._values(job) for job in jobs]
        if not values:
            return 0
        return await self._writer.run(lambda db: sum(db.execute(rows.ADD, value).rowcount for value in values))

    async def claim(self, kinds: Sequence[str], *, lease: timedelta) -> Job | None:
        now = self._clock.now()
        with self._connections.reading() as db:
            if _due(db, kinds, now=micros(now)) is None:
                return None

        def work(db: Connection) -> Job | None:
            db.execute(rows.BURY, {"now": micros(now), "lost": LOST})
            number = _due(db, kinds, now=micros(now))
            if number is None:
                return None
            db.execute(rows.LEASE, (micros(now + lease), number))
            return rows.job_of(db.execute(rows.BY_ID, (number,)).fetchone())

        return await self._writer.run(work)

    async def renew(self, job: Job, *, lease: timedelta, progress: Mapping[str, Any] | None = None) -> bool:
        noted = None if progress is None else payload_text(progress)
        return await self._end(job, rows.RENEW, micros(self._clock.now() + lease), noted)

    async def complete(self, job: Job) -> bool:
        return await self._end(job, rows.COMPLETE, micros(self._clock.now()))

    async def fail(self, job: Job, error: str, *, retry_after: timedelta) -> bool:
        now = self._clock.now()
        values = {
            **rows.lease_of(job),
            "last": job.attempts >= job.max_attempts,
            "again": micros(now + retry_after),
            "now": micros(now),
            "error": error,
        }
        return await self._writer.run(lambda db: db.execute(rows.FAIL, values).rowcount == 1)

    async def release(self, job: Job) -> bool:
        values = rows.lease_of(job)

        def work(db: Connection) -> bool:
            return db.execute(rows.GIVE_WAY, values).rowcount + db.execute(rows.RELEASE, values).rowcount == 1

        return await self._writer.run(work)

    async def get(self, job_id: int) -> Job | None:
        [*jobs] = await to_thread.run_sync(self._jobs, rows.BY_ID, (job_id,))
        return jobs[0] if jobs else None

    async def list(
        self,
        *,
        state: JobState | None = None,
        kind: str | None = None,
        tenant: str | None = None,
        limit: int = 100,
    ) -> list[Job]:
        values = {"state": state, "kind": kind, "tenant": tenant, "limit": limit}
        return [*await to_thread.run_sync(self._jobs, rows.LIST, values)]

    async def counts(self, *, tenant: str | None = None) -> dict[tuple[str, JobState], int]:
        return await to_thread.run_sync(self._counts, tenant)

    async def requeue(self, job_id: int, *, tries: int = 5) -> Job | None:
        values = {"id": job_id, "tries": tries, "now": micros(self._clock.now())}

        def work(db: Connection) -> Job | None:
            if db.execute(rows.REQUEUE, values).rowcount == 0:
                return None
            return rows.job_of(db.execute(rows.BY_ID, (job_id,)).fetchone())

        return await self._writer.run(work)

    async def forget(self, scope: Scope) -> int:
        return await self._writer.run(partial(forget_jobs, scope=scope), scrub=Scrub.LOG)

    async def forget_tenant(self, tenant: str) -> int:
        return await self._writer.run(partial(forget_jobs_of_tenant, tenant=tenant), scrub=Scrub.LOG)

    async def hand_over(self, tenant: str, target: str, *, gone: str) -> int:
        return await self._writer.run(partial(hand_over_jobs, tenant=tenant, target=target, gone=gone))

    async def drop_done(self, *, before: datetime) -> int:
        moment = micros(before)
        return await self._writer.run(lambda db: db.execute(rows.DROP_DONE, (moment,)).rowcount)

    async def _end(self, job: Job, statement: str, *values: object) -> bool:
        """Whether the statement found the job still in this lease."""
        every = (*values, job.id, job.attempts)
        return await self._writer.run(lambda db: db.execute(statement, every).rowcount == 1)

    def _values(self, job: NewJob) -> dict[str, Any]:
        scope = job.belongs_to
        return {
            "kind": job.kind,
            "key": job.key,
            "payload": payload_text(job.payload),
            "max_attempts": job.max_attempts,
            "run_at": micros(job.run_at or self._clock.now()),
            "tenant": job.of_tenant,
            "user": scope and scope.user_id,
            "agent": scope and scope.agent_id,
            "run": scope and scope.run_id,
            "once": job.once,
        }

    def _jobs(self, query: str, values: Sequence[Any] | dict[str, Any]) -> Sequence[Job]:
        with self._connections.reading() as db:
            return [rows.job_of(row) for row in db.execute(query, values)]

    def _counts(self, tenant: str | None) -> dict[tuple[str, JobState], int]:
        with self._connections.reading() as db:
            counts = db.execute(rows.COUNTS, {"tenant": tenant}).fetchall()
        return {(kind, JobState(state)): count for kind, state, count in counts}


def forget_jobs(db: Connection, *, scope: Scope) -> int:
    """Removes the jobs about what the scope covers, within whoever's transaction."""
    names = {"tenant": scope.tenant, "user": scope.user_id, "agent": scope.agent_id, "run": scope.run_id}
    return db.execute(rows.FORGET, names).rowcount


def forget_jobs_of_tenant(db: Connection, *, tenant: str) -> int:
    """Removes every job of a tenant, within whoever's transaction."""
    return db.execute("DELETE FROM job WHERE tenant = ?", (tenant,)).rowcount


def hand_over_jobs(db: Connection, tenant: str, *, target: str, gone: str) -> int:
    """Gives the jobs of a person to another, within whoever's transaction."""
    values = {"tenant": tenant, "target": target, "gone": gone}
    return sum(db.execute(statement, values).rowcount for statement in (rows.HAND_OVER_IN_HAND, rows.HAND_OVER))


def _due(db: Connection, kinds: Sequence[str], *, now: int) -> int | None:
    """The id of the job that has been due longest: of those that wait, and of those whose worker is gone."""
    rows_due = [db.execute(query, {"kind": kind, "now": now}).fetchone() for kind in set(kinds) for query in rows.DUE]
    due: list[tuple[int, int]] = [row for row in rows_due if row]
    return min(due)[1] if due else None
