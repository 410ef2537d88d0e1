"""One thread that writes, and commits together what callers ask for at the same time.

A durable commit costs one `fsync`, whether it holds one change or a hundred. So the thread takes everything that is
pending, applies each piece of work inside a savepoint (one that fails does not spoil the others), commits once, and
only then answers.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeVar

from ebbing.adapters.sqlite.connections import Connections
from ebbing.adapters.sqlite.errors import EXPECTED, translated
from ebbing.domain.errors import StoreClosedError, StoreError

MAX_BATCH: Final = 256
"""Pieces of work in one transaction; bounds how long the first of them waits."""
MAX_REWRITTEN_BYTES: Final = 2**30
"""Up to this size a file is rewritten at once after an erasure. Nobody can write meanwhile: 1 s for 200 MB."""


class Scrub(IntEnum):
    """How thoroughly removed bytes are removed from the disk as well, once the work is committed."""

    NO = 0
    LOG = 1
    """The write-ahead log is emptied. SQLite itself overwrites what it deletes (`secure_delete`)."""
    FILE = 2
    """The file is rewritten too, unless it is very large: when SQLite splits a page, a copy of a moved row may stay
    behind in the page's unused part, and deleting the row does not reach it."""
    LARGE_FILE = 3
    """The same, however large the file is."""


_log: Final = logging.getLogger("ebbing.store")
Result = TypeVar("Result")
Work = Callable[[sqlite3.Connection], Result]


@dataclass(slots=True)
class _Task:
    work: Work[Any]
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop
    scrub: Scrub
    result: Any = None
    error: BaseException | None = None


class GroupCommitWriter:
    """Runs work on the writing connection in the order of arrival, from any number of threads and event loops."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._db = connections.writer
        self._queue: SimpleQueue[_Task | None] = SimpleQueue()
        self._gate = threading.Lock()
        self._open = True
        self._thread = threading.Thread(target=self._run, name="ebbing-writer", daemon=True)
        self._thread.start()

    async def run(self, work: Work[Result], *, scrub: Scrub = Scrub.NO) -> Result:
        """The result of `work` once it is durable.

        A caller that is cancelled before its turn leaves no trace; after that, the work is finished all the same.
        """
        self._connections.check()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()
        with self._gate:
            if not self._open:
                raise StoreClosedError("the store is closed: open it again")
            self._queue.put(_Task(work, future, loop, scrub))
        return await future

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
        try:
            while batch := self._next_batch():
                self._commit(batch)
                if scrub := max((task.scrub for task in batch if task.error is None), default=Scrub.NO):
                    self._scrub(scrub)
                _answer(batch)
                batch = []
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
        task = self._queue.get()
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

    def _commit(self, batch: list[_Task]) -> None:
        db = self._db
        try:
            db.execute("BEGIN IMMEDIATE")
            for task in batch:
                if not task.future.cancelled():
                    _apply(db, task, alone=len(batch) == 1)
            if db.in_transaction:
                db.execute("COMMIT")
        except sqlite3.Error as error:
            for task in batch:
                task.error = task.error or translated(error)
        finally:
            if db.in_transaction:
                db.execute("ROLLBACK")

    def _scrub(self, scrub: Scrub) -> None:
        databases = ["main", "elsewhere"] if self._connections.history_path else ["main"]
        try:
            for database in databases:
                if scrub == Scrub.LARGE_FILE or (scrub == Scrub.FILE and self._bytes(database) <= MAX_REWRITTEN_BYTES):
                    self._db.execute(f"VACUUM {database}")
            emptied = [
                self._db.execute(f"PRAGMA {name}.wal_checkpoint(TRUNCATE)").fetchone()[0] == 0 for name in databases
            ]
        except sqlite3.OperationalError:
            emptied = [False]
        if not all(emptied):
            _log.warning("removed texts stay in the store's log until it is next emptied: another process is using it")

    def _bytes(self, database: str) -> int:
        pages = self._db.execute(f"PRAGMA {database}.page_count").fetchone()[0]
        return int(pages * self._db.execute(f"PRAGMA {database}.page_size").fetchone()[0])


def _apply(db: sqlite3.Connection, task: _Task, *, alone: bool) -> None:
    if not alone:
        db.execute("SAVEPOINT task")
    try:
        task.result = task.work(db)
    except EXPECTED as error:
        task.error = translated(error)
        if not db.in_transaction:
            raise sqlite3.OperationalError("the transaction was rolled back") from error
        db.execute("ROLLBACK" if alone else "ROLLBACK TO task")
    if not alone:
        db.execute("RELEASE task")


def _answer(batch: list[_Task]) -> None:
    by_loop: defaultdict[asyncio.AbstractEventLoop, list[_Task]] = defaultdict(list)
    for task in batch:
        by_loop[task.loop].append(task)
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
