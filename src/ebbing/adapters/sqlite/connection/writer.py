"""One connection that writes, and commits together what callers ask for at the same time.

A durable commit costs one `fsync`, whether it holds one change or a hundred. So a thread takes everything that is
pending, applies each piece of work inside a savepoint (one that fails does not spoil the others), commits once, and
only then answers.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from sqlite3 import Connection
from typing import Any, Final, TypeVar

from ebbing.adapters.sqlite.connection.connections import Connections
from ebbing.adapters.sqlite.connection.errors import EXPECTED, translated
from ebbing.adapters.sqlite.connection.scrubbing import Scrub, Scrubber
from ebbing.domain.errors import StoreClosedError, StoreError

MAX_BATCH: Final = 256
"""Pieces of work in one transaction; bounds how long the first of them waits."""
Result = TypeVar("Result")
Work = Callable[[Connection], Result]


@dataclass(slots=True)
class _Task:
    work: Work[Any]
    future: asyncio.Future[Any]
    scrub: Scrub = Scrub.NO
    result: Any = None
    error: BaseException | None = None


class GroupCommitWriter:
    """Runs work on the writing connection in the order of arrival, from any number of threads and event loops."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._scrubber = Scrubber(connections)
        self._queue: SimpleQueue[_Task | None] = SimpleQueue()
        self._gate = threading.Lock()
        self._open = True
        self._turn = connections.turn
        self._thread = threading.Thread(target=self._run, name="ebbing-writer", daemon=True)
        self._thread.start()

    async def run(self, work: Work[Result], *, scrub: Scrub = Scrub.NO) -> Result:
        """The result of `work` once it is durable.

        A caller that is cancelled before its turn leaves no trace; after that, the work is finished all the same.
        """
        self._connections.check()
        task = _Task(work, asyncio.get_running_loop().create_future(), scrub=scrub)
        with self._gate:
            if not self._open:
                raise StoreClosedError("the store is closed: open it again")
            self._queue.put(task)
        result: Result = await task.future
        return result

    def close(self) -> bool:
        """Finishes what was accepted, then ends the thread. Blocks; call it once, from a thread that may wait.

        False if called from the writing thread itself, which may collect a forgotten store: that ends later.
        """
        with self._gate:
            self._open = False
            self._queue.put(None)
        if threading.current_thread() is self._thread:
            return False
        self._thread.join()
        return True

    def _run(self) -> None:
        batch: list[_Task] = []
        with self._turn:
            self._scrubber.look()
        try:
            while batch := self._next_batch():
                with self._turn:
                    self._commit(batch)
                    scrub = max((task.scrub for task in batch if task.error is None), default=Scrub.NO)
                    if scrub or self._scrubber.is_overdue:
                        self._scrubber.attempt(scrub)
                _answer(batch)
                batch = []
            if self._scrubber.pause is not None:
                with self._turn:
                    self._scrubber.attempt(Scrub.FILE)
        finally:
            # Only an error that nobody foresaw leaves tasks behind here; their callers must not wait for ever.
            with self._gate:
                self._open = False
            while not self._queue.empty():
                task = self._queue.get()
                batch.extend([task] if task else [])
            for task in batch:
                task.error = StoreError("the store's writer stopped after an internal error: open the store again")
            _answer(batch)

    def _next_batch(self) -> list[_Task]:
        """Waits for work; an empty list means that the writer was closed and the queue is done."""
        task = self._awaited()
        batch: list[_Task] = []
        while task is not None:
            batch.append(task)
            if len(batch) == MAX_BATCH:
                return batch
            try:
                task = self._queue.get_nowait()
            except Empty:
                return batch
        if batch:
            self._queue.put(None)
        return batch

    def _awaited(self) -> _Task | None:
        """The next piece of work; while there is none, what was removed is removed from the disk as well."""
        while True:
            try:
                return self._queue.get(timeout=self._scrubber.pause)
            except Empty:
                with self._turn:
                    self._scrubber.attempt()

    def _commit(self, batch: list[_Task]) -> None:
        db = self._connections.writer
        try:
            db.execute("BEGIN IMMEDIATE")
            for task in batch:
                if not task.future.cancelled():
                    self._apply(db, task, alone=len(batch) == 1)
            if db.in_transaction:
                db.execute("COMMIT")
        except sqlite3.Error as error:
            for task in batch:
                task.error = task.error or translated(error)
        finally:
            if db.in_transaction:
                db.execute("ROLLBACK")

    def _apply(self, db: Connection, task: _Task, *, alone: bool) -> None:
        if not alone:
            db.execute("SAVEPOINT task")
        try:
            before = db.total_changes
            task.result = task.work(db)
            if task.scrub and db.total_changes != before:
                self._scrubber.note(task.scrub)
        except Exception as error:  # whatever one caller's work raises, that of the others goes on
            task.error = translated(error) if isinstance(error, EXPECTED) else error
            if not db.in_transaction:
                raise sqlite3.OperationalError("the transaction was rolled back") from error
            db.execute("ROLLBACK" if alone else "ROLLBACK TO task")
        if not alone:
            db.execute("RELEASE task")


def _answer(batch: list[_Task]) -> None:
    by_loop: defaultdict[asyncio.AbstractEventLoop, list[_Task]] = defaultdict(list)
    for task in batch:
        by_loop[task.future.get_loop()].append(task)
    for loop, tasks in by_loop.items():
        if not loop.is_closed():
            _call_soon(loop, tasks)


def _call_soon(loop: asyncio.AbstractEventLoop, tasks: list[_Task]) -> None:
    try:
        loop.call_soon_threadsafe(_resolve, tasks)
    except RuntimeError:
        # The loop closed in between: nobody waits for these any more.
        return


def _resolve(tasks: list[_Task]) -> None:
    for task in tasks:
        if task.future.done():
            continue
        if task.error is not None:
            task.future.set_exception(task.error)
        else:
            task.future.set_result(task.result)
