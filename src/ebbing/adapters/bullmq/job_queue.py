"""Work to be done later, as jobs of BullMQ on a Redis server: a queue of BullMQ for each kind of job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from ebbing.adapters.bullmq import rows
from ebbing.adapters.bullmq.scripts import BULLMQ_VERSION, loaded_scripts
from ebbing.adapters.redis.connection import RedisConnection
from ebbing.adapters.system.job_payload import DescribedJobs, payload_text
from ebbing.domain.memory.scope import Owner, Scope
from ebbing.index.shard import micros
from ebbing.ports.clock import Clock
from ebbing.ports.job_queue import LOST, Job, JobState, NewJob, QueueStanding

DEFAULT_PREFIX: Final = "ebbing:jobs"
_AT_ONCE: Final = 500
"""Jobs that one script looks at, since Redis does nothing else meanwhile."""


class BullMqJobQueue(DescribedJobs):
    """A `JobQueue` whose jobs BullMQ's own tools show, pause and retry. Any number of processes may take from it.

    Each change is one script: all of it is done, or nothing. What removes a tenant's jobs, or those that were done long
    ago, does it in parts, and goes on where it was when it is called again.
    """

    def __init__(self, connection: RedisConnection, *, clock: Clock, prefix: str = DEFAULT_PREFIX) -> None:
        """Keep everything under a prefix: several stores share one database under different ones.

        Raises:
            ConfigurationError: another `bullmq` is installed than the one that our scripts call.
        """
        self._connection, self._clock, self._prefix = connection, clock, prefix
        self._scripts = loaded_scripts()

    async def _enqueue(self, job: NewJob) -> int:
        _, number = await self._add([job])
        return int(number)

    async def enqueue_all(self, jobs: Sequence[NewJob]) -> int:
        added, _ = await self._add(jobs) if jobs else (0, None)
        return int(added)

    async def claim(self, kinds: Sequence[str], *, lease: timedelta) -> Job | None:
        if not kinds:
            return None
        now = self._clock.now()
        until, lasting = micros(now + lease), max(1, round(lease.total_seconds() * 1_000))
        row = await self._run("claim", _ms(now), micros(now), until, lasting, LOST, *dict.fromkeys(kinds))
        return None if row is None else rows.job_of(row)

    async def renew(self, job: Job, *, lease: timedelta, progress: Mapping[str, Any] | None = None) -> bool:
        noted = "" if progress is None else payload_text(progress)
        until, lasting = micros(self._clock.now() + lease), max(1, round(lease.total_seconds() * 1_000))
        return await self._with_lease("renew", job, lasting, until, noted)

    async def complete(self, job: Job) -> bool:
        return await self._with_lease("complete", job, _ms(self._clock.now()))

    async def fail(self, job: Job, error: str, *, retry_after: timedelta) -> bool:
        now = self._clock.now()
        again = now + retry_after
        due_ms = rows.due_in_ms(again, now)
        return await self._with_lease("fail", job, _ms(now), error, micros(again), due_ms)

    async def release(self, job: Job) -> bool:
        return await self._with_lease("release", job)

    async def get(self, job_id: int) -> Job | None:
        row = await self._run("get", job_id)
        return None if row is None else rows.job_of(row)

    async def list(
        self,
        *,
        state: JobState | None = None,
        kind: str | None = None,
        tenant: str | None = None,
        limit: int = 100,
    ) -> list[Job]:
        if state in {JobState.RUNNING, JobState.DEAD}:
            ended = await self._run("ended", state.value, kind or "", tenant or "", limit)
            return [rows.job_of(row) for row in ended]
        jobs: list[Job] = []
        index = "jobs" if tenant is None else f"tenant.{tenant}"
        filters = state.value if state else "", kind or ""
        below = "+inf"
        while below and len(jobs) < limit:
            below, page = await self._run("page", index, below, _AT_ONCE, limit - len(jobs), *filters)
            jobs += map(rows.job_of, page)
        return jobs

    async def counts(self, *, tenant: str | None = None) -> dict[tuple[str, JobState], int]:
        if tenant is not None:
            return await self._counts_of(tenant)
        flat = await self._run("counts")
        counts = zip(flat[::3], flat[1::3], flat[2::3], strict=True)
        return {(kind, JobState(state)): int(count) for kind, state, count in counts if int(count)}

    async def requeue(self, job_id: int, *, tries: int = 5) -> Job | None:
        row = await self._run("requeue", job_id, tries, micros(self._clock.now()))
        return None if row is None else rows.job_of(row)

    async def forget(self, scope: Scope) -> int:
        return int(await self._run("forget", scope.owner.digest, scope.agent_id or "", scope.run_id or ""))

    async def forget_tenant(self, tenant: str) -> int:
        total, seen = 0, _AT_ONCE
        while seen == _AT_ONCE:
            seen, removed = map(int, await self._run("forget_tenant", tenant, _AT_ONCE))
            total += removed
        return total

    async def hand_over(self, tenant: str, target: str, *, gone: str) -> int:
        former, owner = Owner(tenant, "user", gone).digest, Owner(tenant, "user", target).digest
        total = 0
        for number, kind, text in await self._run("of_owner", former):
            data = rows.handed_over(text, target)
            total += int(await self._run("hand_over", kind, number, former, owner, data))
        return total

    async def drop_done(self, *, before: datetime) -> int:
        total, removed = 0, _AT_ONCE
        while removed == _AT_ONCE:
            removed = int(await self._run("drop_done", _ms(before), _AT_ONCE))
            total += removed
        return total

    async def standing(self) -> QueueStanding:
        about = await self._connection.call(lambda client: client.info())
        warnings = []
        if about.get("maxmemory_policy", "noeviction") != "noeviction":
            warnings.append("Redis may evict jobs when its memory is full: set its `maxmemory-policy` to `noeviction`")
        if not about.get("aof_enabled"):
            warnings.append("Redis loses its last minutes when it crashes: set its `appendonly` to `yes`")
        server = f"BullMQ {BULLMQ_VERSION} on Redis {about.get('redis_version')} at {self._connection.place}"
        return QueueStanding(server, tuple(warnings))

    async def aclose(self) -> None:
        """Let go of the connections; idempotent."""
        await self._connection.aclose()

    async def _add(self, jobs: Sequence[NewJob]) -> tuple[Any, Any]:
        now = self._clock.now()
        values = [value for job in jobs for value in rows.arguments(job, now)]
        added, last = await self._run("add", _ms(now), *values)
        return added, last

    async def _run(self, script: str, *values: str | int) -> Any:
        return await self._connection.run(self._scripts[script], keys=[self._prefix], values=values)

    async def _with_lease(self, script: str, job: Job, *values: str | int) -> bool:
        """Return whether a script found the job still in this lease."""
        return bool(await self._run(script, job.kind, job.id, job.attempts, *values))

    async def _counts_of(self, tenant: str) -> dict[tuple[str, JobState], int]:
        counts: Counter[tuple[str, JobState]] = Counter()
        above = "-inf"
        while above:
            above, *flat = await self._run("states", tenant, above, _AT_ONCE)
            counts.update((kind, JobState(state)) for kind, state in zip(flat[::2], flat[1::2], strict=True))
        return dict(counts)


def _ms(moment: datetime) -> int:
    """Return a moment in milliseconds, which BullMQ counts in."""
    return micros(moment) // 1_000
