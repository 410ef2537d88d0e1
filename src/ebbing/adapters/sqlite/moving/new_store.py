"""An embedded store that is being filled from another store, under a name of its own until it is complete."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Final

from ebbing.adapters.sqlite.admin.backup import settle
from ebbing.adapters.sqlite.connection.connections import BUSY_SECONDS, FILE_NAME
from ebbing.adapters.sqlite.connection.errors import EXPECTED, translated
from ebbing.adapters.sqlite.connection.schema import APPLICATION_ID, layout, migrations, statements
from ebbing.adapters.sqlite.moving.row_shapes import NAMES, Owners, file_rows
from ebbing.adapters.sqlite.moving.store_tables import CONDITIONS, COUNTED, count_rows, read_pages
from ebbing.adapters.system.move_state import state_of, text_of
from ebbing.domain.errors import ConflictError, SchemaError, StoreError
from ebbing.ports.stores.store_tables import Key, MoveState, Page, Row

# Names of tables and columns are put together here, values never.
# ruff: noqa: S608

PART_NAME: Final = "ebbing.moving"
"""The file until it is complete. Nothing else opens it."""
_MOVING_ID: Final = 0x45624D56
"""Stands in the header of the file until it is complete."""


class NewSqliteStore:
    """The store that a directory will hold. What is there already goes on where it was broken off."""

    def __init__(self, directory: Path) -> None:
        self.place = str(directory.resolve())
        self._file = directory / PART_NAME
        self._target = directory / FILE_NAME
        self._state = ""
        """How far the move is, as the file has it."""
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._db = sqlite3.connect(self._file, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"the directory of the new store cannot be used: {self.place}") from error
        self._owners = Owners(self._db)

    @classmethod
    def make(cls, directory: Path) -> NewSqliteStore | None:
        """Begin a store in a directory, or go on with one; None where there is one.

        Raises:
            StoreError: the directory cannot be used.
        """
        return None if (directory / FILE_NAME).exists() else cls(directory)

    def begin(self, source: str) -> MoveState:
        with self._errors():
            self._db.execute("PRAGMA journal_mode = WAL")
            # What a power cut takes, it takes together with how far the move was. The end is written to the disk.
            self._db.execute("PRAGMA synchronous = NORMAL")
            mark = self._db.execute("PRAGMA application_id").fetchone()[0]
            if mark == 0:
                self._lay_out(source)
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
            if version != len(migrations()):
                raise SchemaError(
                    f"a move that another version began is half done there: delete {self._file}, then begin anew"
                )
            if mark == APPLICATION_ID:  # it was broken off just before the file got its name
                with self._transaction():
                    self._put_mark(MoveState(source, ()))
            (self._state,) = self._db.execute("SELECT state FROM move_state").fetchone()
        return state_of(self._state, source)

    def still(self) -> AbstractContextManager[None]:
        """Nobody else knows the file."""
        return nullcontext()

    def check_still(self) -> None:
        """Nobody else knows the file."""

    def count(self, table: str) -> int:
        with self._errors():
            return count_rows(self._db, table)

    def pages(self, table: str, *, after: Key | None = None) -> Generator[Page]:
        with self._errors():
            yield from read_pages(self._db, table, after=after)

    def counters(self) -> Mapping[str, int]:
        return {}

    def running_sessions(self) -> int:
        return 0

    def left_behind(self) -> Sequence[str]:
        return ()

    def write(self, table: str, rows: Sequence[Row], *, state: MoveState) -> None:
        with self._transaction():
            self._keep(state)
            written = list(file_rows(table, rows, owners=self._owners))
            columns = list(written[0])
            values = ", ".join(f":{column}" for column in columns)
            names = ", ".join(f'"{column}"' for column in columns)
            self._db.executemany(f"INSERT INTO {NAMES.get(table, table)} ({names}) VALUES ({values})", written)

    def clear(self, state: MoveState) -> None:
        with self._transaction():
            self._keep(state)
            for table in state.remaining:
                condition = CONDITIONS.get(table, "TRUE")
                self._db.execute(f"DELETE FROM {NAMES.get(table, table)} WHERE {condition}")
        self._owners = Owners(self._db)

    def finish(self, counters: Mapping[str, int]) -> None:
        with self._transaction():
            for table in COUNTED:
                self._db.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
                self._db.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, counters[table]))
            self._db.execute("DROP TABLE IF EXISTS move_state")
            self._db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        with self._errors():
            self._db.execute("PRAGMA journal_mode = DELETE")
            self._db.close()
        try:
            settle(self._file, self._target)
        except OSError as error:
            raise StoreError(f"the new store could not get its name: {error.strerror}") from error

    def close(self) -> None:
        self._db.close()

    def _lay_out(self, source: str) -> None:
        with self._transaction():
            for statement in statements(layout()):
                self._db.execute(statement)
            self._db.execute(f"PRAGMA user_version = {len(migrations())}")
            self._put_mark(MoveState(source))

    def _put_mark(self, state: MoveState) -> None:
        self._db.execute(f"PRAGMA application_id = {_MOVING_ID}")
        self._db.execute("CREATE TABLE move_state (state TEXT NOT NULL)")
        self._db.execute("INSERT INTO move_state VALUES (?)", (text_of(state),))

    def _keep(self, state: MoveState) -> None:
        text = text_of(state)
        done = self._db.execute("UPDATE move_state SET state = ? WHERE state = ?", (text, self._state))
        if done.rowcount != 1:
            raise ConflictError("another process moves to the same place: let one of them do it")
        self._state = text

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        state = self._state
        with self._errors():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                    self._state = state

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except EXPECTED as error:
            raise translated(error) from error
