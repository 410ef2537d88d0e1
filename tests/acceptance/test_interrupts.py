"""A call that is broken off at any line leaves a memory that goes on as if it had never been made, or been done."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from itertools import count, product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ebbing import AsyncMemory, Memory
from tests.acceptance.interrupter import Witness

pytestmark = [  # a call that is broken off before it began
    pytest.mark.extended,
    pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
MIN_LINES = 30
"""Lines that a call runs in the thread of its caller, at least: it hands its work over, and waits."""
STEP_LINES = 6
CALLS = ("add", "search after a write", "search", "context", "facts", "update")


def break_off_everywhere(memory: Memory, name: str, *, step: int) -> int:
    """Breaks a call off at every line, or at each of so many; how often that was."""
    witness = Witness(memory)
    call = dict(witness.calls())[name]
    for _ in range(3):  # by now all is loaded that is needed
        call(witness.next_text())
    witness.known = witness.texts()
    witness.check()
    for number in count():
        if "after" in name:
            witness.add(witness.next_text())
        broken = witness.break_off(call, line=1 + number * step)
        try:
            witness.check()
        except Exception as error:
            raise AssertionError(f"{name}, broken off at {broken.place}") from error
        if not broken.is_done:
            gc.collect()
            assert memory.maintenance.verify() == []
            return number
    raise AssertionError("count ends nowhere")


@pytest.mark.parametrize("name", CALLS)
def test_a_call_broken_off_here_and_there_leaves_a_whole_memory(tmp_path: Path, name: str) -> None:
    with Memory(path=tmp_path, embedder="none") as memory:
        assert break_off_everywhere(memory, name, step=STEP_LINES) >= MIN_LINES // STEP_LINES


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_a_call_broken_off_at_any_line_leaves_a_whole_memory(tmp_path: Path, name: str) -> None:
    with Memory(path=tmp_path, embedder="none") as memory:
        lines = break_off_everywhere(memory, name, step=1)
        print(name, lines)
        assert lines >= MIN_LINES


@pytest.mark.anyio
async def test_a_call_that_is_cancelled_leaves_a_whole_memory(tmp_path: Path) -> None:
    async with AsyncMemory(tmp_path, embedder="none") as memory:
        calls: tuple[Callable[[str], Coroutine[Any, Any, object]], ...] = (
            lambda text: memory.add(text, user_id="ada", infer=False),
            lambda text: memory.add(f"I live in Rome. {text}", user_id="ada"),
            lambda text: memory.search(text, user_id="ada"),
            lambda text: memory.get_context(text, user_id="ada"),
        )
        for number, call in product(range(12), calls):
            task = asyncio.ensure_future(call(f"note n{number}n"))
            for _ in range(number):
                await asyncio.sleep(0.0005 * (number % 3))
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            text = f"afterwards n{number}n"
            await memory.add(text, user_id="ada", infer=False)
            found = (await memory.search(text, user_id="ada", limit=3))["results"]
            assert text in [item["memory"] for item in found]
        assert await memory.maintenance.verify() == []


def interrupted_at_random(memory: Memory, *, calls: int) -> Counter[str]:
    """Calls in a thread that is sent `KeyboardInterrupt` again and again, at any instruction; how they went."""
    told, acknowledged, chance = Counter[str](), set[str](), Random(7)
    done = threading.Event()

    def work() -> None:
        number = 0
        while number < calls:
            number += 1
            text = f"note n{number}n about tea"
            try:
                memory.add(text, user_id="ada", infer=False)
                acknowledged.add(text)
                memory.search("tea", user_id="ada")
                told["done"] += 1
            except KeyboardInterrupt:
                told["interrupted"] += 1
            except Exception as error:  # noqa: BLE001 – whatever it is, the test says so
                told[f"{type(error).__name__}: {error}"] += 1

    def guarded() -> None:
        while not done.is_set():
            try:
                work()
                done.set()
            except KeyboardInterrupt:
                told["interrupted"] += 1

    thread = threading.Thread(target=guarded, daemon=True)
    thread.start()
    interrupt, identity = ctypes.pythonapi.PyThreadState_SetAsyncExc, ctypes.c_ulong(thread.ident or 0)
    while not done.is_set():
        time.sleep(chance.uniform(0.0005, 0.02))
        interrupt(identity, ctypes.py_object(KeyboardInterrupt))
    interrupt(identity, None)
    thread.join(30)
    assert not thread.is_alive(), "a call hangs"
    there = {line["content"] for line in exported(memory)}
    assert acknowledged <= there, acknowledged - there
    return told


def exported(memory: Memory) -> Iterator[dict[str, Any]]:
    cursor: str | None = None
    while True:
        page = memory.export(user_id="ada", cursor=cursor)
        yield from page["records"]
        cursor = page["next_cursor"]
        if cursor is None:
            return


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_is_interrupted_at_random_loses_nothing_and_breaks_nothing(tmp_path: Path) -> None:
    with Memory(path=tmp_path, embedder="none") as memory:
        told = interrupted_at_random(memory, calls=600)
        print(dict(told))
        assert set(told) <= {"done", "interrupted"}
        assert told["interrupted"] > 50
        assert memory.maintenance.verify() == []
        memory.delete_all(user_id="ada")
        assert list(exported(memory)) == []
