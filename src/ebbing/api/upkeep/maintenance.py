"""The part of the façade that looks after memories while nobody asks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final

from ebbing.api.base import Facade
from ebbing.api.threads.background_thread import Host, HostedChatModel, HostedEmbedder, beside
from ebbing.api.upkeep.maintenance_steps import DAILY
from ebbing.domain.errors import InvalidInputError
from ebbing.domain.forgetting.curves import EXPONENTIAL, POWER_LAW
from ebbing.domain.forgetting.policy import UpkeepPolicy
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.domain.memory.scope import Scope
from ebbing.results import Item
from ebbing.upkeep.daily_round import RoundReport, go_round
from ebbing.upkeep.step import Step, Upkeeping
from ebbing.validation import checked_flag, checked_time
from ebbing.wiring.config.settings import Settings

_PATIENCE_SECONDS: Final = 0.02
"""How long it lets calls in flight go first, between two pieces of work."""


class KeepingUp(Facade):
    """What expires, merges, fades and counts memories as time goes by."""

    async def upkeep(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        now: datetime | str | float | None = None,
        dry_run: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Item:
        """Does what the daily round does, of one owner or of all: what is due by then, so that a second run at the same
        time finds nothing left to do.

        Args:
            user_id: whose memories; without any id everybody's, one after the other. One id only: a round is about
                everything of an owner.
            now: the time to go by; a time to come shows what will be.
            dry_run: change nothing, and list in `changes` what would be.
            progress: called with how many owners are done, and of how many.

        Returns:
            `{"owners": int, "steps": {step: {count: int}}, "seconds": {step: float}, "now", "dry_run", "change_ids"}`:
            the round of each owner of whom something changed is one change set (see `undo`). Of a dry run also
            `changes`, each with the owner's id, `step`, `memory_id`, `what` and `why`.

        Raises:
            InvalidInputError: more than one id, or an unusable one; a time that is none.
            StoreError: the store could not do it; what was done by then stays.
        """
        ids = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        return await self._go_round(DAILY, Cause.MAINTENANCE, whose=ids, now=now, dry_run=dry_run, progress=progress)

    async def _go_round(
        self,
        daily: Mapping[str, Step],
        cause: Cause,
        *,
        whose: Mapping[str, str | None],
        now: datetime | str | float | None,
        dry_run: bool,
        progress: Callable[[int, int], None] | None = None,
    ) -> Item:
        """These steps of the round, of the owner that the ids of `whose` name or of all; told as `upkeep` tells it."""
        moment = checked_time(now, "now") or self._components.clock.now()
        dry = checked_flag(dry_run, "dry_run")
        host = Host()
        using = await self._upkeeping(host)
        owners = await self._owners_meant(**whose)
        tally, change = _Tally(with_changes=dry), ChangeSet(cause)

        async def rounds() -> None:
            for done, scope in enumerate(owners, 1):
                await using.breathe()
                within = replace(using, store=using.store.within(change))
                tally.add(await go_round(within, scope, steps=daily, now=moment, dry_run=dry))
                if progress is not None:
                    host.soon(progress, done, len(owners))

        await beside(rounds)
        ids = [*change.ids.values()]
        return {"owners": len(owners), **tally.told(), "now": moment.isoformat(), "dry_run": dry, "change_ids": ids}

    async def _upkeeping(self, host: Host) -> Upkeeping:
        """The components that the steps of the upkeep work with beside the host's loop, with the embedder loaded."""
        components, using = self._components, await self._using()
        asking = components.chat.asking
        return Upkeeping(
            components.store,
            using.embedder and HostedEmbedder(using.embedder, host),
            components.ids,
            _upkeep_policy(components.settings),
            asking=HostedChatModel(asking.model, host) if asking else None,
            breathe=partial(components.traffic.quiet, at_most=_PATIENCE_SECONDS),
        )

    async def _owners_meant(self, **ids: str | None) -> list[Scope]:
        named = {name: value for name, value in ids.items() if value is not None}
        if len(named) > 1:
            raise InvalidInputError("upkeep is about everything of an owner: give one of user_id, agent_id and run_id")
        tenant = self._components.settings.tenant
        if named:
            return [Scope(**named, tenant=tenant)]
        return [Scope.of(owner) for owner in await self._components.store.owners(tenant, deleted=True)]


class _Tally:
    """The reports of many owners, summed up."""

    def __init__(self, *, with_changes: bool) -> None:
        self._steps: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._changes: list[Item] | None = [] if with_changes else None

    def add(self, report: RoundReport) -> None:
        for step in report.steps:
            self._steps[step.step].update(step.counts)
        for name, seconds in report.seconds.items():
            self._seconds[name] += seconds
        if self._changes is not None:
            self._changes += changes_of(report)

    def told(self) -> Item:
        steps = {name: dict(counts) for name, counts in self._steps.items()}
        seconds = {name: round(spent, 3) for name, spent in self._seconds.items()}
        changes = {} if self._changes is None else {"changes": self._changes}
        return {"steps": steps, "seconds": seconds, **changes}


def changes_of(report: RoundReport) -> list[Item]:
    """What a round changed, or would, as plain dicts."""
    owner = report.scope.owner
    return [
        {
            f"{owner.kind}_id": owner.name,
            "step": step.step,
            "memory_id": one.memory_id,
            "what": one.what,
            "why": one.why,
        }
        for step in report.steps
        for one in step.changes
    ]


def _upkeep_policy(settings: Settings) -> UpkeepPolicy:
    return UpkeepPolicy(
        curve=EXPONENTIAL if settings.forgetting_curve == "exponential" else POWER_LAW,
        grace_days=settings.grace_days,
        undo_days=settings.undo_days,
        ttl_on=settings.ttl,
        capacity_bytes=settings.capacity_bytes,
        importance=settings.importance,
        merge_from=settings.merge_from,
        summarize_from=settings.summarize_from,
        habit_from=settings.habit_from,
        embedding_seconds=settings.embedding_timeout_seconds,
        llm_timeout_seconds=settings.llm_timeout_seconds,
    )
