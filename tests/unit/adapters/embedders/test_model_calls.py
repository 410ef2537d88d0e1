"""Who waits for whom when a local model is busy."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

import anyio
import pytest

from ebbing.adapters.embedders.model_calls import PARALLEL_RUNS, in_model_thread
from ebbing.ports.models.embed_passages import Embedded, embed_passages
from ebbing.ports.models.embedder import Vectors
from ebbing.testing.models.embedder import FakeEmbedder

pytestmark = pytest.mark.anyio


async def test_a_question_never_waits_for_what_is_being_stored() -> None:
    gate = threading.Event()
    async with anyio.create_task_group() as group:
        for _ in range(3 * PARALLEL_RUNS):
            group.start_soon(lambda: in_model_thread(gate.wait, line="passage"))
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(5):
            assert await in_model_thread(lambda: "answered", line="query") == "answered"
        gate.set()


async def test_whoever_is_cancelled_in_the_queue_is_never_computed() -> None:
    gate, computed = threading.Event(), []
    async with anyio.create_task_group() as group:
        for _ in range(PARALLEL_RUNS):
            group.start_soon(lambda: in_model_thread(gate.wait, line="passage"))
        await anyio.wait_all_tasks_blocked()
        with anyio.move_on_after(0.05):
            await in_model_thread(lambda: computed.append("late"), line="passage")
        gate.set()
        await in_model_thread(lambda: None, line="passage")
    assert not computed


class Threaded(FakeEmbedder):
    """A local model, which does something before it computes."""

    def __init__(self, first: Callable[[], object]) -> None:
        super().__init__()
        self._first = first

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        def compute() -> Vectors:
            self._first()
            return self.embed(texts)

        return await in_model_thread(compute, line="passage")


async def embedded_at_once(embedder: Threaded, count: int, *, seconds: float) -> list[Embedded]:
    results: list[Embedded] = []

    async def one(number: int) -> None:
        results.append(await embed_passages(embedder, [f"text {number}"], seconds=seconds))

    async with anyio.create_task_group() as group:
        for number in range(count):
            group.start_soon(one, number)
    return results


async def test_the_time_of_a_portion_counts_its_own_work_and_not_the_queue() -> None:
    slow = Threaded(lambda: time.sleep(0.2))
    results = await embedded_at_once(slow, 5 * PARALLEL_RUNS, seconds=0.7)
    assert [one.failure for one in results] == [None] * 5 * PARALLEL_RUNS


async def test_whoever_waits_for_a_model_that_hangs_is_let_go() -> None:
    gate = threading.Event()
    try:
        with anyio.fail_after(5):
            results = await embedded_at_once(Threaded(gate.wait), 2 * PARALLEL_RUNS, seconds=0.1)
        assert all(one.failure is not None for one in results)
    finally:
        gate.set()
