"""Work to be done later, in the same database as what it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.sql.connection.database import Database
from ebbing.adapters.sql.service import job_rows as rows
from ebbing.adapters.sql.tables.conditions import chunks
from ebbing.adapters.sql.tables.service_tables import JOB
from ebbing.adapters.system.job_payload import DescribedJobs, payload_text
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import micros
from ebbing.ports.clock import Clock
from ebbing.ports.job_queue import LOST, Job, JobState, NewJob


class SqlJobQueue(DescribedJobs):
    """A `JobQueue` over the table `job`. Workers of any number of processes take from it without waiting in line."""

    def __init__(self, database: Database, *, clock: Clock) -> None:
        self._database, self._clock = database, clock

    async def _enqueue(self, job: NewJob) -> int:
        values = self._values(job)

        async def work(db: AsyncConnection) -> int:
            await _add(db, [values])
            return int((await db.execute(rows.WAITING, {"of_name": values["named"]})).scalar_one())

        return await self._database.write(work)

    async def enqueue_all(self, jobs: Sequence[NewJob]) -> int:
        values = [self._values(job) for job in jobs]
        return await self._database.write(lambda db: _add(db, values)) if values else 0

    async def claim(self, kinds: Sequence[str], *, lease: timedelta) -> Job | None:
        now = self._clock.now()
        values = {"now": micros(now), "kinds": list(dict.fromkeys(kinds))}
        if not kinds or await self._database.row(rows.DUE, values) is None:
            return None

        async def work(db: AsyncConnection) -> Job | None:
            while (row := (await db.execute(rows.CLAIM, values)).first()) is not None:
                if row.state == JobState.RUNNING and row.attempts >= row.max_attempts:
                    # A job whose last worker died is not tried for ever: it may be what kills them.
                    ended = {"state": JobState.DEAD.value, "last_error": LOST, "ended_at": micros(now)}
                    await rows.change_by_id(db, row.id, **ended, leased_until=None, due_at=None)
                    continue
                until = micros(now + lease)
                leased = {"state": JobState.RUNNING.value, "attempts": row.attempts + 1, "leased_until": until}
                await rows.change_by_id(db, row.id, **leased, due_at=until, waiting=None)
                return rows.job_of((await db.execute(rows.BY_ID, {"of_id": row.id})).one())
            return None

        return await self._database.write(work)

    async def renew(self, job: Job, *, lease: timedelta, progress: Mapping[str, Any] | None = None) -> bool:
        until = micros(self._clock.now() + lease)
        noted = {} if progress is None else {"progress": payload_text(progress)}
        return await self._database.write(lambda db: rows.change(db, job, leased_until=until, due_at=until, **noted))

    async def complete(self, job: Job) -> bool:
        ended = {"state": JobState.DONE.value, "ended_at": micros(self._clock.now())}
        return await self._database.write(
            lambda db: rows.change(db, job, **ended, leased_until=None, due_at=None, last_error=None)
        )

    async def fail(self, job: Job, error: str, *, retry_after: timedelta) -> bool:
        now, name = self._clock.now(), rows.job_name(job.kind, job.key)
        again = micros(now + retry_after)

        async def work(db: AsyncConnection) -> bool:
            is_over = job.attempts >= job.max_attempts or await rows.is_replaced(db, name)
            values: dict[str, Any] = {"run_at": again, "leased_until": None, "last_error": error}
            if is_over:
                values |= {"state": JobState.DEAD.value, "ended_at": micros(now), "due_at": None}
            else:
                values |= {"state": JobState.WAITING.value, "ended_at": None, "due_at": again, "waiting": name}
            return await rows.change(db, job, **values)

        return await self._database.write(work)

    async def release(self, job: Job) -> bool:
        name = rows.job_name(job.kind, job.key)

        async def work(db: AsyncConnection) -> bool:
            if await rows.is_replaced(db, name):
                lease = {"of_id": job.id, "of_attempts": job.attempts}
                return (await db.execute(delete(JOB).where(rows.IN_LEASE), lease)).rowcount == 1
            values = {"state": JobState.WAITING.value, "attempts": job.attempts - 1, "leased_until": None}
            return await rows.change(db, job, **values, waiting=name, due_at=micros(job.run_at))

        return await self._database.write(work)

    async def get(self, job_id: int) -> Job | None:
        row = await self._database.row(rows.BY_ID, {"of_id": job_id})
        return None if row is None else rows.job_of(row)

    async def list(
        self,
        *,
        state: JobState | None = None,
        kind: str | None = None,
        tenant: str | None = None,
        limit: int = 100,
    ) -> list[Job]:
        values = {"state": state, "kind": kind, "tenant": tenant, "most": limit}
        return [rows.job_of(row) for row in await self._database.rows(rows.LIST, values)]

    async def counts(self, *, tenant: str | None = None) -> dict[tuple[str, JobState], int]:
        counted = await self._database.rows(rows.COUNTS, {"tenant": tenant})
        return {(kind, JobState(state)): count for kind, state, count in counted}

    async def requeue(self, job_id: int, *, tries: int = 5) -> Job | None:
        now = micros(self._clock.now())

        async def work(db: AsyncConnection) -> Job | None:
            row = (await db.execute(rows.LOCK, {"of_id": job_id})).first()
            if row is None or row.state != JobState.DEAD or await rows.is_replaced(db, row.named):
                return None
            # The attempts are counted on, because their number names the lease.
            values = {"state": JobState.WAITING.value, "run_at": now, "max_attempts": row.attempts + tries}
            await rows.change_by_id(db, job_id, **values, ended_at=None, waiting=row.named, due_at=now)
            return rows.job_of((await db.execute(rows.BY_ID, {"of_id": job_id})).one())

        return await self._database.write(work)

    async def forget(self, scope: Scope) -> int:
        return await self._database.write(lambda db: rows.forget_jobs(db, scope))

    async def forget_tenant(self, tenant: str) -> int:
        return await self._database.write(lambda db: rows.forget_jobs_of_tenant(db, tenant))

    async def hand_over(self, tenant: str, target: str, *, gone: str) -> int:
        return await self._database.write(lambda db: rows.hand_over_jobs(db, tenant, target=target, gone=gone))

    async def drop_done(self, *, before: datetime) -> int:
        async def work(db: AsyncConnection) -> int:
            return (await db.execute(rows.DROP_DONE, {"before": micros(before)})).rowcount

        return await self._database.write(work)

    def _values(self, job: NewJob) -> dict[str, Any]:
        scope, run_at = job.belongs_to, micros(job.run_at or self._clock.now())
        name = rows.job_name(job.kind, job.key)
        return {
            "named": name,
            "waiting": name,
            "once": name if job.once else None,
            "due_at": run_at,
            "kind": job.kind,
            "key": job.key,
            "payload": payload_text(job.payload),
            "state": JobState.WAITING.value,
            "attempts": 0,
            "max_attempts": job.max_attempts,
            "run_at": run_at,
            "tenant": job.of_tenant,
            "user_id": scope and scope.user_id,
            "agent_id": scope and scope.agent_id,
            "run_id": scope and scope.run_id,
        }


async def _add(db: AsyncConnection, jobs: Sequence[dict[str, Any]]) -> int:
    """Add those that are not there yet, and return how many these were.

    Of two who add the same one at once, the second is refused by a key, and its transaction is done once more.
    """
    present: set[str] = set()
    waiting: set[str] = set()
    for names in chunks(sorted({job["named"] for job in jobs})):
        for named, is_waiting in await db.execute(rows.SAME_NAME, {"names": names}):
            present.add(named)
            waiting.update([named] if is_waiting else [])
    new = []
    for job in jobs:
        name = job["named"]
        if name not in waiting and not (job["once"] and name in present):
            new.append(job)
            present.add(name)
            waiting.add(name)
    if new:
        await db.execute(insert(JOB), new)
    return len(new)
