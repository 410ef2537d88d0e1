"""What writes: commits together, answers each caller alone, survives what callers do."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ebbing.adapters.sqlite.connection.connections import Connections
from ebbing.adapters.sqlite.connection.writer import MAX_BATCH, GroupCommitWriter
from ebbing.domain.errors import ConflictError, InvalidInputError, StoreClosedError, StoreError
from ebbing.loop_thread import LoopThread

pytestmark = pytest.mark.anyio


class Held:
    """Work that keeps the writer busy until it is released, so that others queue up behind it."""

    def __init__(self) -> None:
        self.started, self.released = threading.Event(), threading.Event()

    def __call__(self, db: sqlite3.Connection) -> str:
        self.started.set()
        assert self.released.wait(10)
        return "held"


def job(name: str) -> str:
    return f"INSERT INTO outbox_consumer VALUES ('{name}', 0)"


def put(name: str) -> Callable[[sqlite3.Connection], int]:
    return lambda db: db.execute(job(name)).rowcount


@pytest.fixture
async def connections(tmp_path: Path) -> AsyncIterator[Connections]:
    opened = Connections(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
async def writer(connections: Connections) -> AsyncIterator[GroupCommitWriter]:
    started = GroupCommitWriter(connections)
    yield started
    await asyncio.to_thread(started.close)


def names(connections: Connections) -> list[str]:
    with connections.reading() as db:
        return [row[0] for row in db.execute("SELECT name FROM outbox_consumer ORDER BY name")]


async def queued(
    writer: GroupCommitWriter, *work: Callable[[sqlite3.Connection], object]
) -> tuple[Held, list[asyncio.Task[object]]]:
    """Pieces of work that wait together behind one that is held."""
    held = Held()
    first = asyncio.create_task(writer.run(held))
    await asyncio.to_thread(held.started.wait, 10)
    tasks = [asyncio.create_task(writer.run(piece)) for piece in work]
    await asyncio.sleep(0)
    return held, [first, *tasks]


async def test_work_that_fails_does_not_spoil_its_neighbours(
    writer: GroupCommitWriter, connections: Connections
) -> None:
    def fails_late(db: sqlite3.Connection) -> None:
        db.execute(job("half"))
        raise ConflictError("late")

    held, tasks = await queued(writer, put("a"), fails_late, put("b"), lambda db: db.execute("nonsense"), put("c"))
    held.released.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(result) for result in results] == [str, int, ConflictError, int, StoreError, int]
    assert names(connections) == ["a", "b", "c"]


async def test_what_waits_together_is_committed_together(writer: GroupCommitWriter, connections: Connections) -> None:
    seen: list[int] = []

    def count(db: sqlite3.Connection) -> None:
        with connections.reading() as reader:
            seen.append(reader.execute("SELECT count(*) FROM outbox_consumer").fetchone()[0])

    held, tasks = await queued(writer, put("a"), put("b"), count)
    held.released.set()
    await asyncio.gather(*tasks)
    assert seen == [0]
    assert names(connections) == ["a", "b"]


async def test_more_than_one_batch_is_finished(writer: GroupCommitWriter, connections: Connections) -> None:
    count = 2 * MAX_BATCH + 1
    held, tasks = await queued(writer, *(put(f"{number:04}") for number in range(count)))
    held.released.set()
    await asyncio.gather(*tasks)
    assert len(names(connections)) == count


async def test_a_caller_that_leaves_before_its_turn_leaves_no_trace(
    writer: GroupCommitWriter, connections: Connections
) -> None:
    held, tasks = await queued(writer, put("stays"), put("leaves"))
    tasks[2].cancel()
    await asyncio.sleep(0)
    held.released.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(results[2], asyncio.CancelledError)
    assert names(connections) == ["stays"]


async def test_work_under_way_is_finished_without_its_caller(
    writer: GroupCommitWriter, connections: Connections
) -> None:
    held, [first] = await queued(writer)
    first.cancel()
    await asyncio.sleep(0)
    held.released.set()
    assert await writer.run(put("next")) == 1
    assert names(connections) == ["next"]


async def test_a_loop_that_ended_does_not_stop_the_writer(writer: GroupCommitWriter, connections: Connections) -> None:
    held = Held()

    async def leave() -> None:
        pending = asyncio.ensure_future(writer.run(held))
        await asyncio.to_thread(held.started.wait, 10)
        assert not pending.done()

    await asyncio.to_thread(asyncio.run, leave())
    held.released.set()
    assert await writer.run(put("next")) == 1


async def test_callers_of_several_loops_are_all_answered(writer: GroupCommitWriter, connections: Connections) -> None:
    async def fill(prefix: str) -> list[int]:
        return await asyncio.gather(*(writer.run(put(f"{prefix}{number}")) for number in range(50)))

    answers = await asyncio.gather(*(asyncio.to_thread(asyncio.run, fill(prefix)) for prefix in "abc"))
    assert answers == [[1] * 50] * 3
    assert len(names(connections)) == 150


@pytest.mark.parametrize(
    ("statement", "value", "expected"),
    [
        ("INSERT INTO outbox_consumer VALUES (?, 0)", "half \ud83d", InvalidInputError),
        ("INSERT INTO outbox_consumer VALUES ('x', ?)", 1 << 80, InvalidInputError),
        ("INSERT INTO outbox_consumer VALUES (?, 0)", None, StoreError),
    ],
)
async def test_what_sqlite_refuses_becomes_an_error_of_ours(
    writer: GroupCommitWriter, statement: str, value: object, expected: type[Exception]
) -> None:
    with pytest.raises(expected) as caught:
        await writer.run(lambda db: db.execute(statement, (value,)))
    assert "half" not in str(caught.value)


@pytest.mark.parametrize("error", [KeyError("a bug"), RecursionError(), MemoryError()])
async def test_an_error_that_nobody_foresaw_is_told_to_its_caller_and_stops_nobody_else(
    writer: GroupCommitWriter, connections: Connections, error: Exception
) -> None:
    def breaks(db: sqlite3.Connection) -> None:
        db.execute(job("half"))
        raise error

    held, tasks = await queued(writer, put("a"), breaks, put("b"))
    held.released.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(result) for result in results] == [str, int, type(error), int]
    with pytest.raises(type(error)):
        await writer.run(breaks)
    await writer.run(put("c"))
    assert names(connections) == ["a", "b", "c"]


async def test_closing_finishes_what_was_accepted(connections: Connections) -> None:
    writer = GroupCommitWriter(connections)
    held, tasks = await queued(writer, put("a"), put("b"))
    closing = asyncio.create_task(asyncio.to_thread(writer.close))
    await asyncio.sleep(0.01)
    held.released.set()
    await closing
    await asyncio.gather(*tasks)
    assert names(connections) == ["a", "b"]
    with pytest.raises(StoreClosedError):
        await writer.run(put("c"))


# ── callers that block ───────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def started(folder: Path) -> Iterator[tuple[GroupCommitWriter, Connections, Callable[[Any], Any]]]:
    """A writer, its connections, and what a blocking caller does with a piece of work."""
    opened, thread = Connections(folder), LoopThread()
    writer = GroupCommitWriter(opened)
    with closing(opened), closing(writer):
        asyncio.run(writer.run(lambda _: None))  # its thread has looked around
        try:
            yield writer, opened, lambda work: thread.run(writer.run(work))
        finally:
            thread.stop()


def test_what_is_queued_goes_before_a_blocking_caller(tmp_path: Path) -> None:
    order: list[str] = []
    with started(tmp_path) as (writer, _, run), ThreadPoolExecutor(3) as pool:
        held = Held()

        async def queue() -> None:
            await asyncio.gather(writer.run(held), writer.run(lambda db: order.append("queued")))

        queued = pool.submit(asyncio.run, queue())
        assert held.started.wait(10)
        late = pool.submit(run, lambda db: order.append("late"))
        held.released.set()
        queued.result(10)
        late.result(10)
    assert order == ["queued", "late"]


def test_a_blocking_caller_that_fails_leaves_no_trace(tmp_path: Path) -> None:
    def half(error: BaseException) -> Callable[[sqlite3.Connection], None]:
        def work(db: sqlite3.Connection) -> None:
            db.execute(job("half"))
            raise error

        return work

    with started(tmp_path) as (_, connections, run):
        for error in (ConflictError("late"), KeyError("a bug")):
            with pytest.raises(type(error)):
                run(half(error))
        with pytest.raises(StoreError):
            run(lambda db: db.execute("nonsense"))
        assert run(put("next")) == 1
        assert names(connections) == ["next"]


def test_blocking_and_awaiting_callers_of_many_threads_lose_nothing(tmp_path: Path) -> None:
    with started(tmp_path) as (writer, connections, run), ThreadPoolExecutor(8) as pool:

        def block(number: int) -> list[int]:
            return [run(put(f"b{number} {turn}")) for turn in range(60)]

        async def wait(number: int) -> list[int]:
            return [await writer.run(put(f"a{number} {turn}")) for turn in range(60)]

        blocking = [pool.submit(block, number) for number in range(4)]
        awaiting = [pool.submit(asyncio.run, wait(number)) for number in range(4)]
        assert [one.result(60) for one in (*blocking, *awaiting)] == [[1] * 60] * 8
        assert len(names(connections)) == 480
