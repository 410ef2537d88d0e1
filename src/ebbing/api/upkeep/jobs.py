"""Jobs: the worker that runs them, and what becomes of each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from ebbing.api.answers.items import job_item
from ebbing.api.calls.call_context import CallContext
from ebbing.api.sessions.session_buffer import SessionBuffer
from ebbing.api.threads.background_thread import Host, run_in_thread
from ebbing.api.upkeep.queued_adds import ADD, QueuedAdds
from ebbing.domain.errors import InvalidInputError, JobNotFoundError
from ebbing.domain.memory.identity import MERGE_GRACE
from ebbing.ports.job_queue import Job, JobState
from ebbing.results import JobItem, JobList, WorkerAnswer
from ebbing.upkeep.worker.schedule import usual
from ebbing.upkeep.worker.stop_signal import Stop
from ebbing.upkeep.worker.worker import JobHandler, WorkerDeps, WorkerStats, run_worker
from ebbing.validation import checked_flag, checked_limit

NO_JOB: Final = "no job with this id: `jobs.list` shows the jobs"
"""Said of an unknown id and of the id of somebody else alike."""


class JobSource(Protocol):
    """Part of the API whose work is done by jobs."""

    async def job_handlers(self, host: Host) -> Mapping[str, JobHandler]:
        """Return the handler of each kind of job, for a worker off the loop of the host."""
        ...


class JobsApi:
    """`memory.jobs`: the queue, and the worker."""

    def __init__(
        self, context: CallContext, *, queued_adds: QueuedAdds, sources: Sequence[JobSource], sessions: SessionBuffer
    ) -> None:
        self._context, self._queued_adds, self._sessions = context, queued_adds, sessions
        self._sources = sources
        """In the order in which a worker claims their jobs."""

    async def run_worker(
        self,
        *,
        until_idle: bool = False,
        stop: Stop | None = None,
        on_progress: Callable[[WorkerAnswer], None] | None = None,
    ) -> WorkerAnswer:
        """Do the upkeep's jobs when their time has come, for all tenants of the store, until it is told to stop.

        Any number of processes may work at once: nothing is done twice. Calls of this memory go first. Cancelled or
        stopped, it leaves each job where another worker, or itself later, goes on. Sessions that seem to be forgotten
        are ended meanwhile.

        Args:
            until_idle: do what is due now and return.
            stop: `ebbing.upkeep.worker.stop_signal.Stop`; what is in hand is finished after it is set.
            on_progress: called after each job with the answer so far.

        Returns:
            How many jobs were `{"done", "failed", "given_back"}`, and how many are `waiting`; one that failed is tried
            again later or given up.

        Raises:
            StoreClosedError: this memory was closed meanwhile.
            StoreError: with `until_idle`, the store could not do it.
        """
        host, only_once = Host(), checked_flag(until_idle, "until_idle")
        working = await self._working(host)

        def tell(worked: WorkerStats) -> None:
            if on_progress is not None:
                host.soon(on_progress, _worker_answer(worked))

        report = tell if on_progress else None
        ending = asyncio.create_task(self._sessions.end_idle() if only_once else self._sessions.keep_ending_idle())
        try:
            worked = await run_in_thread(
                lambda: run_worker(working, stop=stop or Stop(), once=only_once, on_progress=report)
            )
            if only_once:
                await ending
        finally:
            ending.cancel()
            await asyncio.wait([ending])
        return _worker_answer(worked)

    async def list(self, *, state: str | None = None, kind: str | None = None, limit: int = 100) -> JobList:
        """Return the jobs of this memory's tenant, the newest first, and how many there are.

        Args:
            state: `waiting`, `running`, `done` or `dead` (given up) only.
            kind: `daily`, `extract`, `expire` … only.
            limit: at most so many, 1 to 1,000.

        Returns:
            `{"jobs": [{"id", "kind", "state", "attempts", "run_at", "last_error", …}], "counts": {kind: {state: n}}}`.

        Raises:
            InvalidInputError: an unknown state, or a limit outside its bounds.
        """
        if state is not None and state not in set(JobState):
            raise InvalidInputError(f"state must be one of {', '.join(JobState)}")
        queue, tenant = self._context.store.jobs, self._context.tenant
        jobs = await queue.list(
            state=JobState(state) if state else None, kind=kind, tenant=tenant, limit=checked_limit(limit)
        )
        counts: dict[str, dict[str, int]] = {}
        for (of_kind, in_state), count in sorted((await queue.counts(tenant=tenant)).items()):
            counts.setdefault(of_kind, {})[in_state.value] = count
        return {"jobs": [*map(job_item, jobs)], "counts": counts}

    async def get(self, job_id: int) -> JobItem:
        """Return a job of this memory's tenant, with what it is about and how far it is.

        Of an add that was accepted to be done later, `result` says what became of it.

        Raises:
            JobNotFoundError: there is none with this id.
        """
        job = await self._job(job_id)
        item = job_item(job)
        if job.kind == ADD:
            item["result"] = await self._queued_adds.result(job)
        return item

    async def retry(self, job_id: int) -> JobItem:
        """Let a job that was given up be tried again, at once and five times more.

        Raises:
            JobNotFoundError: there is none with this id.
            InvalidInputError: it was not given up, or another one that does the same is waiting already.
        """
        job = await self._job(job_id)
        again = await self._context.store.jobs.requeue(job.id)
        if again is None:
            state = "waits already, or one like it" if job.state is JobState.DEAD else f"is {job.state}"
            raise InvalidInputError(f"this job {state}: only one that was given up can be tried again")
        return job_item(again)

    async def _job(self, job_id: object) -> Job:
        job: Job | None = None
        if isinstance(job_id, int) and not isinstance(job_id, bool) and 0 < job_id < 1 << 63:
            job = await self._context.store.jobs.get(job_id)
        if job is None or job.tenant != self._context.tenant:
            raise JobNotFoundError(NO_JOB)
        return job

    async def _working(self, host: Host) -> WorkerDeps:
        """Return what a worker works with off the loop of the host."""
        components = self._context.components
        handlers: dict[str, JobHandler] = {}
        for source in self._sources:
            handlers |= await source.job_handlers(host)
        rhythms = usual(hour=self._context.settings.maintenance_hour_utc)
        return WorkerDeps(
            self._context.store.jobs,
            self._context.clock,
            components.chance,
            handlers,
            rhythms=[rhythm for rhythm in rhythms if rhythm.kind in handlers],
            tenants=self._context.store.tenants,
            recover=self._recover,
            left_over=components.separate_jobs.former if components.separate_jobs else None,
            traffic=components.traffic,
        )

    async def _recover(self) -> None:
        """Queue what a process should have queued that died right after it had written to the store."""
        await self._queued_adds.queue_what_was_accepted()
        store, now = self._context.store, self._context.clock.now()
        if self._context.components.separate_jobs is None:
            return  # persons are merged with their jobs
        for tenant in await store.tenants():
            for merge in await store.identities.merges(tenant):
                if merge.undone_at is None and merge.at > now - MERGE_GRACE:
                    await store.jobs.hand_over(tenant, merge.target, gone=merge.gone)


def _worker_answer(worked: WorkerStats) -> WorkerAnswer:
    return {
        "done": worked.done,
        "failed": worked.failed,
        "given_back": worked.given_back,
        "waiting": worked.waiting,
    }
