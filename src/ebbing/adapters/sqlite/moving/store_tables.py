"""The rows of an embedded store, table by table."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection
from typing import Final

from ebbing.adapters.sqlite.connection.connections import FILE_NAME, Connections
from ebbing.adapters.sqlite.connection.errors import translated
from ebbing.adapters.sqlite.memories.staged_writes import take_in_staged_writes
from ebbing.adapters.sqlite.moving.row_shapes import NAMES, Owners, read_rows
from ebbing.domain.errors import StoreNotFoundError
from ebbing.ports.stores.store_tables import PAGE, Key, Page, Row

# Names of tables and columns are put together here, values never.
# ruff: noqa: S608

_JOINED: Final = {
    "history": "SELECT history.*, memory.mid FROM history LEFT JOIN memory ON memory.id = history.memory_id",
    "parked_edit": ("SELECT profile_edit.*, tenant FROM profile_edit LEFT JOIN identity_merge ON no = -owner_no"),
}
"""How a table is read of which the file does not hold whose a row is."""
CONDITIONS: Final = {"profile_edit": "owner_no > 0", "parked_edit": "owner_no < 0"}
"""Which rows of a table in the file are meant, where two tables lie in one."""
COUNTED: Final = ("owner", "identity_merge", "job")
"""Tables that never give a number twice."""
_NUMBERED: Final = {"embedding_model": "no", "history": "id", "act": "no"}
"""Tables that number their rows on from the highest that is there."""


class SqliteStoreTables:
    """The tables of the store in a directory."""

    def __init__(self, connections: Connections, place: str) -> None:
        self._connections, self.place = connections, place

    @classmethod
    def open(cls, directory: Path) -> SqliteStoreTables:
        """Open the store in a directory; an older layout is brought up to date, as whenever a store is opened.

        Raises:
            StoreNotFoundError: there is none.
            SchemaError: the file belongs to a newer Ebbing or to another program.
            StoreError: the directory cannot be used.
        """
        if not (directory / FILE_NAME).is_file():
            raise StoreNotFoundError(f"there is no store in {directory}: check the name of the directory")
        connections = Connections(directory)
        with connections.turn:
            take_in_staged_writes(connections.writer)
        return cls(connections, str(directory.resolve()))

    @contextmanager
    def still(self) -> Iterator[None]:
        """Hold the lock of whoever writes; others are refused after some seconds. It ends with the process at last."""
        with self._connections.turn:
            db = self._connections.writer
            try:
                db.execute("BEGIN IMMEDIATE")
            except sqlite3.Error as error:
                raise translated(error) from error
            try:
                yield
            finally:
                db.execute("ROLLBACK")

    def check_still(self) -> None:
        """The lock of a file is not lost as long as the process lives."""

    def count(self, table: str) -> int:
        with self._connections.reading() as db:
            return count_rows(db, table)

    def pages(self, table: str, *, after: Key | None = None) -> Generator[Page]:
        with self._connections.reading() as db:
            yield from read_pages(db, table, after=after)

    def counters(self) -> Mapping[str, int]:
        with self._connections.reading() as db:
            highest = dict(db.execute("SELECT name, seq FROM sqlite_sequence"))
            counters = {table: highest.get(table, 0) for table in COUNTED}
            for table, column in _NUMBERED.items():
                statement = f"SELECT ifnull(max({column}), 0) FROM {NAMES.get(table, table)}"
                counters[table] = db.execute(statement).fetchone()[0]
        return counters

    def running_sessions(self) -> int:
        return 0

    def left_behind(self) -> Sequence[str]:
        with self._connections.reading() as db:
            staged = db.execute("SELECT count(*) FROM staged_write").fetchone()[0]
        return [f"{staged} writes of an earlier version cannot be read, and stay where they are"] if staged else []

    def close(self) -> None:
        if self._connections.begin_closing():
            self._connections.close()


def count_rows(db: Connection, table: str) -> int:
    """Return how many rows a table has."""
    condition = CONDITIONS.get(table, "TRUE")
    return int(db.execute(f"SELECT count(*) FROM {NAMES.get(table, table)} WHERE {condition}").fetchone()[0])


def read_pages(db: Connection, table: str, *, after: Key | None) -> Generator[Page]:
    """Yield the rows of a table in the order of their keys."""
    name, owners = NAMES.get(table, table), Owners(db)
    key = [row[1] for row in sorted(db.execute(f"PRAGMA table_info({name})"), key=lambda row: row[5]) if row[5]]
    columns = ", ".join(f"{name}.{column}" for column in key)
    conditions = [CONDITIONS[table]] if table in CONDITIONS else []
    if after is not None:
        conditions.append(f"({columns}) > ({', '.join('?' * len(key))})")
    statement = _JOINED.get(table, f"SELECT * FROM {name}")
    cursor = db.execute(
        f"{statement} WHERE {' AND '.join(conditions) or 'TRUE'} ORDER BY {columns}", tuple(after or ())
    )
    titles = [column[0] for column in cursor.description]
    while some := cursor.fetchmany(PAGE):
        rows: list[Row] = [dict(zip(titles, row, strict=True)) for row in some]
        last = [rows[-1][column] for column in key]
        yield Page(list(read_rows(table, rows, owners=owners)), last)
