"""The part of the façade for work in the background: the worker, and the jobs that it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import timedelta

from ebbing.api.threads.background_thread import Host, beside
from ebbing.api.upkeep.maintenance import KeepingUp
from ebbing.api.upkeep.maintenance_steps import DAILY
from ebbing.domain.errors import InvalidInputError, JobNotFoundError
from ebbing.domain.memory.pending_extraction import EXTRACT
from ebbing.domain.memory.scope import Scope
from ebbing.ports.event_bus import MemoryEvent, Topic
from ebbing.ports.job_queue import Job, JobState
from ebbing.results import Item, job_item
from ebbing.upkeep.job_handlers import Duties
from ebbing.upkeep.repair.retry_extraction import extraction
from ebbing.upkeep.worker.schedule import usual
from ebbing.upkeep.worker.stop_signal import Stop
from ebbing.upkeep.worker.worker import Duty, Worked, Working, run_worker
from ebbing.validation import checked_flag, checked_limit


class Background(KeepingUp):
    """What works while nobody asks."""

    async def work(
        self, *, once: bool = False, stop: Stop | None = None, progress: Callable[[Item], None] | None = None
    ) -> Item:
        """Does the upkeep's jobs when their time has come, for all tenants of the store, until it is told to stop.

        Any number of processes may work at once: nothing is done twice. Calls of this memory go first. Cancelled or
        stopped, it leaves each job where another worker, or itself later, goes on.

        Args:
            once: do what is due now and return.
            stop: `ebbing.upkeep.worker.stop_signal.Stop`; what is in hand is finished after it is set.
            progress: called after each job with the answer so far.

        Returns:
            How many jobs were `{"done", "failed", "given_back"}`, and how many are `waiting`; one that failed is tried
            again later or given up.

        Raises:
            StoreClosedError: this memory was closed meanwhile.
            StoreError: with `once`, the store could not do it.
        """
        host, only_once = Host(), checked_flag(once, "once")
        working = await self._working(host)

        def tell(worked: Worked) -> None:
            if progress is not None:
                host.soon(progress, asdict(worked))

        told = tell if progress else None
        return asdict(await beside(lambda: run_worker(working, stop=stop or Stop(), once=only_once, told=told)))

    async def jobs(self, *, state: str | None = None, kind: str | None = None, limit: int = 100) -> Item:
        """The jobs of this memory's tenant, the newest first, and how many there are.

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
        queue, tenant = self._components.store.jobs, self._components.settings.tenant
        found = await queue.list(
            state=JobState(state) if state else None, kind=kind, tenant=tenant, limit=checked_limit(limit)
        )
        counts: dict[str, dict[str, int]] = {}
        for (of_kind, in_state), count in sorted((await queue.counts(tenant=tenant)).items()):
            counts.setdefault(of_kind, {})[in_state.value] = count
        return {"jobs": [*map(job_item, found)], "counts": counts}

    async def job(self, job_id: int) -> Item:
        """One job of this memory's tenant, with what it is about and how far it is.

        Raises:
            JobNotFoundError: there is none with this id.
        """
        return job_item(await self._job(job_id))

    async def retry_job(self, job_id: int) -> Item:
        """Lets a job that was given up be tried again, at once and five times more.

        Raises:
            JobNotFoundError: there is none with this id.
            InvalidInputError: it was not given up, or another one that does the same is waiting already.
        """
        job = await self._job(job_id)
        again = await self._components.store.jobs.requeue(job.id)
        if again is None:
            state = "waits already, or one like it" if job.state is JobState.DEAD else f"is {job.state}"
            raise InvalidInputError(f"this job {state}: only one that was given up can be tried again")
        return job_item(again)

    async def _job(self, job_id: object) -> Job:
        found: Job | None = None
        if isinstance(job_id, int) and not isinstance(job_id, bool) and 0 < job_id < 1 << 63:
            found = await self._components.store.jobs.get(job_id)
        if found is None or found.tenant != self._components.settings.tenant:
            raise JobNotFoundError("no job with this id: `jobs` lists those there are")
        return found

    async def _working(self, host: Host) -> Working:
        """The components of a worker beside the host's loop, with the embedder loaded."""
        components, settings = self._components, self._components.settings
        duties: dict[str, Duty] = {}
        if components.chat.asking is not None:
            duties[EXTRACT] = host.duty(extraction(self._read_again))
        upkeep = Duties(
            await self._upkeeping(host),
            DAILY,
            components.clock,
            seconds_per_owner=settings.upkeep_owner_seconds,
            keep_done=timedelta(days=settings.jobs_kept_days),
            after_round=lambda scope: host.run(lambda: self._tell_of_round(scope)),
        ).by_kind()
        duties |= upkeep
        return Working(
            components.store.jobs,
            components.clock,
            components.chance,
            duties,
            rhythms=[rhythm for rhythm in usual(hour=settings.upkeep_hour) if rhythm.kind in duties],
            tenants=components.store.tenants,
            traffic=components.traffic,
        )

    async def _tell_of_round(self, scope: Scope) -> None:
        if self._components.events.is_heard(Topic.SCHEDULE_DAILY):
            await self._components.events.publish(
                MemoryEvent(Topic.SCHEDULE_DAILY, scope, self._components.clock.now())
            )
