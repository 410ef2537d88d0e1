"""A worker: plans what is due, does it, settles it, keeps out of the way, and stops when it is told."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import pytest

from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.adapters.sqlite.tables.jobs import SqliteJobQueue
from ebbing.domain.errors import ConflictError, StoreError
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import term_hash
from ebbing.language.text.analyzer import analyse
from ebbing.ports.job_queue import Job, JobState, NewJob
from ebbing.testing.chance import FixedChance
from ebbing.testing.clock import ManualClock
from ebbing.upkeep.worker.foreground_traffic import Traffic
from ebbing.upkeep.worker.schedule import DAY, ScheduleEntry
from ebbing.upkeep.worker.stop_signal import Stop
from ebbing.upkeep.worker.worker import (
    STOPPED,
    JobContext,
    JobFailure,
    Worker,
    WorkerDeps,
    WorkerLimits,
    WorkerStats,
    run_worker,
)

pytestmark = pytest.mark.anyio

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


class Workshop:
    """A queue, a clock, and one duty that does as it is told."""

    def __init__(self, *outcomes: Any, **options: Any) -> None:
        self.clock = ManualClock(START)
        self.store = SqliteMemoryStore.in_memory(clock=self.clock)
        self.queue = self.store.jobs
        self.outcomes = list(outcomes)
        self.done: list[str] = []
        pace = options.pop("pace", WorkerLimits(idle_seconds=0.01))
        self.deps = WorkerDeps(
            self.queue, self.clock, FixedChance(1.0), {"chore": self.chore, "other": self.chore}, pace=pace, **options
        )
        self.stop = Stop()

    async def chore(self, job: Job, at_work: JobContext) -> JobFailure | None:
        self.done.append(job.key)
        outcome = self.outcomes.pop(0) if self.outcomes else None
        if callable(outcome) and not isinstance(outcome, JobFailure):
            outcome = await outcome(job, at_work)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    async def run(self, *, once: bool = True) -> WorkerStats:
        with anyio.fail_after(10):
            return await run_worker(self.deps, stop=self.stop, once=once)

    async def states(self) -> list[JobState]:
        return [job.state for job in reversed(await self.queue.list())]


async def eventually(is_so: Callable[[], bool]) -> None:
    with anyio.fail_after(10):
        while not is_so():  # noqa: ASYNC110 - what is waited for has no event
            await anyio.sleep(0.005)


# ── settling ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_worker_does_everything_that_is_due_and_nothing_else() -> None:
    shop = Workshop()
    for key in ("a", "b"):
        await shop.queue.enqueue("chore", key)
    await shop.queue.enqueue("chore", "tomorrow", run_at=START + DAY)
    await shop.queue.enqueue("strange", "of another program")
    assert await shop.run() == WorkerStats(done=2)
    assert shop.done == ["a", "b"]


async def test_work_of_the_kind_that_comes_first_is_done_first() -> None:
    shop = Workshop()
    await shop.queue.enqueue("other", "bulk", run_at=START - DAY)
    await shop.queue.enqueue("chore", "urgent")
    await shop.run()
    assert shop.done == ["urgent", "bulk"]


async def test_a_job_that_fails_waits_longer_each_time_and_is_dead_in_the_end() -> None:
    shop = Workshop(*[StoreError("disk full: 张伟's file")] * 3)
    await shop.queue.enqueue("chore", "a", max_attempts=3)
    for wait in (1, 2):
        assert await shop.run() == WorkerStats(failed=1)
        [job] = await shop.queue.list()
        assert (job.last_error, job.run_at - shop.clock.now()) == ("store", wait * MINUTE)
        shop.clock.advance(wait * MINUTE)
    assert await shop.run() == WorkerStats(failed=1)
    assert await shop.states() == [JobState.DEAD]


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (ConflictError("x"), "conflict"),
        (TimeoutError(), "out_of_time"),
        (ZeroDivisionError("secret"), "unexpected ZeroDivisionError"),
        (asyncio.CancelledError(), "unexpected CancelledError"),
    ],
)
async def test_whatever_a_job_raises_the_worker_lives_and_tells_no_more_than_a_code(
    raised: BaseException, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    shop = Workshop(raised)
    for key in ("bad", "good"):
        await shop.queue.enqueue("chore", key)
    assert await shop.run() == WorkerStats(done=1, failed=1)
    assert (await shop.queue.list())[1].last_error == told
    assert "secret" not in caplog.text


async def test_a_kind_that_rests_leaves_its_other_jobs_untried_until_it_is_over() -> None:
    shop = Workshop(JobFailure("model_unavailable", 10 * MINUTE, rests=True))
    for key in ("a", "b"):
        await shop.queue.enqueue("chore", key)
    await shop.queue.enqueue("other", "c")
    worker = Worker(shop.deps)
    assert [await worker.do_next() for _ in range(3)] == [True, True, False]
    assert shop.done == ["a", "c"]
    shop.clock.advance(10 * MINUTE)
    assert [await worker.do_next() for _ in range(3)] == [True, True, False]


# ── leases ───────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_long_job_keeps_its_lease_and_tells_how_far_it_is() -> None:
    shop = Workshop(pace=WorkerLimits(lease=timedelta(seconds=0.06)))
    seen: list[Job | None] = []

    async def long(job: Job, at_work: JobContext) -> None:
        for piece in range(8):
            at_work.progress["pieces"] = piece
            shop.clock.advance(timedelta(seconds=0.05))  # together far beyond the lease
            await anyio.sleep(0.03)
        seen.append(await shop.queue.claim(["chore"], lease=MINUTE))
        seen.append((await shop.queue.list())[0])

    shop.outcomes.append(long)
    await shop.queue.enqueue("chore", "long")
    assert await shop.run() == WorkerStats(done=1)
    assert seen[0] is None
    assert seen[1] is not None
    assert seen[1].progress["pieces"] > 3


async def test_work_whose_lease_is_lost_is_given_up_at_once() -> None:
    shop = Workshop(pace=WorkerLimits(lease=timedelta(seconds=0.03)))
    ended: list[str] = []

    async def forgotten(job: Job, at_work: JobContext) -> None:
        await shop.queue.forget_tenant("default")
        try:
            await anyio.sleep(10)
        finally:
            ended.append("cancelled")

    shop.outcomes.append(forgotten)
    await shop.queue.enqueue("chore", "of somebody who left")
    assert await shop.run() == WorkerStats()
    assert ended == ["cancelled"]


# ── stopping ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_worker_that_is_told_to_stop_finishes_its_piece_and_gives_the_rest_back() -> None:
    shop = Workshop()

    async def pieces(job: Job, at_work: JobContext) -> JobFailure | None:
        for piece in range(5):
            at_work.progress["done"] = piece + 1
            if piece == 2:
                shop.stop.set()
            if not await at_work.goes_on():
                return STOPPED
        return None

    shop.outcomes.append(pieces)
    await shop.queue.enqueue("chore", "in pieces", max_attempts=1)
    await shop.queue.enqueue("chore", "never begun")
    assert await shop.run(once=False) == WorkerStats(given_back=1)
    untouched, given = await shop.queue.list()
    assert (untouched.state, untouched.attempts) == (JobState.WAITING, 0)
    assert (given.state, given.attempts, given.progress) == (JobState.WAITING, 0, {"done": 3})


async def test_a_worker_that_rests_keeps_no_word_of_what_it_has_read() -> None:
    async def read(*_: Any) -> None:
        analyse("quokkaberry")
        assert term_hash.cache_info().currsize > 0  # type: ignore[attr-defined]

    shop = Workshop(read)
    term_hash("already here")
    await shop.queue.enqueue("chore", "a")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: shop.run(once=False))
        await eventually(lambda: term_hash.cache_info().currsize == 0)  # type: ignore[attr-defined]
        shop.stop.set()
    assert shop.done == ["a"]


async def test_an_idle_worker_stops_at_once_when_told_from_another_thread() -> None:
    shop = Workshop(pace=WorkerLimits(idle_seconds=600))
    threading.Timer(0.05, shop.stop.set).start()
    assert await shop.run(once=False) == WorkerStats()


async def test_a_worker_that_is_cancelled_gives_its_job_back() -> None:
    shop = Workshop()
    begun = asyncio.Event()

    async def long(job: Job, at_work: JobContext) -> None:
        at_work.progress["begun"] = True
        begun.set()
        await anyio.sleep(60)

    shop.outcomes.append(long)
    await shop.queue.enqueue("chore", "long")
    running = asyncio.ensure_future(run_worker(shop.deps, stop=shop.stop))
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    [job] = await shop.queue.list()
    assert (job.state, job.attempts, job.progress) == (JobState.WAITING, 0, {"begun": True})


async def test_a_worker_sits_out_a_store_that_fails_and_an_only_round_tells_of_it() -> None:
    class Failing(SqliteJobQueue):
        fails = 3

        async def claim(self, *args: Any, **options: Any) -> Job | None:
            if self.fails:
                self.fails -= 1
                raise StoreError("locked")
            return await super().claim(*args, **options)

    shop = Workshop()
    queue = Failing(shop.store._connections, shop.store._writer, clock=shop.clock)
    working = WorkerDeps(queue, shop.clock, FixedChance(), {"chore": shop.chore}, pace=shop.deps.pace)
    await queue.enqueue("chore", "a")
    with pytest.raises(StoreError):
        await run_worker(working, stop=shop.stop, once=True)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: run_worker(working, stop=shop.stop))
        await eventually(lambda: shop.done == ["a"])
        shop.stop.set()


# ── planning ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def two_tenants() -> list[str]:
    return ["acme", "default"]


async def test_a_turn_is_done_once_for_each_tenant_however_many_workers_look() -> None:
    shop = Workshop(
        rhythms=[ScheduleEntry("chore", DAY), ScheduleEntry("other", DAY, for_each_tenant=False)], tenants=two_tenants
    )
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(shop.run)
    assert sorted(shop.done) == [
        "2026-01-01T00:00+00:00",
        "2026-01-01T00:00+00:00 acme",
        "2026-01-01T00:00+00:00 default",
    ]
    assert await shop.run() == WorkerStats()  # a worker that was started anew
    shop.clock.advance(DAY)
    assert await shop.run() == WorkerStats(done=3)


async def test_a_worker_that_goes_on_for_days_takes_up_each_new_turn() -> None:
    shop = Workshop(rhythms=[ScheduleEntry("other", DAY, for_each_tenant=False)], tenants=two_tenants)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: shop.run(once=False))
        for days in (1, 2, 3):
            await eventually(lambda days=days: len(shop.done) == days)  # type: ignore[misc]
            shop.clock.advance(DAY)
        await eventually(lambda: len(shop.done) == 4)
        shop.stop.set()


# ── what is not in the queue, and should be ──────────────────────────────────────────────────────────────────────────


async def test_what_waits_in_the_former_queue_is_moved_when_it_is_due_and_done_once() -> None:
    store = SqliteMemoryStore.in_memory(clock=ManualClock(START))
    former = store.jobs
    shop = Workshop(left_over=former)
    scope = Scope("ada")
    await former.enqueue("chore", "due", payload={"a": 1}, max_attempts=7, belongs_to=scope)
    await former.enqueue("chore", "later", run_at=START + MINUTE)
    await former.enqueue("strange", "not ours")
    await shop.run()
    assert shop.done == ["due"]
    [moved] = await shop.queue.list()
    assert (moved.payload, moved.max_attempts, moved.belongs_to) == ({"a": 1}, 7, scope)
    assert [(job.key, job.state) for job in await former.list()] == [
        ("not ours", JobState.WAITING),
        ("later", JobState.WAITING),
        ("due", JobState.DONE),
    ]
    await store.aclose()


async def test_with_every_turn_the_worker_queues_what_was_lost_on_the_way() -> None:
    shop = Workshop(rhythms=[ScheduleEntry("other", DAY, for_each_tenant=False)], tenants=two_tenants)
    lost = ["accepted"]

    async def recover() -> None:
        await shop.queue.enqueue_all([NewJob("chore", key, once=True) for key in lost])

    shop.deps = replace(shop.deps, recover=recover)
    await shop.run()
    assert sorted(shop.done) == ["2026-01-01T00:00+00:00", "accepted"]
    lost.append("since then")
    shop.clock.advance(DAY)
    await shop.run()
    assert shop.done.count("accepted") == 1
    assert "since then" in shop.done


# ── keeping out of the way ───────────────────────────────────────────────────────────────────────────────────────────


async def test_work_waits_between_its_pieces_for_calls_in_flight_but_not_for_ever() -> None:
    traffic = Traffic()
    shop = Workshop(traffic=traffic, pace=WorkerLimits(patience_seconds=30))
    order: list[str] = []

    async def pieces(job: Job, at_work: JobContext) -> None:
        order.append("first piece")
        await at_work.goes_on()
        order.append("second piece")

    async def call() -> None:
        with traffic:
            await eventually(lambda: bool(order))
            await anyio.sleep(0.05)
            order.append("call")

    shop.outcomes.append(pieces)
    await shop.queue.enqueue("chore", "a")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        tasks.start_soon(shop.run)
    assert order == ["first piece", "call", "second piece"]

    with traffic, anyio.fail_after(5):
        await traffic.quiet(at_most=0.01)
        assert traffic.in_flight == 1
