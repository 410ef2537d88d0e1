"""Counting what searches return: in batches, off their way, and not lost at close."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from ebbing import AsyncMemory, Memory
from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.domain.errors import StoreError
from ebbing.domain.memory.feedback import Feedback, Usage
from ebbing.domain.memory.scope import Scope
from ebbing.ports.stores.usage_log import Returned
from ebbing.recall import usage
from ebbing.recall.usage import UsageBuffer
from ebbing.testing.clock import ManualClock

pytestmark = pytest.mark.anyio

ADA, BOB = Scope(user_id="ada"), Scope(user_id="bob")
NOW = ManualClock().now()


class Notebook:
    """A log that shows its batches, and refuses as often as it is told to."""

    def __init__(self, failures: int = 0) -> None:
        self.batches: list[list[Returned]] = []
        self.failures = failures

    async def returned(self, batch: Sequence[Returned]) -> None:
        await asyncio.sleep(0)
        if self.failures:
            self.failures -= 1
            raise StoreError("the disk is full")
        self.batches.append(list(batch))

    async def tell(self, scope: Scope, feedback: Feedback) -> bool:
        raise NotImplementedError

    async def usage(self, scope: Scope, memory_id: str) -> Usage:
        raise NotImplementedError


async def handed_over(buffer: UsageBuffer) -> None:
    """Wait for the hand-overs that were started."""
    await asyncio.gather(*buffer._tasks)


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something is so that takes its time, and fail where it never is."""
    for _ in range(1_000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came to be")


async def test_a_full_buffer_starts_one_hand_over_until_it_has_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    starts: list[object] = []
    log, start = Notebook(), UsageBuffer._start
    monkeypatch.setattr(UsageBuffer, "_start", lambda buffer, loop: (starts.append(loop), start(buffer, loop)))
    buffer = UsageBuffer(log, max_size=2, seconds=60)
    for number in range(20):
        buffer.returned(ADA, [str(number), "a"], at=NOW)
    assert len(starts) == 1
    await handed_over(buffer)
    assert sum(one.times for batch in log.batches for one in batch) == 40
    buffer.returned(ADA, ["b", "c"], at=NOW)
    await handed_over(buffer)
    assert [one.memory_id for one in log.batches[-1]] == ["b", "c"]


async def test_counts_wait_until_they_are_many() -> None:
    log = Notebook()
    buffer = UsageBuffer(log, max_size=4, seconds=60)
    buffer.returned(ADA, ["a", "b"], at=NOW)
    await asyncio.sleep(0.01)
    assert log.batches == []
    later = NOW + timedelta(hours=1)
    buffer.returned(ADA, ["a", "c"], at=later)
    await buffer.flush()
    assert log.batches == [
        [
            Returned(ADA.owner, "a", 2, later),
            Returned(ADA.owner, "b", 1, NOW),
            Returned(ADA.owner, "c", 1, later),
        ]
    ]


async def test_many_counts_are_added_up_in_pieces_and_none_is_lost() -> None:
    log = Notebook()
    buffer = UsageBuffer(log, max_size=100_000, seconds=60)
    turns: list[int] = []

    async def look_on() -> None:
        while True:
            turns.append(len(log.batches))
            await asyncio.sleep(0)

    for number in range(3_000):  # the later answers come first
        buffer.returned((ADA, BOB)[number % 2], [f"{number % 700}", f"{number}"], at=NOW - timedelta(seconds=number))
    looking = asyncio.create_task(look_on())
    await buffer.flush()
    looking.cancel()
    counts = [one for batch in log.batches for one in batch]
    assert len(turns) > 12  # whoever searches gets a turn between the pieces
    assert sum(one.times for one in counts) == 6_000
    assert len({(one.owner, one.memory_id) for one in counts}) == len(counts) == 3_000
    asked_again = [one for one in counts if one.memory_id == "2"]
    assert asked_again == [Returned(ADA.owner, "2", 6, NOW - timedelta(seconds=2))]


async def test_counts_do_not_wait_for_long() -> None:
    log = Notebook()
    buffer = UsageBuffer(log, seconds=0.02)
    buffer.returned(ADA, ["a"], at=NOW)
    await until(lambda: len(log.batches) == 1)


async def test_what_comes_after_a_full_batch_does_not_wait_for_long_either() -> None:
    log = Notebook()
    buffer = UsageBuffer(log, max_size=3, seconds=0.05)
    for memory_ids in (["a"], ["b", "c"]):
        buffer.returned(ADA, memory_ids, at=NOW)
    await handed_over(buffer)
    buffer.returned(ADA, ["d"], at=NOW)
    await until(lambda: len(log.batches) == 2)
    assert [[one.memory_id for one in batch] for batch in log.batches] == [["a", "b", "c"], ["d"]]


async def test_who_is_forgotten_is_not_counted_and_the_others_are() -> None:
    log = Notebook(failures=1)
    buffer = UsageBuffer(log)
    for scope in (ADA, BOB):
        buffer.returned(scope, ["a"], at=NOW)
    await buffer.flush()
    for scope in (ADA, BOB):
        buffer.returned(scope, ["a"], at=NOW)
    buffer.forget(lambda owner: owner == ADA.owner)
    await buffer.flush()
    assert log.batches == [[Returned(BOB.owner, "a", 2, NOW)]]


async def test_owners_are_counted_apart() -> None:
    log = Notebook()
    buffer = UsageBuffer(log)
    buffer.returned(ADA, ["a"], at=NOW)
    buffer.returned(BOB, ["a"], at=NOW)
    await buffer.flush()
    assert [one.owner for one in log.batches[0]] == [ADA.owner, BOB.owner]


async def test_a_flush_waits_for_the_batch_under_way() -> None:
    log = Notebook()
    buffer = UsageBuffer(log, max_size=1)
    buffer.returned(ADA, ["a"], at=NOW)
    await buffer.flush()
    assert len(log.batches) == 1
    await buffer.flush()
    assert len(log.batches) == 1


async def test_a_refused_batch_waits_for_the_next_time_and_the_caller_is_spared(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log = Notebook(failures=1)
    buffer = UsageBuffer(log)
    buffer.returned(ADA, ["a"], at=NOW)
    with caplog.at_level(logging.WARNING):
        await buffer.flush()
    assert log.batches == []
    assert "could not be counted (store)" in caplog.text
    assert "ada" not in caplog.text
    buffer.returned(ADA, ["a"], at=NOW)
    await buffer.flush()
    assert log.batches == [[Returned(ADA.owner, "a", 2, NOW)]]


async def test_a_store_that_fails_for_long_fills_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "MAX_WAITING", 10)
    log = Notebook(failures=3)
    buffer = UsageBuffer(log, max_size=1_000)
    for turn in range(4):
        buffer.returned(ADA, [f"{turn}-{number}" for number in range(8)], at=NOW)
        await buffer.flush()
    assert [len(batch) for batch in log.batches] == [10]


async def test_a_batch_of_none_counts_nothing() -> None:
    log = Notebook()
    buffer = UsageBuffer(log, max_size=0)
    buffer.returned(ADA, ["a"], at=NOW)
    await buffer.flush()
    assert log.batches == []


def test_a_loop_that_ended_does_not_keep_counts_from_the_next_one() -> None:
    log = Notebook()
    buffer = UsageBuffer(log, seconds=0.01)

    async def ask() -> None:
        buffer.returned(ADA, ["a"], at=NOW)

    async def ask_later() -> None:
        await asyncio.sleep(0.02)
        buffer.returned(ADA, ["a"], at=NOW)
        await until(lambda: log.batches != [])

    asyncio.run(ask())
    asyncio.run(ask_later())
    assert log.batches == [[Returned(ADA.owner, "a", 2, NOW)]]


async def test_closing_a_memory_counts_what_waited(tmp_path: Path) -> None:
    async with AsyncMemory(path=tmp_path, embedder="none") as memory:
        [added] = (await memory.add("likes rain", user_id="ada", infer=False))["results"]
        memory.components.usage.returned(ADA, [added["id"]], at=NOW)
    async with AsyncMemory(path=tmp_path, embedder="none") as memory:
        assert (await memory.components.store.usage.usage(ADA, added["id"])).returned == 1


async def test_a_closed_store_is_no_reason_to_fail(caplog: pytest.LogCaptureFixture) -> None:
    store = SqliteMemoryStore.in_memory(clock=ManualClock())
    buffer = UsageBuffer(store.usage)
    buffer.returned(ADA, ["a"], at=NOW)
    await store.aclose()
    await buffer.flush()
    assert "store_closed" in caplog.text


KILLED = """
import asyncio, os, signal, sys
from datetime import UTC, datetime
from ebbing import Memory
from ebbing.domain.memory.scope import Scope

memory = Memory(path=sys.argv[1], embedder="none")
[added] = memory.add("likes rain", user_id="ada", infer=False)["results"]
buffer = memory.components.usage

async def count(times):
    for _ in range(times):
        buffer.returned(Scope(user_id="ada"), [added["id"]], at=datetime.now(UTC))
    while buffer._tasks:  # a batch under way may be lost, too
        await asyncio.sleep(0.01)

memory._run(lambda: count(300))
memory.feedback(added["id"], "used")
memory._run(lambda: count(10))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_a_killed_process_loses_less_than_a_batch_of_counts_and_nothing_else(tmp_path: Path) -> None:
    environment = {**os.environ, "EBBING_USAGE_FLUSH_SIZE": "64"}
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    done = subprocess.run(command, env=environment, check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    with Memory(path=tmp_path, embedder="none") as memory:
        [kept] = memory.get_all(user_id="ada")["results"]
        assert kept["memory"] == "likes rain"
        assert memory.explain(kept["id"])["access_count"] == 1
        store = memory.components.store
        counted = memory._run(lambda: store.usage.usage(ADA, kept["id"])).returned
        assert 310 - 2 * 64 < counted < 310
        assert memory.maintenance.verify() == []
