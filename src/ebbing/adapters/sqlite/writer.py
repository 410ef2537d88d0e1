"""One connection that writes, and commits together what callers ask for at the same time.

A durable commit costs one `fsync`, whether it holds one change or a hundred. So a thread takes everything that is
pending, applies each piece of work inside a savepoint (one that fails does not spoil the others), commits once, and
only then answers. A caller that blocks, and finds nothing pending, writes where it is: changing threads and back takes
longer than writing a record.
"""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import threading
from _signal import getsignal  # type: ignore[import-not-found]  # the wrapper in `signal` takes a microsecond each
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from queue import Empty, SimpleQueue
from typing import Any, Final, Protocol, TypeVar

from ebbing.adapters.sqlite.connections import Connections
from ebbing.adapters.sqlite.errors import EXPECTED, translated
from ebbing.adapters.sqlite.scrubbing import Scrub, Scrubber
from ebbing.domain.errors import StoreClosedError, StoreError
from ebbing.ports.loop import is_on_a_loop, on_a_loop

MAX_BATCH: Final = 256
"""Pieces of work in one transaction; bounds how long the first of them waits."""
Result = TypeVar("Result")
Work = Callable[[sqlite3.Connection], Result]


_SIGNALS: Final = tuple(map(int, signal.valid_signals() - {signal.SIGINT}))


@dataclass(slots=True)
class _Task:
    work: Work[Any]
    future: asyncio.Future[Any] | None = None
    """Where it is waited for; None where the one who waits does it."""
    scrub: Scrub = Scrub.NO
    settles: bool = True
    """What arrived before has to be in its place first."""
    durable: bool = True
    """It has to outlast the power; else it can be done again."""
    result: Any = None
    error: BaseException | None = None


_DURABLE: Final = attrgetter("durable")
_WAKE: Final = _Task(lambda _: None)
"""Nothing to write: the thread is to look what there is to do beside."""


class Inbox(Protocol):
    """What was made durable and is not in its place yet (see `arrivals.py`)."""

    @property
    def pause(self) -> float | None:
        """Seconds until it is to be settled, if nobody else does it; None where this process knows of nothing."""
        ...

    def waits(self, db: sqlite3.Connection) -> bool:
        """Whether something waits that this or another process wrote."""
        ...

    def note(self) -> None:
        """Says that something arrived through this process."""
        ...

    def take(self, db: sqlite3.Connection) -> Sequence[Any]:
        """The next few, which stay where they are."""
        ...

    def read(self, taken: Sequence[Any]) -> Sequence[Any]:
        """What is to be written of them; it needs no connection."""
        ...

    def settle(self, db: sqlite3.Connection, these: Sequence[Any] | None = None) -> None:
        """Puts everything into its place within the running transaction, or those of `these` that still wait."""
        ...


class GroupCommitWriter:
    """Runs work on the writing connection in the order of arrival, from any number of threads and event loops."""

    def __init__(self, connections: Connections, inbox: Inbox) -> None:
        self._connections, self._inbox = connections, inbox
        self._db = connections.writer
        self._scrubber = Scrubber(connections)
        self._dozing = False
        """The thread waits for work, however long that takes."""
        self._queue: SimpleQueue[_Task | None] = SimpleQueue()
        self._pending = 0
        """Pieces of work that were queued and are not answered: nobody else may go before them."""
        self._gate = threading.Lock()
        self._open = True
        self._turn = threading.Lock()
        """Held by whoever uses the connection."""
        self._thread = threading.Thread(target=self._run, name="ebbing-writer", daemon=True)
        self._thread.start()

    async def run(self, work: Work[Result], *, scrub: Scrub = Scrub.NO) -> Result:
        """The result of `work` once it is durable; it sees all that arrived before.

        A caller that is cancelled before its turn leaves no trace; after that, the work is finished all the same. It
        may be begun without an event loop.
        """
        result: Result = await self._run_task(_Task(work, scrub=scrub))
        return result

    async def arrive(self, work: Work[bool]) -> bool:
        """The same for work that only adds to what waits, if it does: that is settled soon, or by who reads next.

        It may change something in one statement at most, which is a transaction by itself where nobody else waits.
        """
        self._connections.check()
        if self._may_write_here():
            try:
                is_added = self._at_once(work)
            finally:
                self._turn.release()
        else:
            is_added = await self._queued(_Task(work, settles=False))
        if is_added:
            self._inbox.note()
            if self._dozing:
                self._dozing = False
                self._queue.put(_WAKE)
        return is_added

    async def settled(self) -> None:
        """Returns when all that arrived is in its place; to be awaited before anything is read."""
        with self._connections.reading() as db:
            waits = self._inbox.waits(db)
        if waits:
            await self._run_task(_Task(_nothing, durable=False))

    async def _run_task(self, task: _Task) -> Any:
        self._connections.check()
        if task.scrub is Scrub.NO and self._may_write_here():
            try:
                return self._write_here(task)
            finally:
                self._turn.release()
        return await self._queued(task)

    async def _queued(self, task: _Task) -> Any:
        await on_a_loop()
        task.future = asyncio.get_running_loop().create_future()
        with self._gate:
            self._check_open()
            self._queue.put(task)
            self._pending += 1
        return await task.future

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
        with self._turn:  # whoever writes in a thread of their own finishes too
            return True

    def _may_write_here(self) -> bool:
        """Whether this thread may write at once, and then it holds the turn.

        Not on an event loop, which others wait for; not before what is queued; and not where a signal handler may
        interrupt it that uses the same store, since that would wait for what it interrupted.
        """
        if is_on_a_loop() or _may_be_interrupted():
            return False
        with self._gate:
            self._check_open()
            return not self._pending and not self._scrubber.is_overdue and self._turn.acquire(blocking=False)

    def _at_once(self, work: Work[Result]) -> Result:
        db = self._db
        if db.in_transaction:  # as in `_commit`
            db.execute("ROLLBACK")
        try:
            return work(db)
        except EXPECTED as error:
            raise translated(error) from error

    def _write_here(self, task: _Task) -> Any:
        self._commit([task])
        if task.error is not None:
            raise task.error
        return task.result

    def _check_open(self) -> None:
        if not self._open:
            raise StoreClosedError("the store is closed: open it again")

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
                with self._gate:
                    self._pending -= len(batch)
                _answer(batch)
                batch = []
            while self._inbox.pause is not None and self._settle_some():
                pass
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
            if task is not _WAKE:
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
        """The next piece of work; while there is none, what can wait is done beside."""
        while True:
            self._dozing = True  # before it looks how long: what arrives later wakes it
            pauses = [pause for pause in (self._scrubber.pause, self._inbox.pause) if pause is not None]
            self._dozing = not pauses
            try:
                task = self._queue.get(timeout=min(pauses, default=None))
            except Empty:
                self._do_beside()
                continue
            finally:
                self._dozing = False
            if task is not _WAKE:
                return task

    def _do_beside(self) -> None:
        """Removes from the disk what was removed, and settles what arrived, where it is time for that."""
        if self._scrubber.pause == 0.0:
            with self._turn:
                self._scrubber.attempt()
        if self._inbox.pause == 0.0:
            self._settle_some()

    def _settle_some(self) -> bool:
        """Whether the next few were settled; others may write while these are read."""
        with self._turn:
            taken = self._inbox.take(self._db)
        if not taken:
            return False
        work = partial(self._inbox.settle, these=self._inbox.read(taken))
        task = _Task(work, settles=False, durable=False)
        with self._turn:
            self._commit([task])
        return task.error is None

    def _commit(self, batch: list[_Task]) -> None:
        if self._db.in_transaction:  # whoever wrote last was interrupted even while it cleaned up
            self._db.execute("ROLLBACK")
        # What can be done again is not waited for; but two files that differ could not say what is to be done again.
        if True in map(_DURABLE, batch) or self._connections.history_path:
            self._transact(batch)
            return
        self._db.execute("PRAGMA synchronous = NORMAL")
        try:
            self._transact(batch)
        finally:
            self._db.execute("PRAGMA synchronous = FULL")

    def _transact(self, batch: list[_Task]) -> None:
        db = self._db
        try:
            db.execute("BEGIN IMMEDIATE")
            for task in batch:
                if task.future is None or not task.future.cancelled():
                    self._apply(db, task, alone=len(batch) == 1)
            if db.in_transaction:
                db.execute("COMMIT")
        except sqlite3.Error as error:
            for task in batch:
                task.error = task.error or translated(error)
        finally:
            if db.in_transaction:
                db.execute("ROLLBACK")

    def _apply(self, db: sqlite3.Connection, task: _Task, *, alone: bool) -> None:
        if not alone:
            db.execute("SAVEPOINT task")
        try:
            if task.settles:
                self._inbox.settle(db)
            before = db.total_changes
            task.result = task.work(db)
            if task.scrub and db.total_changes != before:
                self._scrubber.note(task.scrub)
        except EXPECTED as error:
            task.error = translated(error)
            if not db.in_transaction:
                raise sqlite3.OperationalError("the transaction was rolled back") from error
            db.execute("ROLLBACK" if alone else "ROLLBACK TO task")
        if not alone:
            db.execute("RELEASE task")


def _nothing(_: sqlite3.Connection) -> None:
    """Work that changes nothing, for the sake of what comes before or after it."""


def _may_be_interrupted() -> bool:
    """Whether a handler of a signal may run in this thread, other than the one that raises `KeyboardInterrupt`."""
    if threading.current_thread() is not threading.main_thread():
        return False
    on_interrupt = getsignal(signal.SIGINT)
    if callable(on_interrupt) and on_interrupt is not signal.default_int_handler:
        return True
    return any(map(callable, map(getsignal, _SIGNALS)))


def _answer(batch: list[_Task]) -> None:
    by_loop: defaultdict[asyncio.AbstractEventLoop, list[_Task]] = defaultdict(list)
    for task in batch:
        if task.future is not None:
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
        if task.future is None or task.future.done():
            continue
        if task.error is not None:
            task.future.set_exception(task.error)
        else:
            task.future.set_result(task.result)
