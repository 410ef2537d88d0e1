"""The contract of `ports.job_queue.JobQueue` as tests. An adapter gives `open_queue`, as with the store suite."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from datetime import timedelta

import anyio
import pytest

from ebbing.domain.errors import InvalidInputError
from ebbing.ports.clock import Clock
from ebbing.ports.job_queue import Job, JobQueue, JobState
from ebbing.testing.clock import ManualClock

MINUTE = timedelta(minutes=1)


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
        assert await queue.list() == []
