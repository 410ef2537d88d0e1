"""Connections to the file: one that writes, and as many that read as there are threads reading at once."""

from __future__ import annotations

import os
import sqlite3
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Final

from ebbing.adapters.sqlite.errors import translated
from ebbing.adapters.sqlite.schema import history_place, migrate, migrations, place_history
from ebbing.adapters.sqlite.wal_index import WalIndex
from ebbing.domain.errors import StoreClosedError, StoreError

FILE_NAME: Final = "ebbing.db"
BUSY_SECONDS: Final = 10.0
"""How long a statement waits for another process."""
WRITER_CACHE_KIB: Final = 16_384
"""Pages that the writing connection keeps: where many people write in turns, each finds the end of their rows there."""
_PAUSE: Final = 0.01


_process = os.getpid()
"""Kept, since asking for it at every search costs a call of the system."""


def _learn_process() -> None:
    global _process  # noqa: PLW0603 – a fork is the one thing that changes it
    _process = os.getpid()


if hasattr(os, "register_at_fork"):  # not on Windows, which knows no fork
    os.register_at_fork(after_in_child=_learn_process)


class Connections:
    """Opens the file, keeps idle readers, and refuses use after `close` or in a forked child.

    Raises:
        SchemaError: the file is another program's, or a newer Ebbing's.
        StoreError: the directory cannot be used.
    """

    def __init__(
        self, directory: Path, *, history_path: Path | None = None, scripts: Sequence[str] | None = None
    ) -> None:
        self.path = directory / FILE_NAME
        self.history_path = history_path
        """Where the history lies if it has a file of its own: as given, else where it was put before."""
        self._process = _process
        self._closed = False
        self._idle: deque[sqlite3.Connection] = deque()
        try:
            for folder in {directory, (history_path or self.path).parent}:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.writer = self._open_writer(scripts if scripts is not None else migrations())
        except OSError as error:
            raise StoreError(f"cannot use the store's directory: {error.strerror}") from error
        self._index = WalIndex(self.path)

    def reading(self) -> _Reading:
        """A connection for this thread alone; every statement sees all that was committed before it."""
        return _Reading(self)

    def lend(self) -> sqlite3.Connection:
        """A connection that nobody else uses until it is given back."""
        self.check()
        try:
            return self._idle.pop()
        except IndexError:
            return self._open_reader()

    def state(self) -> bytes | None:
        """What is other after the next commit of anybody; None where only a statement tells. See `WalIndex`."""
        self.check()
        return self._index.state()

    def give_back(self, db: sqlite3.Connection) -> None:
        """Takes back what was lent."""
        if db.in_transaction:
            db.execute("ROLLBACK")
        self._idle.append(db)
        if self._closed:
            self._close_idle()

    def check(self) -> None:
        """Raises if the store was closed, or opened by the parent of a forked process."""
        if self._closed:
            raise StoreClosedError("the store is closed: open it again")
        if _process != self._process:
            raise StoreError("the store was opened before this process forked: open it again in the child")

    @property
    def is_inherited(self) -> bool:
        """Whether this is a forked child, which must not touch the parent's connections."""
        return _process != self._process

    @property
    def files(self) -> list[Path]:
        """Every file that may hold data."""
        bases = [self.path, *([self.history_path] if self.history_path else [])]
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
        self.writer.close()
        self._index.let_go()

    def _close_idle(self) -> None:
        while self._idle:
            try:
                self._idle.pop().close()
            except IndexError:
                return

    def _open_writer(self, scripts: Sequence[str]) -> sqlite3.Connection:
        db = self._connect()
        try:
            _switch_to_wal(db, "main")
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA secure_delete = ON")
            db.execute(f"PRAGMA cache_size = -{WRITER_CACHE_KIB}")
            migrate(db, scripts)
            directory = self.path.parent.resolve()
            former = history_place(db, directory)
            self.history_path = self.history_path.resolve() if self.history_path else former
            if self.history_path:
                self._attach(db)
                _switch_to_wal(db, "elsewhere")
                db.execute("PRAGMA elsewhere.synchronous = FULL")
            place_history(db, file=self.history_path, former=former, directory=directory)
        except sqlite3.Error as error:
            db.close()
            raise translated(error) from error
        except BaseException:
            db.close()
            raise
        return db

    def _open_reader(self) -> sqlite3.Connection:
        db = self._connect()
        if self.history_path:
            self._attach(db)
        db.execute("PRAGMA query_only = ON")
        return db

    def _attach(self, db: sqlite3.Connection) -> None:
        db.execute("ATTACH DATABASE ? AS elsewhere", (str(self.history_path),))

    def _connect(self) -> sqlite3.Connection:
        try:
            return sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise StoreError(f"cannot open {FILE_NAME}: is its directory writable?") from error


class _Reading:
    """The time for which a connection is lent. No generator, which every search would pay a microsecond for."""

    __slots__ = ("_connections", "_db")

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def __enter__(self) -> sqlite3.Connection:
        self._db = self._connections.lend()
        return self._db

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connections.give_back(self._db)
        if isinstance(error, sqlite3.Error):
            raise translated(error) from error


def _switch_to_wal(db: sqlite3.Connection, database: str) -> None:
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
