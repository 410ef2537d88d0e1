"""What an index outside the file has to follow: rows written in the same transaction as the change itself.

Nothing is kept while nobody is registered. A consumer reads from its cursor, applies what it reads (idempotently: a
`put` says "read this memory again", an `erase` says "forget it"), and then advances; rows that every consumer has
passed are removed.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from ebbing.adapters.sqlite.connection.connections import Connections
from ebbing.adapters.sqlite.connection.writer import GroupCommitWriter
from ebbing.domain.errors import InvalidInputError

FOLLOWED: Final = "EXISTS (SELECT 1 FROM outbox_consumer)"
"""Whether anybody is registered, for a statement that asks for something else as well."""
_UNKNOWN: Final = "no consumer of this name is registered: register it first"


@dataclass(frozen=True, slots=True)
class Followed:
    """One change to follow."""

    seq: int
    memory_id: str
    op: str
    """`put` (written or changed, look at the truth) or `erase`."""


class Outbox:
    """The consumers' side."""

    def __init__(self, connections: Connections, writer: GroupCommitWriter) -> None:
        self._connections, self._writer = connections, writer

    async def register(self, name: str) -> int:
        """Starts following from now on, or goes on where `name` was; returns its cursor."""

        def work(db: sqlite3.Connection) -> int:
            db.execute(
                "INSERT OR IGNORE INTO outbox_consumer (name, cursor)"
                " VALUES (?, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'outbox'), 0))",
                (name,),
            )
            return int(db.execute("SELECT cursor FROM outbox_consumer WHERE name = ?", (name,)).fetchone()[0])

        return await self._writer.run(work)

    async def unregister(self, name: str) -> None:
        """Stops following; what only this consumer still needed is removed."""

        def work(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM outbox_consumer WHERE name = ?", (name,))
            _trim(db)

        await self._writer.run(work)

    async def read(self, name: str, *, limit: int = 100) -> list[Followed]:
        """The next changes after the consumer's cursor, oldest first.

        Raises:
            InvalidInputError: the consumer is not registered.
        """
        with self._connections.reading() as db:
            found = db.execute("SELECT cursor FROM outbox_consumer WHERE name = ?", (name,)).fetchone()
            if found is None:
                raise InvalidInputError(_UNKNOWN)
            rows = db.execute(
                "SELECT seq, memory_id, op FROM outbox WHERE seq > ? ORDER BY seq LIMIT ?", (found[0], limit)
            ).fetchall()
        return [Followed(*row) for row in rows]

    async def advance(self, name: str, seq: int) -> None:
        """Says that everything up to `seq` was applied; never moves backwards.

        Raises:
            InvalidInputError: the consumer is not registered.
        """

        def work(db: sqlite3.Connection) -> None:
            moved = db.execute("UPDATE outbox_consumer SET cursor = max(cursor, ?) WHERE name = ?", (seq, name))
            if not moved.rowcount:
                raise InvalidInputError(_UNKNOWN)
            _trim(db)

        await self._writer.run(work)


def is_followed(db: sqlite3.Connection) -> bool:
    """Whether anybody is registered."""
    return bool(db.execute(f"SELECT {FOLLOWED}").fetchone()[0])


def append(db: sqlite3.Connection, mid: int, *, memory_id: str, op: str) -> None:
    """Adds one change to the running transaction."""
    db.execute("INSERT INTO outbox (mid, memory_id, op) VALUES (?, ?, ?)", (mid, memory_id, op))


def _trim(db: sqlite3.Connection) -> None:
    db.execute(
        "DELETE FROM outbox WHERE seq <= coalesce((SELECT min(cursor) FROM outbox_consumer), 9223372036854775807)"
    )
