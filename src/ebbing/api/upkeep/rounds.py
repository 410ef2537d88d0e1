"""Rounds of maintenance: steps for one owner or for all, and the handlers of their jobs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from ebbing.api.answers.items import owner_ids
from ebbing.api.calls.call_context import CallContext
from ebbing.api.threads.background_thread import Host, HostedChatModel, HostedEmbedder, run_in_thread
from ebbing.api.upkeep.maintenance_steps import DAILY
from ebbing.domain.errors import InvalidInputError
from ebbing.domain.forgetting.curves import EXPONENTIAL, POWER_LAW
from ebbing.domain.forgetting.policy import UpkeepPolicy
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.domain.memory.pending_extraction import EXTRACTION_JOB
from ebbing.domain.memory.scope import Scope
from ebbing.ports.event_bus import MemoryEvent, Topic
from ebbing.results import MaintenanceAnswer, MaintenanceChange
from ebbing.upkeep.daily_round import RoundReport, run_steps
from ebbing.upkeep.job_handlers import JobHandlers
from ebbing.upkeep.repair.retry_extraction import extraction
from ebbing.upkeep.step import Step, StepContext
from ebbing.upkeep.worker.worker import JobHandler
from ebbing.validation import checked_flag, checked_time
from ebbing.wiring.config.settings import Settings

_PATIENCE_SECONDS: Final = 0.02
"""How long it lets calls in flight go first, between two pieces of work."""


class MaintenanceRounds:
    """Runs steps of maintenance off the event loop, owner by owner."""

    def __init__(self, context: CallContext) -> None:
        self._context = context

    async def run(
        self,
        steps: Mapping[str, Step],
        cause: Cause,
        *,
        owner_ids: Mapping[str, str | None],
        now: datetime | str | float | None,
        dry_run: bool,
        progress: Callable[[int, int], None] | None = None,
    ) -> MaintenanceAnswer:
        """Run these steps for the owner that the ids of `whose` name, or for all; report as `maintenance.run` does."""
        moment = checked_time(now, "now") or self._context.clock.now()
        dry = checked_flag(dry_run, "dry_run")
        host = Host()
        deps = await self._step_context(host)
        owners = await self._owners_meant(**owner_ids)
        tally, change = _Tally(), ChangeSet(cause)

        async def rounds() -> None:
            for done, scope in enumerate(owners, 1):
                await deps.breathe()
                within = replace(deps, store=deps.store.within(change))
                report = await run_steps(within, scope, steps=steps, now=moment, dry_run=dry)
                tally.add(report, with_changes=dry)
                if progress is not None:
                    host.soon(progress, done, len(owners))

        await run_in_thread(rounds)
        if not dry:
            await self._follow_vectors()
        answer: MaintenanceAnswer = {
            "owners": len(owners),
            "steps": tally.steps(),
            "seconds": tally.seconds(),
            "now": moment.isoformat(),
            "dry_run": dry,
            "change_ids": [*change.ids.values()],
        }
        if dry:
            answer["changes"] = tally.changes
        return answer

    async def job_handlers(self, host: Host) -> dict[str, JobHandler]:
        """Return the handlers of failed extractions and of the daily round."""
        settings = self._context.settings
        duties: dict[str, JobHandler] = {}
        if self._context.components.chat.asking is not None:
            duties[EXTRACTION_JOB] = host.duty(extraction(self._context.reextract))
        daily = JobHandlers(
            await self._step_context(host),
            DAILY,
            self._context.clock,
            seconds_per_owner=settings.maintenance_owner_timeout_seconds,
            keep_done=timedelta(days=settings.job_retention_days),
            after_round=lambda scope: host.run(lambda: self._end_round(scope)),
        )
        return {**duties, **daily.by_kind()}

    async def _end_round(self, scope: Scope) -> None:
        await self._follow_vectors()
        if self._context.components.events.is_heard(Topic.SCHEDULE_DAILY):
            await self._context.components.events.publish(
                MemoryEvent(Topic.SCHEDULE_DAILY, scope, self._context.clock.now())
            )

    async def _follow_vectors(self) -> None:
        """Bring the index of vectors up to date, if there is one: it may have been down when something was erased."""
        vectors = self._context.components.vectors
        if vectors is not None:
            await vectors.follower.catch_up()

    async def _step_context(self, host: Host) -> StepContext:
        """Return what the steps work with off the loop of the host, with the embedder loaded."""
        components, deps = self._context.components, await self._context.add_deps()
        asking = components.chat.asking
        return StepContext(
            components.store,
            deps.embedder and HostedEmbedder(deps.embedder, host),
            components.ids,
            upkeep_policy(components.settings),
            asking=HostedChatModel(asking.model, host) if asking else None,
            breathe=partial(components.traffic.quiet, at_most=_PATIENCE_SECONDS),
        )

    async def _owners_meant(self, **ids: str | None) -> list[Scope]:
        named = {name: value for name, value in ids.items() if value is not None}
        if len(named) > 1:
            raise InvalidInputError("maintenance is about all of an owner: give one of user_id, agent_id and run_id")
        tenant = self._context.tenant
        if named:
            return [Scope(**named, tenant=tenant)]
        return [Scope.of(owner) for owner in await self._context.store.owners(tenant, deleted=True)]


class _Tally:
    """The reports of many owners, summed up."""

    def __init__(self) -> None:
        self._steps: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self.changes: list[MaintenanceChange] = []

    def add(self, report: RoundReport, *, with_changes: bool) -> None:
        """Add the report of one owner, with its changes where they are listed."""
        for step in report.steps:
            self._steps[step.step].update(step.counts)
        for name, seconds in report.seconds.items():
            self._seconds[name] += seconds
        if with_changes:
            self.changes += changes_of(report)

    def steps(self) -> dict[str, dict[str, int]]:
        """Return the counts of each step."""
        return {name: dict(counts) for name, counts in self._steps.items()}

    def seconds(self) -> dict[str, float]:
        """Return how long each step took."""
        return {name: round(spent, 3) for name, spent in self._seconds.items()}


def changes_of(report: RoundReport) -> list[MaintenanceChange]:
    """Return what a round changed, or would."""
    ids = owner_ids(Scope.of(report.scope.owner))
    return [
        {**ids, "step": step.step, "memory_id": change.memory_id, "action": change.action, "reason": change.why}
        for step in report.steps
        for change in step.changes
    ]


def upkeep_policy(settings: Settings) -> UpkeepPolicy:
    """Return the policy of maintenance that the settings ask for."""
    return UpkeepPolicy(
        curve=EXPONENTIAL if settings.forgetting_curve == "exponential" else POWER_LAW,
        grace_days=settings.grace_days,
        undo_days=settings.undo_days,
        ttl_on=settings.expire_by_type,
        owner_text_limit_bytes=settings.owner_text_limit_bytes,
        importance=settings.importance,
        merge_min_records=settings.merge_min_records,
        summary_min_records=settings.summary_min_records,
        habit_min_days=settings.habit_min_days,
        embedding_seconds=settings.embedding_timeout_seconds,
        llm_timeout_seconds=settings.llm_timeout_seconds,
    )
