"""The jobs of the upkeep: the daily round of each owner, single steps for everybody, and cleaning up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Final

import anyio

from ebbing.domain.errors import EbbingError
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.domain.memory.scope import Scope
from ebbing.ports.clock import Clock
from ebbing.ports.job_queue import Job, NewJob
from ebbing.upkeep.daily_round import ORDER, run_step, run_steps
from ebbing.upkeep.repair.reindex import reindex_job
from ebbing.upkeep.step import Step, StepContext, StepReport
from ebbing.upkeep.worker.worker import STOPPED, JobContext, JobFailure, JobHandler

OUT_OF_TIME: Final = JobFailure("out_of_time")
_OF_THEIR_OWN: Final = frozenset({"reindex"})
"""Steps that may take longer than a round: they have jobs of their own, without its bound."""
KEEP_ANSWERS: Final = timedelta(days=1)
"""How long the answers of the service's requests are remembered."""
_PLANNED_AT_ONCE: Final = 500
"""Jobs that are queued in one transaction."""


@dataclass(frozen=True, slots=True)
class JobHandlers:
    """What the upkeep's jobs work with."""

    deps: StepContext
    steps: Mapping[str, Step]
    clock: Clock
    seconds_per_owner: float
    """A step or round that takes longer is stopped, and goes on at the next attempt."""
    keep_done: timedelta
    """How long finished jobs are shown."""
    after_round: Callable[[Scope], Awaitable[None]]
    """Told whose daily round is done."""

    def by_kind(self) -> dict[str, JobHandler]:
        """`daily`, `cleanup`, and every step by its own name."""
        steps = {name: partial(self._step, step=self.steps[name]) for name in ORDER if name in self.steps}
        return {
            **steps,
            "cleanup": self._clean_up,
            "daily": self._daily,
            "reindex": partial(reindex_job, deps=self.deps),
        }

    async def _daily(self, job: Job, at_work: JobContext) -> JobFailure | None:
        """The round of one owner; of a job that names none, plans a round for each of the tenant's owners."""
        if job.belongs_to is None:
            return await self._plan_rounds(job)
        behind: list[str] = [*at_work.progress.get("steps", [])]
        left = {name: step for name, step in self.steps.items() if name not in {*behind, *_OF_THEIR_OWN}}

        change, owner = ChangeSet(Cause.MAINTENANCE), job.belongs_to.owner
        if isinstance(begun := at_work.progress.get("change_id"), str):
            change.ids[owner] = begun

        async def goes_on(last: StepReport) -> bool:
            behind.append(last.step)
            if owner in change.ids:
                at_work.progress["change_id"] = change.ids[owner]
            at_work.progress["steps"] = behind
            return await at_work.goes_on()

        with anyio.fail_after(self.seconds_per_owner):
            report = await run_steps(
                self._within(change), job.belongs_to, steps=left, now=self.clock.now(), goes_on=goes_on
            )
        if not report.is_complete:
            return STOPPED
        await self.after_round(job.belongs_to)
        return None

    async def _plan_rounds(self, job: Job) -> JobFailure | None:
        owners = await self.deps.store.owners(job.tenant, deleted=True)
        jobs = [
            NewJob("daily", f"{job.key} {scope.owner.digest}", belongs_to=scope, once=True)
            for scope in map(Scope.of, owners)
        ]
        for at in range(0, len(jobs), _PLANNED_AT_ONCE):
            await self.deps.store.jobs.enqueue_all(jobs[at : at + _PLANNED_AT_ONCE])
        return None

    async def _step(self, job: Job, at_work: JobContext, *, step: Step) -> JobFailure | None:
        """One step for the job's owner, or for all of its tenant; who fails stops nobody else."""
        owners = (
            [job.belongs_to]
            if job.belongs_to
            else [*map(Scope.of, await self.deps.store.owners(job.tenant, deleted=True))]
        )
        failed: JobFailure | None = None
        begin = min(at_work.progress.get("owners_done", 0), len(owners))
        for done, scope in enumerate(owners[begin:], begin + 1):
            if not await at_work.goes_on():
                return STOPPED
            try:
                with anyio.fail_after(self.seconds_per_owner):
                    await run_step(step, self._within(ChangeSet(Cause.MAINTENANCE)), scope=scope, now=self.clock.now())
            except EbbingError as error:
                failed = JobFailure(error.code)
            except TimeoutError:
                failed = OUT_OF_TIME
            at_work.progress.update(owners_done=done, owners=len(owners))
        if failed:
            at_work.progress["owners_done"] = 0
        return failed

    def _within(self, change: ChangeSet) -> StepContext:
        return replace(self.deps, store=self.deps.store.within(change))

    async def _clean_up(self, job: Job, at_work: JobContext) -> None:
        del job, at_work
        now = self.clock.now()
        await self.deps.store.jobs.drop_done(before=now - self.keep_done)
        await self.deps.store.requests.drop_answered(before=now - KEEP_ANSWERS)
