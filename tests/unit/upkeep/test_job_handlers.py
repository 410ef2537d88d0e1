"""The jobs of the upkeep: a round for each owner once a day, single steps for everybody, each where it left off."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import anyio
import pytest

from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.domain.errors import StoreError
from ebbing.domain.forgetting.policy import UpkeepPolicy
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.ports.job_queue import Job, JobState, NewJob
from ebbing.ports.stores.memory_store import Insert
from ebbing.testing.chance import FixedChance
from ebbing.testing.clock import ManualClock
from ebbing.testing.ids import SequentialIds
from ebbing.upkeep.job_handlers import JobHandlers
from ebbing.upkeep.step import Step, StepContext, StepReport
from ebbing.upkeep.worker.schedule import usual
from ebbing.upkeep.worker.stop_signal import Stop
from ebbing.upkeep.worker.worker import WorkerDeps, WorkerLimits, WorkerStats, run_worker

pytestmark = pytest.mark.anyio

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
ADA, BOB, EVE = Scope("ada"), Scope("bob"), Scope("eve", tenant="acme")


class House:
    """A store with three owners in two tenants, and steps that note whom they looked after."""

    def __init__(self, *names: str, seconds_per_owner: float = 10) -> None:
        self.clock = ManualClock(START)
        self.store = SqliteMemoryStore.in_memory(clock=self.clock)
        self.stop = Stop()
        self.ran: list[tuple[str, str | None]] = []
        self.told: list[Scope] = []
        self.hooks: dict[tuple[str, str | None], Callable[[], object]] = {}
        upkeeping = StepContext(self.store, None, SequentialIds(), UpkeepPolicy())
        steps = {name: self.step(name) for name in names}
        self.duties = JobHandlers(
            upkeeping, steps, self.clock, seconds_per_owner, keep_done=timedelta(days=7), after_round=self.note
        )

    async def note(self, scope: Scope) -> None:
        self.told.append(scope)

    def step(self, name: str) -> Step:
        async def run(deps: StepContext, scope: Scope, *, now: datetime, dry_run: bool = False) -> StepReport:
            self.ran.append((name, scope.user_id))
            hook = self.hooks.pop((name, scope.user_id), None)
            outcome = hook() if hook else None
            if asyncio.iscoroutine(outcome):
                await outcome
            return StepReport(name)

        return run

    async def fill(self, *scopes: Scope) -> None:
        for scope in scopes or (ADA, BOB, EVE):
            record = MemoryRecord(f"m of {scope}", scope, "likes tea", START, START)
            await self.store.write(scope, [Insert(record, None)])

    async def work(self, *, planned: bool = True) -> WorkerStats:
        working = WorkerDeps(
            self.store.jobs,
            self.clock,
            FixedChance(1.0),
            self.duties.by_kind(),
            rhythms=usual(hour=3) if planned else (),
            tenants=self.store.tenants,
            pace=WorkerLimits(idle_seconds=0.01),
        )
        with anyio.fail_after(10):
            return await run_worker(working, stop=self.stop, once=True)

    async def rounds(self) -> list[Job]:
        return [job for job in await self.store.jobs.list(kind="daily") if job.belongs_to]


def fails() -> None:
    raise StoreError("disk full")


async def test_every_owner_of_every_tenant_has_one_round_a_day_and_is_told_of() -> None:
    house = House("decay", "expire")
    await house.fill()
    await house.work()
    assert Counter(house.told) == {ADA: 1, BOB: 1, EVE: 1}
    assert house.ran.count(("decay", "ada")) == 1
    assert house.ran.index(("expire", "ada")) < house.ran.index(("decay", "ada"))
    before = len(house.ran)
    await house.work()
    assert len(house.ran) == before
    house.clock.advance(timedelta(days=1))
    await house.work()
    assert Counter(house.told) == {ADA: 2, BOB: 2, EVE: 2}


async def test_a_round_that_fails_is_tried_again_from_the_step_that_failed_and_stops_nobody_else() -> None:
    house = House("expire", "decay", "purge")
    await house.fill()
    await house.store.jobs.enqueue_all([NewJob("daily", "today", tenant="default")])
    house.hooks["decay", "ada"] = fails
    assert await house.work(planned=False) == WorkerStats(done=2, failed=1)
    assert house.told == [BOB]
    [waiting] = await house.store.jobs.list(state=JobState.WAITING)
    assert (waiting.belongs_to, waiting.last_error, waiting.progress) == (ADA, "store", {"steps": ["expire"]})
    house.ran.clear()
    house.clock.advance(timedelta(hours=1))
    assert await house.work(planned=False) == WorkerStats(done=1)
    assert house.ran == [("decay", "ada"), ("purge", "ada")]


async def test_a_round_that_takes_too_long_goes_on_later() -> None:
    house = House("compress", "decay", seconds_per_owner=0.05)
    await house.store.jobs.enqueue("daily", "ada", belongs_to=ADA)
    house.hooks["decay", "ada"] = lambda: anyio.sleep(5)
    assert await house.work(planned=False) == WorkerStats(failed=1)
    assert (await house.store.jobs.list())[0].last_error == "out_of_time"
    house.clock.advance(timedelta(hours=1))
    assert await house.work(planned=False) == WorkerStats(done=1)


async def test_a_worker_that_is_told_to_stop_leaves_a_round_between_two_steps() -> None:
    house = House("expire", "compress", "decay")
    await house.store.jobs.enqueue("daily", "ada", belongs_to=ADA)
    house.hooks["compress", "ada"] = house.stop.set
    assert await house.work(planned=False) == WorkerStats(given_back=1)
    house.stop = Stop()
    assert await house.work(planned=False) == WorkerStats(done=1)
    assert [name for name, _ in house.ran] == ["expire", "compress", "decay"]


async def test_what_expires_is_looked_for_every_hour_and_one_bad_owner_stops_no_other() -> None:
    house = House("expire")
    await house.fill()
    await house.store.jobs.enqueue("expire", "now")
    house.hooks["expire", "ada"] = fails
    assert await house.work(planned=False) == WorkerStats(failed=1)
    assert house.ran == [("expire", "ada"), ("expire", "bob")]
    house.clock.advance(timedelta(hours=1))
    assert await house.work(planned=False) == WorkerStats(done=1)
    assert house.ran[2:] == [("expire", "ada"), ("expire", "bob")]
    house.ran.clear()
    house.clock.advance(timedelta(hours=1))
    await house.work()
    assert sorted(str(user) for name, user in house.ran if name == "expire")[-1] == "eve"


async def test_a_step_for_everybody_goes_on_where_it_was_left() -> None:
    house = House("expire")
    await house.fill()
    await house.store.jobs.enqueue("expire", "now")
    house.hooks["expire", "ada"] = house.stop.set
    assert await house.work(planned=False) == WorkerStats(given_back=1)
    house.stop = Stop()
    assert await house.work(planned=False) == WorkerStats(done=1)
    assert house.ran == [("expire", "ada"), ("expire", "bob")]


async def test_a_step_can_be_asked_for_one_owner_alone() -> None:
    house = House("decay")
    await house.fill()
    await house.store.jobs.enqueue("decay", "ada", belongs_to=ADA)
    await house.work(planned=False)
    assert house.ran == [("decay", "ada")]


async def test_an_owner_who_has_only_deleted_memories_left_is_looked_after_too() -> None:
    house = House("purge")
    record = MemoryRecord("m", ADA, "likes tea", START, START, deleted_at=START)
    await house.store.write(ADA, [Insert(record, None)])
    await house.work()
    assert ("purge", "ada") in house.ran


async def test_no_job_holds_a_name_in_its_key_and_all_of_an_owner_go_with_the_owner() -> None:
    house = House("decay")
    await house.fill()
    await house.work()
    assert not any(name in job.key for job in await house.store.jobs.list() for name in ("ada", "bob", "eve"))
    assert await house.store.jobs.forget(ADA) == 1
    assert {job.belongs_to for job in await house.rounds()} == {BOB, EVE}


async def test_finished_jobs_are_dropped_after_some_days() -> None:
    house = House("decay")
    await house.fill()
    await house.work()
    for _ in range(8):
        house.clock.advance(timedelta(days=1))
        await house.work()
    assert min(job.run_at for job in await house.rounds()) > START
