"""Doing queued work: what is due is put into the queue, claimed, done and settled, until somebody says stop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

import anyio

from ebbing.domain.errors import EbbingError, StoreClosedError
from ebbing.language.text.caches import clear_text_caches
from ebbing.ports.clock import Clock
from ebbing.ports.job_queue import Job, JobQueue, JobState, NewJob
from ebbing.ports.random_source import Chance
from ebbing.resilience.retry import pause_after
from ebbing.upkeep.worker.foreground_traffic import Traffic
from ebbing.upkeep.worker.schedule import ScheduleEntry, due
from ebbing.upkeep.worker.stop_signal import Stop

_log: Final = logging.getLogger("ebbing.upkeep")


@dataclass(frozen=True, slots=True)
class JobFailure:
    """Why a job was not done this time."""

    reason: str
    """A code such as `model_unavailable`; no personal text."""
    retry_after: timedelta = timedelta(0)
    """It waits at least so long."""
    rests: bool = False
    """Others of its kind would fare no better now: they wait as long."""


STOPPED: Final = JobFailure("stopped")
"""The worker was asked to stop, and the job was left where it can go on."""


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """How hard a worker works."""

    lease: timedelta = timedelta(minutes=2)
    """How long a job is away if its worker dies; renewed while it is being done."""
    idle_seconds: float = 2.0
    """How long it waits before it looks again when nothing is due."""
    patience_seconds: float = 0.02
    """How long, between two pieces of work, it lets calls in flight go first."""
    first_pause: timedelta = timedelta(minutes=1)
    """How long a job waits that failed once; doubles up to …"""
    longest_pause: timedelta = timedelta(hours=6)


class JobContext:
    """What whoever does a job is given beside it."""

    def __init__(self, progress: Mapping[str, Any], goes_on: Callable[[], Awaitable[bool]]) -> None:
        self.progress: dict[str, Any] = dict(progress)
        """How far it is, as JSON values: noted with the job now and then, and there at the next attempt."""
        self.goes_on = goes_on
        """To be awaited between two pieces of work: lets others go first. False when it is time to stop: then leave
        what is left, and give back `STOPPED`."""


JobHandler = Callable[[Job, JobContext], Awaitable[JobFailure | None]]
"""Does a job of one kind; None when it is done. It may raise, and it may be done more than once."""


@dataclass(frozen=True, slots=True)
class WorkerDeps:
    """The parts that a worker works with."""

    queue: JobQueue
    clock: Clock
    chance: Chance
    duties: Mapping[str, JobHandler]
    """By the kind of job. Those that come first are looked for first."""
    rhythms: Sequence[ScheduleEntry] = ()
    tenants: Callable[[], Awaitable[Sequence[str]]] | None = None
    """Whose turns are planned."""
    recover: Callable[[], Awaitable[None]] | None = None
    """Queues what should be in the queue and is not, because a process died or the queue lost it. Done every turn."""
    left_over: JobQueue | None = None
    """Where jobs wait from before the queue was changed: they are moved when they are due."""
    traffic: Traffic = field(default_factory=Traffic)
    pace: WorkerLimits = WorkerLimits()


@dataclass(slots=True)
class WorkerStats:
    """What a worker did so far."""

    done: int = 0
    failed: int = 0
    """To be tried again later, or given up."""
    given_back: int = 0
    waiting: int = field(default=0, compare=False)
    """How many wait now, for their time or for a worker, as last counted."""


async def run_worker(
    deps: WorkerDeps, *, stop: Stop, once: bool = False, on_progress: Callable[[WorkerStats], None] | None = None
) -> WorkerStats:
    """Plans and does what is due until `stop` is set, or with `once` until nothing is due any more.

    A job that fails waits, each time longer, and is dead after its last attempt. A store that fails is waited for.

    Args:
        told: called after each job.

    Raises:
        StoreError: with `once`, the store could not do it.
        StoreClosedError: the store was closed meanwhile.
    """
    worker = Worker(deps)
    while not stop.is_set:
        try:
            await worker.plan()
            await worker.move_left_over()
            settled = await worker.do_next(stop=stop)
        except EbbingError as error:
            if once or isinstance(error, StoreClosedError):
                raise
            _log.warning("the queue of jobs cannot be used: %s", error.code)
            settled = False
        if settled and on_progress is not None:
            await worker.count(every_seconds=1.0)
            on_progress(worker.worked)
        if not settled:
            if once:
                break
            worker.rest()
            await stop.wait(deps.pace.idle_seconds)
    await worker.count()
    return worker.worked


class Worker:
    """Does one job after the other."""

    def __init__(self, deps: WorkerDeps) -> None:
        self._deps = deps
        self._seen: dict[str, datetime] = {}
        self._resting: dict[str, datetime] = {}
        self._counted = -1.0
        self._has_read = False
        self.worked = WorkerStats()

    async def plan(self) -> None:
        """Queues the turns that have begun, once each however many workers there are."""
        deps = self._deps
        turns = due(deps.rhythms, deps.clock.now(), seen=self._seen)
        if not turns or deps.tenants is None:
            return
        if deps.recover is not None:
            await deps.recover()
        tenants = await deps.tenants()
        each = {rhythm.kind for rhythm in deps.rhythms if rhythm.for_each_tenant}
        jobs: list[NewJob] = []
        for turn in turns:
            if turn.kind in each:
                jobs += [NewJob(turn.kind, f"{turn.name} {tenant}", tenant=tenant, once=True) for tenant in tenants]
            else:
                jobs.append(NewJob(turn.kind, turn.name, tenant=None, once=True))
        await deps.queue.enqueue_all(jobs)
        self._seen.update({turn.kind: turn.began for turn in turns})

    async def move_left_over(self) -> None:
        """Move what is due in the former queue. Of a worker that dies in between it is moved again, and may be done
        twice."""
        former = self._deps.left_over
        if former is None:
            return
        while (job := await former.claim([*self._deps.duties], lease=self._deps.pace.lease)) is not None:
            tries = max(1, job.max_attempts - job.attempts + 1)
            again = NewJob(
                job.kind, job.key, job.payload, max_attempts=tries, belongs_to=job.belongs_to, tenant=job.tenant
            )
            await self._deps.queue.enqueue_all([again])
            await former.complete(job)

    async def do_next(self, *, stop: Stop | None = None) -> bool:
        """Claims one job and sees it settled; False when none is due.

        Raises:
            StoreError: the queue could not do it.
        """
        job = await self._claim()
        if job is None:
            return False
        at_work, self._has_read = JobContext(job.progress, lambda: self._goes_on(stop)), True
        try:
            undone = await self._outcome(job, at_work)
        except BaseException:
            with anyio.CancelScope(shield=True), suppress(EbbingError):
                await self._give_back(job, at_work)
            raise
        await self._settle(job, at_work, undone=undone)
        return True

    def rest(self) -> None:
        """Lets go of the words that jobs were about: where another process erases them, nobody tells this one."""
        if self._has_read:
            clear_text_caches()
            self._has_read = False

    async def count(self, *, every_seconds: float = 0.0) -> None:
        """Counts what waits, unless that was done less than so many seconds ago."""
        now = anyio.current_time()
        if self._counted < 0 or now - self._counted >= every_seconds:
            self._counted, counts = now, await self._deps.queue.counts()
            waiting = (counts.get((kind, JobState.WAITING), 0) for kind in self._deps.duties)
            self.worked.waiting = sum(waiting)

    async def _claim(self) -> Job | None:
        deps, now = self._deps, self._deps.clock.now()
        for kind in deps.duties:
            if self._resting.get(kind, now) <= now:
                job = await deps.queue.claim([kind], lease=deps.pace.lease)
                if job is not None:
                    return job
        return None

    async def _goes_on(self, stop: Stop | None) -> bool:
        await self._deps.traffic.quiet(at_most=self._deps.pace.patience_seconds)
        return stop is None or not stop.is_set

    async def _outcome(self, job: Job, at_work: JobContext) -> JobFailure | None:
        """Does the job while its lease is kept, and gives it up when the lease is lost."""
        outcome: JobFailure | BaseException | None = JobFailure("lease_lost")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(self._keep_lease, job, at_work, lost=tasks.cancel_scope.cancel))
            # `gather` takes whatever a duty raises as its result: one bad job never takes the worker down.
            [outcome] = await asyncio.gather(self._deps.duties[job.kind](job, at_work), return_exceptions=True)
            tasks.cancel_scope.cancel()
        return _failure(outcome, job) if isinstance(outcome, BaseException) else outcome

    async def _keep_lease(self, job: Job, at_work: JobContext, *, lost: Callable[[], None]) -> None:
        lease = self._deps.pace.lease
        while True:
            await anyio.sleep(lease.total_seconds() / 3)
            try:
                if not await self._deps.queue.renew(job, lease=lease, progress=at_work.progress):
                    lost()
            except EbbingError as error:
                _log.warning("the lease of job %s could not be renewed: %s", job.id, error.code)

    async def _settle(self, job: Job, at_work: JobContext, *, undone: JobFailure | None) -> None:
        queue, worked, pace = self._deps.queue, self.worked, self._deps.pace
        if undone is None:
            worked.done += await queue.complete(job)
        elif undone is STOPPED:
            worked.given_back += await self._give_back(job, at_work)
        else:
            wait = pause_after(
                job.attempts, first=pace.first_pause, longest=pace.longest_pause, share=self._deps.chance.share()
            )
            wait = max(wait, undone.retry_after)
            await self._note(job, at_work)
            worked.failed += await queue.fail(job, undone.reason, retry_after=wait)
            if undone.rests:
                rest = max(pace.first_pause, undone.retry_after)
                self._resting[job.kind] = self._deps.clock.now() + rest

    async def _give_back(self, job: Job, at_work: JobContext) -> bool:
        await self._note(job, at_work)
        return await self._deps.queue.release(job)

    async def _note(self, job: Job, at_work: JobContext) -> None:
        if at_work.progress != job.progress:
            await self._deps.queue.renew(job, lease=self._deps.pace.lease, progress=at_work.progress)


def _failure(error: BaseException, job: Job) -> JobFailure:
    """What is said of an error: its code, never its words, which may hold what was worked on."""
    if isinstance(error, EbbingError):
        return JobFailure(error.code)
    if isinstance(error, TimeoutError):
        return JobFailure("out_of_time")
    _log.error("job %s of kind %s failed unexpectedly: %s", job.id, job.kind, type(error).__name__)
    return JobFailure(f"unexpected {type(error).__name__}")
