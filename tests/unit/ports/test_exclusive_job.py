"""The right to work that one process does at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.ports.exclusive_job import LEASE, exclusive_job
from ebbing.ports.job_queue import JobQueue
from ebbing.testing.clock import ManualClock

pytestmark = pytest.mark.anyio


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def queue(tmp_path: Path, clock: ManualClock) -> AsyncIterator[JobQueue]:
    store = SqliteMemoryStore.open(tmp_path, clock=clock)
    yield store.jobs
    await store.aclose()


async def test_nobody_has_the_right_while_another_one_has_it(queue: JobQueue) -> None:
    async with exclusive_job(queue, "index", key="a") as job, exclusive_job(queue, "index", key="a") as second:
        assert job is not None
        assert second is None
    async with exclusive_job(queue, "index", key="a") as again:
        assert again is not None


async def test_the_right_of_a_process_that_died_comes_back_after_its_lease(queue: JobQueue, clock: ManualClock) -> None:
    async with exclusive_job(queue, "index", key="a"):
        clock.advance(LEASE)
        async with exclusive_job(queue, "index", key="a", wait_seconds=0.1) as job:
            assert job is not None


async def test_a_right_with_another_key_is_done_with(queue: JobQueue) -> None:
    async with exclusive_job(queue, "index", key="former"):
        pass
    async with exclusive_job(queue, "index", key="present") as job:
        assert job is not None
        assert job.key == "present"
    assert [item.key for item in await queue.list(kind="index") if item.state == "waiting"] == ["present"]


async def test_rights_to_different_work_do_not_wait_for_each_other(queue: JobQueue) -> None:
    async with exclusive_job(queue, "index", key="a") as one_right, exclusive_job(queue, "graph", key="a") as other:
        assert one_right is not None
        assert other is not None
