"""A job queue that lasts as long as its process."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from ebbing.adapters.system.job_payload import payload_text
from ebbing.domain.memory.scope import Owner, Scope
from ebbing.ports.clock import Clock
from ebbing.ports.job_queue import LOST, Job, JobState, NewJob


class EphemeralJobQueue:
    """A `JobQueue` in the memory of one process; threads and event loops may share it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._jobs: dict[int, Job] = {}
        self._numbers = count(1)
        self._lock = threading.RLock()

    async def enqueue(
        self,
        kind: str,
        key: str,
        *,
        payload: Mapping[str, Any] | None = None,
        run_at: datetime | None = None,
        max_attempts: int = 5,
        whose: Scope | None = None,
    ) -> int:
        job = NewJob(kind, key, payload, run_at, max_attempts, whose)
        text = payload_text(payload)
        with self._lock:
            return (self._waiting(kind, key) or self._add(job, text)).id

    async def enqueue_all(self, jobs: Sequence[NewJob]) -> int:
        texts = [payload_text(job.payload) for job in jobs]
        with self._lock:
            before = len(self._jobs)
            for job, text in zip(jobs, texts, strict=True):
                same = (other.state for other in self._jobs.values() if (other.kind, other.key) == (job.kind, job.key))
                if not any(job.once or state is JobState.WAITING for state in same):
                    self._add(job, text)
            return len(self._jobs) - before

    async def claim(self, kinds: Sequence[str], *, lease: timedelta) -> Job | None:
        now = self._clock.now()
        with self._lock:
            self._bury(now)
            due = [job for job in self._jobs.values() if job.kind in kinds and _is_due(job, now)]
            if not due:
                return None
            job = min(due, key=lambda job: (job.run_at, job.id))
            return self._put(replace(job, state=JobState.RUNNING, attempts=job.attempts + 1, leased_until=now + lease))

    async def renew(self, job: Job, *, lease: timedelta, progress: Mapping[str, Any] | None = None) -> bool:
        noted = {} if progress is None else {"progress": json.loads(payload_text(progress))}
        return self._change(job, leased_until=self._clock.now() + lease, **noted)

    async def complete(self, job: Job) -> bool:
        now = self._clock.now()
        return self._change(job, state=JobState.DONE, leased_until=None, last_error=None, ended_at=now)

    async def fail(self, job: Job, error: str, *, retry_after: timedelta) -> bool:
        now = self._clock.now()
        with self._lock:
            is_last = job.attempts >= job.max_attempts or self._waiting(job.kind, job.key) is not None
            state, ended = (JobState.DEAD, now) if is_last else (JobState.WAITING, None)
            again = now + retry_after
            return self._change(job, state=state, run_at=again, leased_until=None, last_error=error, ended_at=ended)

    async def release(self, job: Job) -> bool:
        with self._lock:
            if not self._is_leased(job):
                return False
            if self._waiting(job.kind, job.key):
                del self._jobs[job.id]
                return True
            return self._change(job, state=JobState.WAITING, attempts=job.attempts - 1, leased_until=None)

    async def get(self, job_id: int) -> Job | None:
        return self._jobs.get(job_id)

    async def list(
        self,
        *,
        state: JobState | None = None,
        kind: str | None = None,
        tenant: str | None = None,
        limit: int = 100,
    ) -> list[Job]:
        with self._lock:
            newest = sorted(self._jobs.values(), key=lambda job: job.id, reverse=True)
        matching = [
            job
            for job in newest
            if state in {None, job.state} and kind in {None, job.kind} and tenant in {None, job.tenant}
        ]
        return matching[:limit]

    async def counts(self, *, tenant: str | None = None) -> dict[tuple[str, JobState], int]:
        with self._lock:
            return dict(Counter((job.kind, job.state) for job in self._jobs.values() if tenant in {None, job.tenant}))

    async def requeue(self, job_id: int, *, tries: int = 5) -> Job | None:
        with self._lock:
            job = self._jobs.get(job_id)
            if job is None or job.state is not JobState.DEAD or self._waiting(job.kind, job.key):
                return None
            now, most = self._clock.now(), job.attempts + tries
            return self._put(replace(job, state=JobState.WAITING, run_at=now, max_attempts=most, ended_at=None))

    async def forget(self, scope: Scope) -> int:
        return self._drop(lambda job: job.whose is not None and scope.covers(job.whose))

    async def forget_tenant(self, tenant: str) -> int:
        return self._drop(lambda job: job.tenant == tenant)

    def move(self, of: Owner, name: str) -> None:
        """Gives the jobs of a user to another one; what is in hand is begun anew."""
        with self._lock:
            theirs = [job for job in self._jobs.values() if job.whose is not None and job.whose.owner == of]
            for job in theirs:
                is_running = job.state is JobState.RUNNING
                if is_running and self._waiting(job.kind, job.key):
                    del self._jobs[job.id]
                else:
                    self._put(_of_another(job, name, begun_anew=is_running))

    async def drop_done(self, *, before: datetime) -> int:
        return self._drop(lambda job: job.state is JobState.DONE and job.ended_at is not None and job.ended_at < before)

    def _add(self, job: NewJob, payload: str) -> Job:
        return self._put(
            Job(
                id=next(self._numbers),
                kind=job.kind,
                key=job.key,
                payload=json.loads(payload),
                state=JobState.WAITING,
                attempts=0,
                max_attempts=job.max_attempts,
                run_at=job.run_at or self._clock.now(),
                leased_until=None,
                last_error=None,
                tenant=job.of_tenant,
                whose=job.whose,
            )
        )

    def _put(self, job: Job) -> Job:
        self._jobs[job.id] = job
        return job

    def _drop(self, is_meant: Callable[[Job], bool]) -> int:
        with self._lock:
            gone = [job.id for job in self._jobs.values() if is_meant(job)]
            for number in gone:
                del self._jobs[number]
            return len(gone)

    def _change(self, job: Job, **fields: Any) -> bool:
        """Whether the job was still in this lease and so could be changed."""
        with self._lock:
            if not self._is_leased(job):
                return False
            self._put(replace(self._jobs[job.id], **fields))
            return True

    def _waiting(self, kind: str, key: str) -> Job | None:
        same = (job for job in self._jobs.values() if (job.kind, job.key, job.state) == (kind, key, JobState.WAITING))
        return next(same, None)

    def _is_leased(self, job: Job) -> bool:
        stored = self._jobs.get(job.id)
        return stored is not None and stored.state is JobState.RUNNING and stored.attempts == job.attempts

    def _bury(self, now: datetime) -> None:
        for job in [*self._jobs.values()]:
            if job.state is JobState.RUNNING and job.attempts >= job.max_attempts and _is_due(job, now):
                self._put(replace(job, state=JobState.DEAD, leased_until=None, last_error=LOST, ended_at=now))


def _of_another(job: Job, user_id: str, *, begun_anew: bool) -> Job:
    payload = {**job.payload, "user_id": user_id} if job.payload.get("user_id") else job.payload
    whose = job.whose and replace(job.whose, user_id=user_id)
    job = replace(job, whose=whose, payload=payload)
    if not begun_anew:
        return job
    return replace(job, state=JobState.WAITING, attempts=job.attempts - 1, leased_until=None)


def _is_due(job: Job, now: datetime) -> bool:
    if job.state is JobState.RUNNING:
        return job.leased_until is not None and job.leased_until <= now
    return job.state is JobState.WAITING and job.run_at <= now
