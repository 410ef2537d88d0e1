"""Connections to the file: one that writes, and as many that read as there are threads reading at once."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from sqlite3 import Connection
from typing import Final

from ebbing.adapters.sqlite.connection.errors import translated
from ebbing.adapters.sqlite.connection.schema import history_place, migrate, place_history
from ebbing.adapters.system import forks
from ebbing.domain.errors import StoreClosedError, StoreError

FILE_NAME: Final = "ebbing.db"
BUSY_SECONDS: Final = 10.0
"""How long a statement waits for another process."""
WRITER_CACHE_KIB: Final = 16_384
"""Pages that the writing connection keeps: where many people write in turns, each finds the end of their rows there."""
_PAUSE: Final = 0.01
_IN_MEMORY: Final = "file:/ebbing-{}?vfs=memdb"
"""A database in RAM that the connections of one process share (https://www.sqlite.org/inmemorydb.html)."""
_numbers: Final = count()


class _Connection(Connection):
    """One that can be counted as long as it is open: the driver's own takes no weak reference."""


class Connections:
    """Opens the file, keeps idle readers, and refuses use after `close` or in a forked child.

    Before a fork all of them are closed, and opened again when they are needed (see `forks.py`). Without a directory
    there is no file: the database lives in RAM until the last connection is closed.

    Raises:
        SchemaError: the file is another program's, or a newer Ebbing's.
        StoreError: the directory cannot be used.
    """

    def __init__(
        self, directory: Path | None, *, history_path: Path | None = None, scripts: Sequence[str] | None = None
    ) -> None:
        self.path = directory / FILE_NAME if directory else None
        self._address = self.path.absolute().as_uri() if self.path else _IN_MEMORY.format(next(_numbers))
        self.history_path = history_path
        """Where the history lies if it has a file of its own: as given, else where it was put before."""
        self.turn = threading.Lock()
        """Held by whoever uses the writer."""
        self._process = os.getpid()
        self._closed = self._forking = False
        self._idle: deque[_Connection] = deque()
        self._readers: weakref.WeakSet[_Connection] = weakref.WeakSet()
        """Those that are open, idle or lent."""
        self._opening = threading.Lock()
        """Held by whoever opens a reader, and during a fork."""
        self._held_for_fork: list[threading.Lock] = []
        self._scripts = scripts
        self._writer: _Connection | None = None
        if self.path is None:
            self._writer = self._open_writer()
        else:
            self._open_directory(self.path.parent, self.path)

    def _open_directory(self, directory: Path, file: Path) -> None:
        try:
            for folder in {directory, (self.history_path or file).parent}:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with forks.opening:
                forks.check_inherited(file)
                self._writer = self._open_writer()
                forks.register(self)
        except OSError as error:
            cause = f"{directory} is a file: name a directory" if directory.is_file() else error.strerror
            raise StoreError(f"cannot use the store's directory: {cause}") from error

    @property
    def writer(self) -> Connection:
        """The connection that writes; to be used by whoever has the `turn`."""
        if self._writer is None:
            self._writer = self._open_writer()
        return self._writer

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection for this thread alone; every statement sees all that was committed before it."""
        db = self._lend()
        try:
            yield db
        except BaseException as error:
            self.discard(db)  # a statement that was broken off would go on seeing what it saw
            if isinstance(error, sqlite3.Error):
                raise translated(error) from error
            raise
        self._give_back(db)

    def _lend(self) -> _Connection:
        self.check()
        try:
            db = self._idle.pop()
        except IndexError:
            with self._opening:
                return self._open_reader()
        if self._forking:  # looked at only now that no fork can overlook the connection any more
            self._give_back(db)
            with self._opening:
                return self._open_reader()
        return db

    def _give_back(self, db: _Connection) -> None:
        if db.in_transaction:
            db.execute("ROLLBACK")
        self._idle.append(db)
        if self._closed:
            self._close_idle()

    def check(self) -> None:
        """Raises if the store was closed, or opened by the parent of a forked process."""
        if self._closed:
            raise StoreClosedError("the store is closed: open it again")
        if os.getpid() != self._process:
            raise StoreError("the store was opened before this process forked: open it again in the child")

    @property
    def is_inherited(self) -> bool:
        """Whether this is a forked child, which must not touch the parent's connections."""
        return os.getpid() != self._process

    @property
    def files(self) -> list[Path]:
        """Every file that may hold data."""
        bases = [file for file in (self.path, self.history_path) if file is not None]
        return [base.with_name(base.name + suffix) for base in bases for suffix in ("", "-wal", "-shm")]

    def begin_closing(self) -> bool:
        """Refuses further use; False if there is nothing to close any more, or if it is not ours to close."""
        if self._closed or self.is_inherited:
            return False
        self._closed = True
        return True

    def close(self) -> None:
        """Closes every connection; a reader in use closes when its work is done."""
        self._close_idle()
        if self._writer is not None:
            self._writer.close()

    def close_for_fork(self, deadline: float) -> Iterable[Path]:
        """See `forks.Forkable`."""
        if self._closed or self.is_inherited:
            return ()
        self._forking = True
        for lock in (self.turn, self._opening):
            if lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
                self._held_for_fork.append(lock)
        if self.turn in self._held_for_fork and self._writer is not None:
            self._writer.close()
            self._writer = None
        self._close_idle()
        while self._readers and time.monotonic() < deadline:
            time.sleep(_PAUSE / 10)  # another thread reads
            self._close_idle()
        return [] if len(self._held_for_fork) == 2 and not self._readers else self.files

    def resume_after_fork(self) -> None:
        """See `forks.Forkable`."""
        self._forking = False
        while self._held_for_fork:
            self._held_for_fork.pop().release()

    def _close_idle(self) -> None:
        while self._idle:
            try:
                self.discard(self._idle.pop())
            except IndexError:
                return

    def discard(self, db: _Connection) -> None:
        """Closes what was lent."""
        db.close()
        self._readers.discard(db)

    def _open_writer(self) -> _Connection:
        db = self._connect()
        try:
            if self.path is not None:
                _switch_to_wal(db, "main")
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA secure_delete = ON")
            db.execute(f"PRAGMA cache_size = -{WRITER_CACHE_KIB}")
            migrate(db, self._scripts)
            self._place_history(db, (self.path or Path(FILE_NAME)).parent.resolve())
        except sqlite3.Error as error:
            db.close()
            raise translated(error) from error
        except BaseException:
            db.close()
            raise
        return db

    def _place_history(self, db: Connection, directory: Path) -> None:
        former = history_place(db, directory)
        self.history_path = self.history_path.resolve() if self.history_path else former
        if self.history_path:
            self._attach(db)
            _switch_to_wal(db, "elsewhere")
            db.execute("PRAGMA elsewhere.synchronous = FULL")
        place_history(db, file=self.history_path, former=former, directory=directory)

    def _open_reader(self) -> _Connection:
        self.check()
        db = self._connect()
        self._readers.add(db)
        if self.history_path:
            self._attach(db)
        db.execute("PRAGMA query_only = ON")
        return db

    def _attach(self, db: Connection) -> None:
        db.execute("ATTACH DATABASE ? AS elsewhere", (str(self.history_path),))

    def _connect(self) -> _Connection:
        try:
            return sqlite3.connect(
                self._address,
                timeout=BUSY_SECONDS,
                isolation_level=None,
                check_same_thread=False,
                factory=_Connection,
                uri=True,
            )
        except sqlite3.Error as error:
            raise StoreError(f"cannot open {FILE_NAME}: is its directory writable?") from error


def _switch_to_wal(db: Connection, database: str) -> None:
    """Waits itself: SQLite does not honour the busy timeout while it changes the journal of a file others open too."""
    give_up = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            db.execute(f"PRAGMA {database}.journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > give_up:
                raise
            time.sleep(_PAUSE)
