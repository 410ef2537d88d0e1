"""The contract of `ports.job_queue.JobQueue` as tests. An adapter gives `open_queue`, as with the store suite."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from datetime import timedelta

import anyio
import pytest

from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.scope import Scope
from ebbing.ports.clock import Clock
from ebbing.ports.job_queue import Job, JobQueue, JobState, NewJob
from ebbing.testing.clock import ManualClock

MINUTE = timedelta(minutes=1)
ADA = Scope(user_id="ada")


@pytest.mark.anyio
class JobQueueSuite:
    """Everything that a job queue promises. Needs pytest, and a fixture `anyio_backend` that returns "asyncio"."""

    clock: ManualClock

    def open_queue(self, clock: Clock) -> AbstractAsyncContextManager[JobQueue]:
        """An empty queue that is closed, and gone, at the end of the context."""
        raise NotImplementedError

    @pytest.fixture
    async def queue(self) -> AsyncIterator[JobQueue]:
        """A fresh queue for one test."""
        self.clock = ManualClock()
        async with self.open_queue(self.clock) as queue:
            yield queue

    async def claimed(self, queue: JobQueue, *kinds: str) -> Job:
        """The job that is due, leased for a minute."""
        job = await queue.claim(kinds or ("decay",), lease=MINUTE)
        assert job is not None
        return job

    async def states(self, queue: JobQueue) -> list[JobState]:
        """The states of all jobs, oldest first."""
        return [job.state for job in reversed(await queue.list())]

    async def test_a_job_is_handed_out_with_what_it_needs(self, queue: JobQueue) -> None:
        number = await queue.enqueue("decay", "ada", payload={"用户": ["ada", 1, None]})
        job = await self.claimed(queue)
        assert (job.id, job.kind, job.key, job.payload) == (number, "decay", "ada", {"用户": ["ada", 1, None]})
        assert (job.state, job.attempts, job.max_attempts) == (JobState.RUNNING, 1, 5)
        assert (job.run_at, job.leased_until) == (self.clock.now(), self.clock.now() + MINUTE)

    async def test_a_leased_job_is_not_handed_out_again(self, queue: JobQueue) -> None:
        await queue.enqueue("decay", "ada")
        await self.claimed(queue)
        assert await queue.claim(["decay"], lease=MINUTE) is None

    async def test_a_finished_job_is_done_for_good(self, queue: JobQueue) -> None:
        await queue.enqueue("decay", "ada")
        job = await self.claimed(queue)
        assert await queue.complete(job) is True
        assert await queue.complete(job) is False
        self.clock.advance(timedelta(days=1))
        assert await queue.claim(["decay"], lease=MINUTE) is None
        assert await self.states(queue) == [JobState.DONE]

    async def test_only_the_kinds_asked_for_are_handed_out(self, queue: JobQueue) -> None:
        await queue.enqueue("decay", "ada")
        assert await queue.claim(["profile"], lease=MINUTE) is None
        assert await queue.claim([], lease=MINUTE) is None
        assert (await self.claimed(queue, "profile", "decay")).kind == "decay"

    async def test_the_job_that_has_been_due_longest_comes_first(self, queue: JobQueue) -> None:
        now = self.clock.now()
        await queue.enqueue("decay", "second", run_at=now - MINUTE)
        await queue.enqueue("decay", "third", run_at=now - MINUTE)
        await queue.enqueue("decay", "first", run_at=now - 2 * MINUTE)
        assert [(await self.claimed(queue)).key for _ in range(3)] == ["first", "second", "third"]

    async def test_a_job_waits_for_its_time(self, queue: JobQueue) -> None:
        await queue.enqueue("decay", "ada", run_at=self.clock.now() + MINUTE)
        assert await queue.claim(["decay"], lease=MINUTE) is None
        self.clock.advance(MINUTE)
        assert (await self.claimed(queue)).key == "ada"

    async def test_a_job_that_waits_already_is_not_added_again(self, queue: JobQueue) -> None:
        first = await queue.enqueue("decay", "ada", payload={"a": 1})
        assert await queue.enqueue("decay", "ada", payload={"a": 2}) == first
        assert await queue.enqueue("decay", "bob") != first
        assert await queue.enqueue("profile", "ada") != first
        assert (await self.claimed(queue)).payload == {"a": 1}

    async def test_a_job_may_be_added_while_the_last_one_runs(self, queue: JobQueue) -> None:
        first = await queue.enqueue("decay", "ada")
        await self.claimed(queue)
        assert await queue.enqueue("decay", "ada") != first

    async def test_a_failed_job_is_tried_again_later(self, queue: JobQueue) -> None:
        await queue.enqueue("decay", "ada")
        assert await queue.fail(await self.claimed(queue), "no model", retry_after=MINUTE) is True
        assert await queue.claim(["decay"], lease=MINUTE) is None
        self.clock.advance(MINUTE)
        again = await self.claimed(queue)
        assert (again.attempts, again.last_error) == (2, "no model")
        assert await queue.complete(again) is True
        assert (await queue.list())[0].last_error is None

    async def test_a_job_is_dead_after_its_last_attempt(self, queue: JobQueue) -> None:
        await queue.enqueue("decay", "ada", max_attempts=2)
        for _ in range(2):
            await queue.fail(await self.claimed(queue), "no model", retry_after=timedelta(0))
        assert await queue.claim(["decay"], lease=MINUTE) is None
        [job] = await queue.list(state=JobState.DEAD)
        assert (job.attempts, job.last_error, job.leased_until) == (2, "no model", None)

    async def test_a_failed_job_leaves_its_place_to_one_that_waits(self, queue: JobQueue) -> None:
        await queue.enqueue("decay", "ada")
        running = await self.claimed(queue)
        newer = await queue.enqueue("decay", "ada")
        assert await queue.fail(running, "no model", retry_after=timedelta(0)) is True
        assert await self.states(queue) == [JobState.DEAD, JobState.WAITING]
        assert (await self.claimed(queue)).id == newer

    async def test_the_job_of_a_worker_that_died_is_handed_out_again(self, queue: JobQueue) -> None:
        await queue.enqueue("decay", "ada")
        lost = await self.claimed(queue)
        self.clock.advance(MINUTE)
        again = await self.claimed(queue)
        assert (again.id, again.attempts) == (lost.id, 2)
        assert await queue.complete(lost) is False
        assert await queue.fail(lost, "late", retry_after=MINUTE) is False
        assert await self.states(queue) == [JobState.RUNNING]
        assert await queue.complete(again) is True

    async def test_a_job_that_kills_every_worker_is_dead_in_the_end(self, queue: JobQueue) -> None:
        await queue.enqueue("decay", "ada", max_attempts=2)
        for _ in range(2):
            await self.claimed(queue)
            self.clock.advance(MINUTE)
        assert await queue.claim(["decay"], lease=MINUTE) is None
        [job] = await queue.list()
        assert job.state is JobState.DEAD
        assert job.last_error

    async def test_workers_at_once_never_share_a_job(self, queue: JobQueue) -> None:
        for number in range(20):
            await queue.enqueue("decay", str(number))
        done: list[str] = []

        async def work() -> None:
            while job := await queue.claim(["decay"], lease=MINUTE):
                done.append(job.key)
                assert await queue.complete(job)

        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(work)
        assert sorted(done, key=int) == [str(number) for number in range(20)]

    # ── long work ────────────────────────────────────────────────────────────────────────────────────────────────────

    async def test_a_renewed_lease_keeps_others_away_and_notes_how_far_the_work_is(self, queue: JobQueue) -> None:
        await queue.enqueue("decay", "ada")
        job = await self.claimed(queue)
        self.clock.advance(MINUTE / 2)
        assert await queue.renew(job, lease=MINUTE, progress={"步骤": 3}) is True
        self.clock.advance(MINUTE * 0.75)
        assert await queue.claim(["decay"], lease=MINUTE) is None
        assert await queue.renew(job, lease=MINUTE) is True
        [seen] = await queue.list()
        assert (seen.progress, seen.leased_until) == ({"步骤": 3}, self.clock.now() + MINUTE)
        assert await queue.complete(job) is True

    async def test_progress_is_there_for_the_next_attempt(self, queue: JobQueue) -> None:
        await queue.enqueue("decay", "ada")
        await queue.renew(await self.claimed(queue), lease=MINUTE, progress={"done": 3})
        self.clock.advance(MINUTE)
        assert (await self.claimed(queue)).progress == {"done": 3}

    async def test_a_lease_that_another_worker_has_cannot_be_renewed(self, queue: JobQueue) -> None:
        await queue.enqueue("decay", "ada")
        lost = await self.claimed(queue)
        self.clock.advance(MINUTE)
        mine = await self.claimed(queue)
        assert await queue.renew(lost, lease=MINUTE, progress={"done": 9}) is False
        assert (await queue.list())[0].progress == {}
        assert await queue.renew(mine, lease=MINUTE) is True

    async def test_a_job_given_back_is_handed_out_at_once_and_not_counted_as_tried(self, queue: JobQueue) -> None:
        await queue.enqueue("decay", "ada", max_attempts=1)
        job = await self.claimed(queue)
        assert await queue.release(job) is True
        assert await queue.release(job) is False
        again = await self.claimed(queue)
        assert (again.id, again.attempts) == (job.id, 1)
        assert await queue.complete(again) is True

    async def test_a_job_given_back_makes_way_for_one_that_waits(self, queue: JobQueue) -> None:
        await queue.enqueue("decay", "ada")
        claims = await self.claimed(queue)
        newer = await queue.enqueue("decay", "ada")
        assert await queue.release(claims) is True
        assert [job.id for job in await queue.list()] == [newer]

    # ── many at once, and only once ──────────────────────────────────────────────────────────────────────────────────

    async def test_many_jobs_are_added_together_and_those_that_wait_already_are_left_out(self, queue: JobQueue) -> None:
        await queue.enqueue("decay", "ada")
        names = ("ada", "bob", "eve", "bob")
        assert await queue.enqueue_all([NewJob("decay", name) for name in names]) == 2
        assert await queue.enqueue_all([]) == 0
        assert [job.key for job in await queue.list()] == ["eve", "bob", "ada"]

    @pytest.mark.parametrize("end", ["waiting", "running", "done", "dead"])
    async def test_what_is_to_be_done_once_is_not_added_again_however_it_ended(self, queue: JobQueue, end: str) -> None:
        today = NewJob("daily", "ada/2026-01-01", once=True, max_attempts=1)
        assert await queue.enqueue_all([today]) == 1
        if end != "waiting":
            job = await self.claimed(queue, "daily")
            if end == "done":
                await queue.complete(job)
            elif end == "dead":
                await queue.fail(job, "no", retry_after=timedelta(0))
        assert await queue.enqueue_all([today]) == 0
        assert await queue.enqueue_all([NewJob("daily", "ada/2026-01-02", once=True)]) == 1
        assert [str(state) for state in await self.states(queue)] == [end, "waiting"]

    async def test_workers_that_plan_the_same_day_at_once_plan_it_once(self, queue: JobQueue) -> None:
        day = [NewJob("daily", f"{name}/2026-01-01", once=True) for name in range(20)]
        added: list[int] = []

        async def plan() -> None:
            added.append(await queue.enqueue_all(day))

        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(plan)
        assert sum(added) == 20
        assert await queue.counts() == {("daily", JobState.WAITING): 20}

    # ── seen and looked after ────────────────────────────────────────────────────────────────────────────────────────

    async def test_jobs_are_counted_by_kind_and_state(self, queue: JobQueue) -> None:
        assert await queue.counts() == {}
        for name in ("ada", "bob", "eve"):
            await queue.enqueue("decay", name)
        await queue.enqueue_all([NewJob("profile", "all", tenant="acme")])
        await queue.complete(await self.claimed(queue))
        await self.claimed(queue)
        assert await queue.counts() == {
            ("decay", JobState.DONE): 1,
            ("decay", JobState.RUNNING): 1,
            ("decay", JobState.WAITING): 1,
            ("profile", JobState.WAITING): 1,
        }
        assert await queue.counts(tenant="acme") == {("profile", JobState.WAITING): 1}

    async def test_a_job_is_found_by_its_id(self, queue: JobQueue) -> None:
        number = await queue.enqueue("decay", "ada", belongs_to=ADA)
        job = await queue.get(number)
        assert job is not None
        assert (job.key, job.belongs_to, job.tenant) == ("ada", ADA, "default")
        assert await queue.get(number + 1) is None

    async def test_a_dead_job_can_be_tried_again(self, queue: JobQueue) -> None:
        number = await queue.enqueue("decay", "ada", max_attempts=1)
        await queue.fail(await self.claimed(queue), "no model", retry_after=MINUTE)
        again = await queue.requeue(number, tries=2)
        assert again is not None
        assert (again.state, again.ended_at, again.last_error) == (JobState.WAITING, None, "no model")
        for _ in range(2):
            await queue.fail(await self.claimed(queue), "still none", retry_after=timedelta(0))
        [job] = await queue.list()
        assert (job.state, job.ended_at) == (JobState.DEAD, self.clock.now())

    async def test_a_worker_from_before_a_job_died_cannot_finish_it_after_it_was_revived(self, queue: JobQueue) -> None:
        number = await queue.enqueue("decay", "ada", max_attempts=1)
        lost = await self.claimed(queue)
        self.clock.advance(MINUTE)
        assert await queue.claim(["decay"], lease=MINUTE) is None  # buried
        await queue.requeue(number)
        await self.claimed(queue)
        assert await queue.complete(lost) is False

    async def test_only_a_dead_job_without_a_successor_can_be_revived(self, queue: JobQueue) -> None:
        number = await queue.enqueue("decay", "ada", max_attempts=1)
        assert await queue.requeue(number) is None
        await queue.fail(await self.claimed(queue), "no model", retry_after=MINUTE)
        await queue.enqueue("decay", "ada")
        assert await queue.requeue(number) is None
        assert await queue.requeue(number + 99) is None

    async def test_what_is_done_is_dropped_after_a_while_and_what_was_given_up_is_not(self, queue: JobQueue) -> None:
        for name in ("ada", "bob"):
            await queue.enqueue("decay", name, max_attempts=1)
        await queue.fail(await self.claimed(queue), "no model", retry_after=MINUTE)
        await queue.complete(await self.claimed(queue))
        assert await queue.drop_done(before=self.clock.now()) == 0
        self.clock.advance(MINUTE)
        assert await queue.drop_done(before=self.clock.now()) == 1
        assert await self.states(queue) == [JobState.DEAD]

    # ── whose they are ───────────────────────────────────────────────────────────────────────────────────────────────

    @pytest.mark.parametrize(
        ("scope", "left"),
        [
            (ADA, {"by nobody", "bob", "ada elsewhere", "nova", "r1"}),
            (
                Scope(user_id="ada", run_id="r1"),
                {"by nobody", "ada", "ada, nova", "bob", "ada elsewhere", "nova", "r1"},
            ),
            (Scope(agent_id="nova"), {"by nobody", "ada", "ada, r1", "ada, nova", "bob", "ada elsewhere", "r1"}),
            (Scope(run_id="r1"), {"by nobody", "ada", "ada, r1", "ada, nova", "bob", "ada elsewhere", "nova"}),
        ],
    )
    async def test_forgetting_somebody_leaves_no_job_about_them_and_every_other(
        self, queue: JobQueue, *, scope: Scope, left: set[str]
    ) -> None:
        jobs = {
            "by nobody": None,
            "ada": ADA,
            "ada, r1": Scope("ada", run_id="r1"),
            "ada, nova": Scope("ada", "nova"),
            "bob": Scope("bob"),
            "ada elsewhere": Scope("ada", tenant="acme"),
            "nova": Scope(agent_id="nova"),
            "r1": Scope(run_id="r1"),
        }
        await queue.enqueue_all([NewJob("decay", name, belongs_to=owner) for name, owner in jobs.items()])
        assert await queue.forget(scope) == len(jobs) - len(left)
        assert {job.key for job in await queue.list()} == left

    async def test_a_job_in_hand_is_forgotten_too(self, queue: JobQueue) -> None:
        await queue.enqueue("decay", "ada", belongs_to=ADA)
        job = await self.claimed(queue)
        assert await queue.forget(ADA) == 1
        assert await queue.renew(job, lease=MINUTE) is False
        assert await queue.complete(job) is False
        assert await queue.list() == []

    async def test_the_jobs_of_a_person_are_handed_over_whatever_their_state(self, queue: JobQueue) -> None:
        bob = Scope("bob")
        for key in ("running", "done", "waiting"):
            await queue.enqueue("extract", key, payload={"user_id": "bob", "list": []}, belongs_to=bob)
        await queue.enqueue("extract", "of ada", belongs_to=ADA)
        await queue.enqueue("extract", "with nova", payload={"other": 1}, belongs_to=Scope("bob", "nova"))
        await queue.enqueue("extract", "elsewhere", belongs_to=Scope("bob", tenant="acme"))
        lost = await self.claimed(queue, "extract")
        await queue.complete(await self.claimed(queue, "extract"))
        assert await queue.hand_over("default", "ada", gone="bob") == 4
        assert await queue.complete(lost) is False
        jobs = {job.key: job for job in await queue.list()}
        assert {key: str(job.state) for key, job in jobs.items() if job.state is not JobState.WAITING} == {
            "done": "done"
        }
        assert jobs["running"].payload == {"user_id": "ada", "list": []}
        assert jobs["running"].belongs_to == jobs["done"].belongs_to == ADA
        assert jobs["with nova"].belongs_to == Scope("ada", "nova")
        assert jobs["with nova"].payload == {"other": 1}
        assert jobs["elsewhere"].belongs_to == Scope("bob", tenant="acme")
        assert (await self.claimed(queue, "extract")).id == lost.id
        assert await queue.forget(ADA) == 5

    async def test_a_job_handed_over_in_hand_makes_way_for_one_that_waits(self, queue: JobQueue) -> None:
        await queue.enqueue("extract", "same", belongs_to=Scope("bob"))
        await self.claimed(queue, "extract")
        newer = await queue.enqueue("extract", "same", belongs_to=Scope("bob"))
        assert await queue.hand_over("default", "ada", gone="bob") == 2
        assert [(job.id, job.belongs_to) for job in await queue.list()] == [(newer, ADA)]

    async def test_a_tenants_jobs_are_listed_and_forgotten_apart(self, queue: JobQueue) -> None:
        await queue.enqueue_all(
            [NewJob("sweep", "all"), NewJob("sweep", "acme", tenant="acme"), NewJob("decay", "x", belongs_to=ADA)]
        )
        assert [job.key for job in await queue.list(tenant="acme")] == ["acme"]
        assert [job.key for job in await queue.list(kind="decay")] == ["x"]
        assert await queue.forget_tenant("default") == 2
        assert [job.key for job in await queue.list()] == ["acme"]

    async def test_jobs_are_listed_newest_first(self, queue: JobQueue) -> None:
        numbers = [await queue.enqueue("decay", str(number)) for number in range(3)]
        await self.claimed(queue)
        assert [job.id for job in await queue.list()] == numbers[::-1]
        assert [job.id for job in await queue.list(state=JobState.WAITING)] == [numbers[2], numbers[1]]
        assert [job.id for job in await queue.list(limit=1)] == [numbers[2]]

    async def test_what_cannot_be_a_job_is_refused(self, queue: JobQueue) -> None:
        with pytest.raises(InvalidInputError):
            await queue.enqueue("decay", "ada", payload={"when": self.clock.now()})
        with pytest.raises(InvalidInputError):
            await queue.enqueue("decay", "ada", max_attempts=0)
        with pytest.raises(InvalidInputError):
            await queue.enqueue_all([NewJob("decay", "bob"), NewJob("decay", "ada", {"when": self.clock.now()})])
        with pytest.raises(InvalidInputError):
            NewJob("decay", "ada", belongs_to=ADA, tenant="acme")
        assert await queue.list() == []
