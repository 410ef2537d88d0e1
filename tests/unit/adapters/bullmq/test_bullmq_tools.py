"""What BullMQ's own tools see of our jobs, and what ours makes of what they do."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from ebbing.adapters.system.machine import SystemClock
from ebbing.domain.errors import ConfigurationError, InvalidInputError
from ebbing.domain.memory.scope import Scope
from ebbing.ports.job_queue import Job, JobState, NewJob
from tests.bullmq_queue import NEEDS_BULLMQ, empty_queue, queue_at
from tests.redis_server import ADDRESS, connection_to

if TYPE_CHECKING:
    from ebbing.adapters.bullmq import BullMqJobQueue

pytestmark = [pytest.mark.extended, NEEDS_BULLMQ, pytest.mark.anyio]

MINUTE = timedelta(minutes=1)
ADA = Scope("ada", run_id="r1")
PREFIX = "ebbing:jobs"
PROGRAM = shutil.which("node")
MODULES = Path("node_modules").absolute()


@pytest.fixture
async def queue() -> AsyncIterator[BullMqJobQueue]:
    async with empty_queue(SystemClock()) as queue:
        yield queue


@asynccontextmanager
async def bullmqs_own(kind: str) -> AsyncIterator[Any]:
    """A queue as BullMQ's package for Python opens it."""
    from bullmq import Queue

    queue = Queue(kind, {"connection": ADDRESS, "prefix": PREFIX})
    yield queue
    await queue.close()


async def claimed(queue: BullMqJobQueue, kind: str = "decay") -> Job:
    job = await queue.claim([kind], lease=MINUTE)
    assert job is not None
    return job


async def one_in_each_state(queue: BullMqJobQueue) -> None:
    await queue.enqueue("decay", "done")
    await queue.complete(await claimed(queue))
    await queue.enqueue("decay", "dead", max_attempts=1)
    await queue.fail(await claimed(queue), "no model", retry_after=MINUTE)
    await queue.enqueue("decay", "running")
    await queue.renew(await claimed(queue), lease=MINUTE, progress={"rows": 3})
    await queue.enqueue("decay", "waiting", payload={"用户": ["ada"]}, belongs_to=ADA, max_attempts=3)
    await queue.enqueue("decay", "later", run_at=SystemClock().now() + MINUTE)


async def test_its_queue_shows_our_jobs_in_the_states_that_they_are_in(queue: BullMqJobQueue) -> None:
    await one_in_each_state(queue)
    ours = {job.key: str(job.id) for job in await queue.list()}
    async with bullmqs_own("decay") as theirs:
        counts = await theirs.getJobCounts("waiting", "active", "delayed", "completed", "failed")
        assert counts == {"waiting": 1, "active": 1, "delayed": 1, "completed": 1, "failed": 1}
        states = {key: await theirs.getJobState(number) for key, number in ours.items()}
        waiting = await theirs.getJob(ours["waiting"])
        dead, running = await theirs.getJob(ours["dead"]), await theirs.getJob(ours["running"])
        assert await theirs.getDeduplicationJobId("waiting") == ours["waiting"]
        assert await theirs.getDeduplicationJobId("running") is None
    assert states == {
        "done": "completed",
        "dead": "failed",
        "running": "active",
        "waiting": "waiting",
        "later": "delayed",
    }
    assert (waiting.name, waiting.opts["attempts"]) == ("decay", 3)
    about = {"key": "waiting", "payload": {"用户": ["ada"]}, "tenant": "default", "user": "ada", "run": "r1"}
    assert waiting.data == about
    assert (dead.failedReason, dead.attemptsStarted) == ("no model", 1)
    assert (running.progress, running.attemptsStarted) == ({"rows": 3}, 1)


async def test_a_lease_is_a_lock_whose_token_is_the_attempt(queue: BullMqJobQueue) -> None:
    await queue.enqueue("decay", "ada")
    job = await claimed(queue)
    connection = connection_to(ADDRESS)
    lock = f"{PREFIX}:decay:{job.id}:lock"
    assert await connection.call(lambda client: client.get(lock)) == "1"
    assert 55_000 < await connection.call(lambda client: client.pttl(lock)) <= 60_000
    await queue.renew(job, lease=2 * MINUTE)
    assert await connection.call(lambda client: client.pttl(lock)) > 60_000
    await queue.complete(job)
    assert await connection.call(lambda client: client.exists(lock)) == 0
    await connection.aclose()


async def test_a_lock_that_ran_out_by_the_clock_of_redis_is_a_lease_that_was_lost(queue: BullMqJobQueue) -> None:
    await queue.enqueue("decay", "ada")
    job = await claimed(queue)
    connection = connection_to(ADDRESS)
    await connection.call(lambda client: client.delete(f"{PREFIX}:decay:{job.id}:lock"))
    again = await claimed(queue)
    assert (again.id, again.attempts) == (job.id, 2)
    assert await queue.complete(job) is False
    stalled = await connection.call(lambda client: client.hget(f"{PREFIX}:decay:{job.id}", "stc"))
    assert stalled == "1"
    await connection.aclose()


async def test_a_queue_that_was_paused_with_its_tools_holds_its_jobs_back(queue: BullMqJobQueue) -> None:
    await queue.enqueue_all([NewJob("decay", "ada"), NewJob("profile", "ada")])
    async with bullmqs_own("decay") as theirs:
        await theirs.pause()
        assert (await queue.claim(["decay", "profile"], lease=MINUTE)).kind == "profile"  # type: ignore[union-attr]
        assert await queue.claim(["decay", "profile"], lease=MINUTE) is None
        await theirs.resume()
    assert (await claimed(queue)).key == "ada"


async def test_a_dead_job_that_was_retried_with_its_tools_is_handed_out(queue: BullMqJobQueue) -> None:
    number = await queue.enqueue("decay", "ada", max_attempts=1)
    await queue.fail(await claimed(queue), "no model", retry_after=MINUTE)
    async with bullmqs_own("decay") as theirs:
        job = await theirs.getJob(str(number))
        await job.retry()
    again = await claimed(queue)
    assert (again.id, again.attempts) == (number, 2)
    assert await queue.complete(again) is True


async def test_a_job_that_was_removed_with_its_tools_is_gone_and_may_be_added_again(queue: BullMqJobQueue) -> None:
    once = NewJob("daily", "today", once=True)
    await queue.enqueue_all([once])
    [job] = await queue.list()
    async with bullmqs_own("daily") as theirs:
        await theirs.remove(str(job.id))
    assert await queue.get(job.id) is None
    assert await queue.list() == []
    assert await queue.counts() == {}
    assert await queue.enqueue_all([once]) == 1


async def test_nothing_of_a_job_is_left_when_it_is_forgotten(queue: BullMqJobQueue) -> None:
    await queue.enqueue_all([NewJob("decay", f"job {number}", belongs_to=ADA, once=True) for number in range(1_200)])
    await queue.claim(["decay"], lease=MINUTE)
    assert await queue.forget_tenant("default") == 1_200
    connection = connection_to(ADDRESS)
    left = set(await connection.call(lambda client: client.keys("*")))
    await connection.aclose()
    of_queue = {f"{PREFIX}:decay:{name}" for name in ("id", "meta", "events", "marker")}
    assert left <= {*of_queue, f"{PREFIX}.last", f"{PREFIX}.kinds"}


async def test_lists_go_on_beyond_what_one_script_looks_at(queue: BullMqJobQueue) -> None:
    await queue.enqueue_all([NewJob("decay", f"job {number}", belongs_to=ADA) for number in range(1_100)])
    await queue.enqueue("profile", "last")
    assert [job.key for job in await queue.list(kind="decay", limit=1_050)] == [
        f"job {number}" for number in range(1_099, 49, -1)
    ]
    assert await queue.counts(tenant="default") == {
        ("decay", JobState.WAITING): 1_100,
        ("profile", JobState.WAITING): 1,
    }


async def test_ids_are_unique_over_all_queues_also_beside_jobs_of_others(queue: BullMqJobQueue) -> None:
    first = await queue.enqueue("decay", "ada")
    async with bullmqs_own("decay") as theirs:
        added = await theirs.add("strange", {"x": 1})
    assert int(added.id) == first + 1
    second, third = await queue.enqueue("decay", "bob"), await queue.enqueue("profile", "ada")
    assert [second, third] == [first + 2, first + 3]
    assert [job.id for job in await queue.list()] == [third, second, first]


@pytest.mark.parametrize("kind", ["", "a:b", "a\nb"])
async def test_a_kind_that_can_name_no_queue_is_refused(queue: BullMqJobQueue, kind: str) -> None:
    with pytest.raises(InvalidInputError, match="kind"):
        await queue.enqueue(kind, "ada")


async def test_broken_unicode_is_refused(queue: BullMqJobQueue) -> None:
    for job in (NewJob("decay", "\ud800"), NewJob("decay", "ada", {"a": "\ud800"})):
        with pytest.raises(InvalidInputError, match="Unicode"):
            await queue.enqueue_all([NewJob("decay", "bob"), job])
    assert await queue.list() == []


async def test_another_bullmq_than_ours_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from ebbing.adapters.bullmq import scripts

    def missing(name: str) -> str:
        raise FileNotFoundError(name)

    monkeypatch.setattr(scripts, "loadScript", missing)
    scripts.loaded_scripts.cache_clear()
    with pytest.raises(ConfigurationError, match=r"pip install 'ebbing\[bullmq\]'"):
        queue_at(ADDRESS, SystemClock())
    scripts.loaded_scripts.cache_clear()


NODE = """
const { Queue } = require("bullmq");
(async () => {
  const queue = new Queue("decay", { prefix: "PREFIX", connection: { url: process.argv[1] } });
  const counts = await queue.getJobCounts("waiting", "active", "delayed", "completed", "failed");
  const jobs = (await queue.getJobs(["waiting", "failed"])).map((job) => [job.data.key, job.failedReason ?? null]);
  console.log(JSON.stringify({ counts, jobs: jobs.sort() }));
  await queue.close();
})();
""".replace("PREFIX", PREFIX)


@pytest.mark.skipif(
    PROGRAM is None or not (MODULES / "bullmq").is_dir(),
    reason="no BullMQ for Node: npm install --no-save bullmq ioredis",
)
async def test_bullmq_for_node_shows_our_jobs_too(queue: BullMqJobQueue) -> None:
    await one_in_each_state(queue)
    done = await anyio.run_process([str(PROGRAM), "-e", NODE, ADDRESS], cwd=MODULES.parent)
    shown = json.loads(done.stdout)
    assert shown["counts"] == {"waiting": 1, "active": 1, "delayed": 1, "completed": 1, "failed": 1}
    assert shown["jobs"] == [["dead", "no model"], ["waiting", None]]
