"""A job queue that lasts as long as its process."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from ebbing.domain.errors import InvalidInputError
from ebbing.ports.clock import Clock
from ebbing.ports.job_queue import Job, JobState


class EphemeralJobQueue:
    """A `JobQueue` in the memory of one process; threads and event loops may share it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._jobs: dict[int, Job] = {}
        self._numbers = count(1)
        self._lock = threading.Lock()

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
            kept = json.loads(json.dumps(dict(payload or {})))
        except (TypeError, ValueError) as error:
            raise InvalidInputError("a job's payload must be JSON") from error
        with self._lock:
            waiting = self._waiting(kind, key)
            if waiting:
                return waiting.id
            number = next(self._numbers)
            self._jobs[number] = Job(
                id=number,
                kind=kind,
                key=key,
                payload=kept,
                state=JobState.WAITING,
                attempts=0,
                max_attempts=max_attempts,
                run_at=run_at or self._clock.now(),
                leased_until=None,
                last_error=None,
            )
            return number

    async def claim(self, kinds: Sequence[str], *, lease: timedelta) -> Job | None:
        now = self._clock.now()
        with self._lock:
            self._bury(now)
            due = [job for job in self._jobs.values() if job.kind in kinds and _is_due(job, now)]
            if not due:
                return None
            job = min(due, key=lambda job: (job.run_at, job.id))
            return self._put(replace(job, state=JobState.RUNNING, attempts=job.attempts + 1, leased_until=now + lease))

    async def complete(self, job: Job) -> bool:
        with self._lock:
            if not self._is_leased(job):
                return False
            self._put(replace(self._jobs[job.id], state=JobState.DONE, leased_until=None, last_error=None))
            return True

    async def fail(self, job: Job, error: str, *, retry_after: timedelta) -> bool:
        with self._lock:
            if not self._is_leased(job):
                return False
            is_last = job.attempts >= job.max_attempts or self._waiting(job.kind, job.key) is not None
            state = JobState.DEAD if is_last else JobState.WAITING
            again = self._clock.now() + retry_after
            self._put(replace(self._jobs[job.id], state=state, run_at=again, leased_until=None, last_error=error))
            return True

    async def list(self, *, state: JobState | None = None, limit: int = 100) -> list[Job]:
        with self._lock:
            newest = sorted(self._jobs.values(), key=lambda job: job.id, reverse=True)
        return [job for job in newest if state in {None, job.state}][:limit]

    def _put(self, job: Job) -> Job:
        self._jobs[job.id] = job
        return job

    def _waiting(self, kind: str, key: str) -> Job | None:
        same = (job for job in self._jobs.values() if (job.kind, job.key, job.state) == (kind, key, JobState.WAITING))
        return next(same, None)

    def _is_leased(self, job: Job) -> bool:
        known = self._jobs.get(job.id)
        return known is not None and known.state is JobState.RUNNING and known.attempts == job.attempts

    def _bury(self, now: datetime) -> None:
        for job in [*self._jobs.values()]:
            if job.state is JobState.RUNNING and job.attempts >= job.max_attempts and _is_due(job, now):
                error = "the worker died or overran its lease"
                self._put(replace(job, state=JobState.DEAD, leased_until=None, last_error=error))


def _is_due(job: Job, now: datetime) -> bool:
    if job.state is JobState.RUNNING:
        return job.leased_until is not None and job.leased_until <= now
    return job.state is JobState.WAITING and job.run_at <= now
