"""A memory whose jobs are in Redis: workers and writers are killed, and the server goes away and comes back."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ebbing import Memory
from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.adapters.system.machine import SystemClock
from ebbing.domain.errors import StoreError
from ebbing.domain.memory.scope import Scope
from ebbing.ports.job_queue import JobState, NewJob
from ebbing.testing.clock import ManualClock
from ebbing.testing.models.chat_model import ScriptedChatModel
from ebbing.wiring.build import build, load_settings
from tests.acceptance.child_dying_add import SENTENCE
from tests.bullmq_queue import NEEDS_BULLMQ, queue_at
from tests.redis_server import ADDRESS, NEEDS_PROGRAM, connection_to, free_port, own_server

pytestmark = [pytest.mark.extended, NEEDS_BULLMQ]

HERE = Path(__file__).parent
LEASE_SECONDS = 1.0
JOBS_PER_ROUND = 40
FACT = {"text": "User lives in Leeds", "category": "fact", "message": 0, "quote": "my taxes in Leeds", "sure": True}
ADA = Scope("ada")


@pytest.fixture
def address() -> Iterator[str]:
    """Where a Redis is whose database is empty before and after."""
    connection = connection_to(ADDRESS)
    asyncio.run(connection.call(lambda client: client.flushdb()))
    yield ADDRESS
    asyncio.run(connection.call(lambda client: client.flushdb()))


def opened(directory: Path, address: str, *, queue: str = "bullmq", **more: Any) -> Memory:
    settings = {"path": directory, "embedder": "none", "job_queue": queue, "redis_url": address}
    return Memory(components=build(load_settings(settings | {"webhook_private_targets": True}), **more))


# ── killed ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def workers(count: int, *arguments: str) -> list[subprocess.Popen[str]]:
    """So many workers that have all begun."""
    command = [sys.executable, str(HERE / "child_queue_worker.py"), *arguments]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
    return processes


async def counts(address: str, jobs: range = range(0)) -> dict[tuple[str, JobState], int]:
    """The jobs by state, after so many were added."""
    queue = queue_at(address, SystemClock())
    await queue.enqueue_all([NewJob("write", f"job {number}", max_attempts=1_000, belongs_to=ADA) for number in jobs])
    by_state = await queue.counts()
    await queue.aclose()
    return by_state


def length(log: Path) -> int:
    return log.read_text().count("\n") if log.exists() else 0


def kill_workers(log: Path, address: str, rounds: int) -> None:
    chance, in_hand = random.Random(20_260_101), 0
    for number in range(rounds):
        asyncio.run(counts(address, range(number * JOBS_PER_ROUND, (number + 1) * JOBS_PER_ROUND)))
        lines = length(log) + chance.randint(1, JOBS_PER_ROUND)
        processes = workers(2, str(log), address)
        while length(log) < lines and any(process.poll() is None for process in processes):
            time.sleep(0.001)
        for process in processes:
            process.kill()
            process.communicate()
        in_hand += asyncio.run(counts(address)).get(("write", JobState.RUNNING), 0)
    assert in_hand > 0, "no worker was killed while it had a job in hand"
    time.sleep(LEASE_SECONDS)
    [last] = workers(1, str(log), address)
    last.communicate()
    jobs = rounds * JOBS_PER_ROUND
    assert asyncio.run(counts(address)) == {("write", JobState.DONE): jobs}
    acknowledged: dict[str, int] = {}
    begun: dict[str, int] = {}
    for word, attempt, key in (line.split(" ", 2) for line in log.read_text().splitlines()):
        if word == "done":
            assert key not in acknowledged, f"{key} was acknowledged twice"
            acknowledged[key] = int(attempt)
        else:
            begun[key] = max(begun.get(key, 0), int(attempt))
    # Who was slow to begin may be overtaken, and loses the lease; nobody gets what is done already.
    again = {key: attempt for key, attempt in begun.items() if attempt > acknowledged.get(key, attempt)}
    assert again == {}, "handed out after it had been acknowledged as done"
    assert len(begun) == jobs
    assert max(begun.values()) > 1, "no job was handed out again"


def test_the_job_of_a_killed_worker_is_handed_out_again_and_none_that_is_done(tmp_path: Path, address: str) -> None:
    kill_workers(tmp_path / "log", address, rounds=3)


@pytest.mark.slow
def test_twenty_rounds_of_two_killed_workers_lose_nothing_and_do_nothing_twice(tmp_path: Path, address: str) -> None:
    kill_workers(tmp_path / "log", address, rounds=20)


@pytest.mark.parametrize("queue", ["store", "bullmq"])
@pytest.mark.parametrize("what", ["extract", "accept"])
def test_what_was_stored_by_a_process_that_died_before_it_could_queue_is_done(
    tmp_path: Path, address: str, *, queue: str, what: str
) -> None:
    command = [sys.executable, str(HERE / "child_dying_add.py"), str(tmp_path), queue, address, what]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    clock = ManualClock(datetime.now(UTC) + timedelta(minutes=2))
    model = ScriptedChatModel({"facts": [FACT]})
    with opened(tmp_path, address, queue=queue, clock=clock, chat_model=model) as memory:
        assert memory.jobs.run_worker(until_idle=True)["failed"] == 0
        contents = {item["memory"] for item in memory.get_all(user_id="ada")["results"]}
        assert contents & ({FACT["text"]} if what == "extract" else {SENTENCE})


# ── down, and back ───────────────────────────────────────────────────────────────────────────────────────────────────


def findings(memory: Memory, part: str) -> list[tuple[str, str]]:
    every = memory.maintenance.diagnose()["findings"]
    return [(finding["state"], finding["detail"]) for finding in every if finding["part"] == part]


@NEEDS_PROGRAM
def test_without_its_redis_a_memory_adds_and_searches_and_says_what_to_do(tmp_path: Path) -> None:
    port, redis, data = free_port(), tmp_path / "redis", tmp_path / "data"
    redis.mkdir()
    with own_server(redis, "--appendonly", "yes", port=port) as (address, _):
        memory = opened(data, address)
        memory.webhooks.create("http://127.0.0.1:9/hook", topics=["memory.added"])
        memory.add("I live in Leeds.", user_id="ada")
        assert memory.jobs.list()["counts"] == {"webhook": {"waiting": 1}}
        [(state, detail)] = findings(memory, "queue")
        assert state == "on"
        assert f"127.0.0.1:{port}" in detail

    memory.add("I like tea.", user_id="ada")
    assert memory.search("Where does Ada live?", user_id="ada")["results"]
    for refused in (
        memory.jobs.list,
        lambda: memory.jobs.run_worker(until_idle=True),
        lambda: memory.enqueue_add("I like jam.", user_id="ada"),
        lambda: memory.delete_all(user_id="ada"),
    ):
        with pytest.raises(StoreError, match=r"cannot be reached|no answer lately"):
            refused()
    assert len(memory.get_all(user_id="ada")["results"]) == 2
    assert memory._run(memory.components.store.requests.to_do) == []
    [(state, detail)] = findings(memory, "queue")
    assert state == "attention"
    assert "no job is queued or done" in detail
    assert findings(memory, "upkeep") == []

    with own_server(redis, "--appendonly", "yes", port=port):
        time.sleep(2.1)  # the connection is left alone for two seconds after failures
        assert ("attention", "1 jobs wait in the store from before: `ebbing worker` moves each when it is due") in (
            findings(memory, "queue")
        )
        assert memory.jobs.run_worker(until_idle=True)["failed"] == 2  # nobody listens to the webhook
        assert memory.jobs.list(kind="webhook")["counts"]["webhook"] == {"waiting": 2}
        assert memory.delete_all(user_id="ada")["deleted"]["jobs"] >= 2
        memory.close()


@NEEDS_PROGRAM
def test_a_redis_that_hangs_holds_no_add_and_no_search_for_long(tmp_path: Path) -> None:
    redis = tmp_path / "redis"
    redis.mkdir()
    with own_server(redis) as (address, process), opened(tmp_path / "data", address) as memory:
        memory.webhooks.create("http://127.0.0.1:9/hook", topics=["memory.added"])
        memory.add("I live in Leeds.", user_id="ada")
        os.kill(process, signal.SIGSTOP)
        began = time.monotonic()
        memory.add("I like tea.", user_id="ada")
        assert memory.search("Where does Ada live?", user_id="ada")["results"]
        assert time.monotonic() - began < 5
        with pytest.raises(StoreError, match=r"did not answer in time|no answer lately"):
            memory.jobs.list()
        os.kill(process, signal.SIGCONT)
        time.sleep(2.1)  # the connection is left alone for two seconds after failures
        assert memory.jobs.list(kind="webhook")["counts"]["webhook"]["waiting"] >= 1


@NEEDS_PROGRAM
def test_a_redis_that_may_lose_jobs_is_named_by_the_doctor(tmp_path: Path) -> None:
    redis = tmp_path / "redis"
    redis.mkdir()
    options = ("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
    with own_server(redis, *options) as (address, _), opened(tmp_path / "data", address) as memory:
        warnings = [detail for state, detail in findings(memory, "queue") if state == "attention"]
        assert ["noeviction" in warnings[0], "appendonly" in warnings[1]] == [True, True]


# ── whose they are, and what was there before ────────────────────────────────────────────────────────────────────────


def test_erasing_an_owner_forgets_their_jobs(tmp_path: Path, address: str) -> None:
    with opened(tmp_path, address) as memory:
        queue = memory.components.store.jobs
        jobs = [NewJob("extract", "a", belongs_to=ADA), NewJob("extract", "b", belongs_to=Scope("bob"))]
        memory._run(lambda: queue.enqueue_all(jobs))
        memory.add("I live in Leeds.", user_id="ada")
        assert memory.delete_all(user_id="ada")["deleted"]["jobs"] == 1
        assert [job["key"] for job in memory.jobs.list()["jobs"]] == ["b"]
        memory.reset()
        assert memory.jobs.list()["jobs"] == []


def test_the_jobs_of_somebody_who_was_merged_follow_also_where_the_process_died_in_between(
    tmp_path: Path, address: str
) -> None:
    bob = Scope("bob")
    with opened(tmp_path, address) as memory:
        store = memory.components.store
        for user in ("ada", "bob"):
            memory.add("I live in Leeds.", user_id=user)
        memory._run(lambda: store.jobs.enqueue("strange", "x", payload={"user_id": "bob"}, belongs_to=bob))
        memory.identities.merge("ada", "bob")
        [job] = memory._run(lambda: store.jobs.list(kind="strange"))
        assert (job.belongs_to, job.payload) == (ADA, {"user_id": "ada"})
        memory._run(lambda: store.jobs.enqueue("strange", "y", belongs_to=bob))  # as if it had not been handed over
        memory.jobs.run_worker(until_idle=True)
        assert {job.belongs_to for job in memory._run(lambda: store.jobs.list(kind="strange"))} == {ADA}


def test_the_jobs_that_wait_in_the_store_are_done_after_the_queue_was_changed(tmp_path: Path, address: str) -> None:
    with opened(tmp_path, address, queue="store") as memory:
        memory.enqueue_add("green tea", user_id="ada", infer=False)
        assert memory.components.separate_jobs is None
    with opened(tmp_path, address) as memory:
        assert memory.jobs.list()["jobs"] == []
        memory.jobs.run_worker(until_idle=True)
        assert [item["memory"] for item in memory.get_all(user_id="ada")["results"]] == ["green tea"]
        assert memory.jobs.list(kind="add")["counts"]["add"] == {"done": 1}
    store = SqliteMemoryStore.open(tmp_path, clock=SystemClock())
    assert asyncio.run(store.jobs.counts()) == {("add", JobState.DONE): 1}
    asyncio.run(store.aclose())


def test_the_daily_round_is_done_once_by_workers_in_two_processes(tmp_path: Path, address: str) -> None:
    with opened(tmp_path, address) as first, opened(tmp_path, address) as second:
        for user in ("ada", "bob"):
            first.add("I live in Leeds.", user_id=user)
        done = first.jobs.run_worker(until_idle=True)["done"] + second.jobs.run_worker(until_idle=True)["done"]
        assert done == 7
        assert second.jobs.list(kind="daily")["counts"]["daily"] == {"done": 3}
