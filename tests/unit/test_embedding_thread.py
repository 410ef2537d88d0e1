"""Who waits for whom when a local model is busy."""

from __future__ import annotations

import threading

import anyio
import pytest

from ebbing.adapters.embedding_thread import PARALLEL_RUNS, in_model_thread

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
