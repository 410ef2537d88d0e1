"""Workers are killed in the middle of their jobs: every job is done in the end, and what it did is there once."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.adapters.system.machine import SystemClock
from ebbing.domain.memory.scope import Scope
from ebbing.ports.job_queue import JobState, NewJob
from tests.acceptance.child_worker import LEASE, PIECES

CHILD = Path(__file__).with_name("child_worker.py")
OWNERS = [Scope(f"user {number}") for number in range(5)]
JOBS_PER_KILL = 300


def started(directory: Path, count: int) -> list[subprocess.Popen[str]]:
    """So many workers that have all begun."""
    command = [sys.executable, str(CHILD), str(directory)]
    workers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") for _ in range(count)]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "begun\n"
    return workers


async def queued(directory: Path, jobs: int) -> None:
    store = SqliteMemoryStore.open(directory, clock=SystemClock())
    every = [
        NewJob("write", f"job {number}", max_attempts=1_000, belongs_to=OWNERS[number % len(OWNERS)])
        for number in range(jobs)
    ]
    assert await store.jobs.enqueue_all(every) == jobs
    await store.aclose()


async def found(directory: Path) -> tuple[dict[tuple[str, JobState], int], Counter[str]]:
    """The jobs by state, and how often each piece was written."""
    store = SqliteMemoryStore.open(directory, clock=SystemClock())
    counts = await store.jobs.counts()
    pages = [await store.page(scope, limit=1_000_000) for scope in OWNERS]
    written = Counter(record.content for page in pages for record in page.records)
    await store.aclose()
    return counts, written


def kill_workers(directory: Path, kills: int) -> None:
    chance, jobs = random.Random(20_260_101), JOBS_PER_KILL * kills
    asyncio.run(queued(directory, jobs))
    in_hand = 0
    for _ in range(kills):
        workers = started(directory, 2)
        try:
            time.sleep(chance.uniform(0.0, 0.1))
        finally:
            for worker in workers:
                worker.kill()
                worker.communicate()
        in_hand += asyncio.run(found(directory))[0].get(("write", JobState.RUNNING), 0)
    assert in_hand > 0, "no worker was killed while it had a job in hand"
    time.sleep(LEASE.total_seconds())
    [last] = started(directory, 1)
    last.communicate()
    counts, written = asyncio.run(found(directory))
    assert counts == {("write", JobState.DONE): jobs}
    assert written == Counter(f"job {number} {piece}" for number in range(jobs) for piece in range(PIECES))


@pytest.mark.slow
def test_every_job_is_done_after_fifteen_kills_of_two_workers_each(tmp_path: Path) -> None:
    kill_workers(tmp_path, 15)
