"""Who waits for whom when a local model is busy."""

from __future__ import annotations

import threading

import anyio
import pytest

from ebbing.adapters.embedding_thread import PARALLEL_RUNS, in_model_thread, waiting_in

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


async def test_who_waits_for_a_turn_is_counted_line_by_line() -> None:
    gate = threading.Event()
    async with anyio.create_task_group() as group:
        for _ in range(PARALLEL_RUNS + 3):
            group.start_soon(lambda: in_model_thread(gate.wait, line="passage"))
        await anyio.wait_all_tasks_blocked()
        assert (waiting_in("passage"), waiting_in("query")) == (3, 0)
        gate.set()
    assert waiting_in("passage") == 0
