"""What an index outside the file has to follow: rows written in the same transaction as the change itself.

A `put` says "read this row again", an `erase` says "forget it". See `ebbing.ports.stores.outbox.Outbox`.
"""

from __future__ import annotations

from sqlite3 import Connection
from typing import Final

from ebbing.adapters.sqlite.connection.connections import Connections
from ebbing.adapters.sqlite.connection.writer import GroupCommitWriter
from ebbing.adapters.sqlite.memories.rows import MAX_SEQ, SEQ_BITS, first_mid, last_mid
from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.scope import Owner
from ebbing.ports.stores.outbox import Followed, Standing

FOLLOWED: Final = "EXISTS (SELECT 1 FROM outbox_consumer)"
"""Whether anybody is registered, for a statement that asks for something else as well."""
_UNKNOWN: Final = "no follower of this name is registered: register it first"


_READ: Final = (
    "SELECT seq, memory_id, op, mid, tenant, kind, name FROM outbox LEFT JOIN owner ON owner.no = mid >> 24"
    " WHERE seq > ? ORDER BY seq LIMIT ?"
)
_STANDING: Final = (
    "SELECT no, cursor FROM owner, outbox_consumer AS follower WHERE tenant = ? AND kind = ? AND owner.name = ?"
    " AND follower.name = ?"
)
_BACKLOG: Final = (
    "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'outbox'), 0) - cursor FROM outbox_consumer"
    " WHERE name = ?"
)
_BEHIND: Final = "SELECT DISTINCT mid FROM outbox WHERE seq > ? AND mid BETWEEN ? AND ? LIMIT ?"


class SqliteOutbox:
    """An `Outbox` in the same file; an owner's partition is their number in it."""

    def __init__(self, connections: Connections, writer: GroupCommitWriter) -> None:
        self._connections, self._writer = connections, writer

    async def register(self, name: str) -> int:
        def work(db: Connection) -> int:
            db.execute(
                "INSERT OR IGNORE INTO outbox_consumer (name, cursor)"
                " VALUES (?, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'outbox'), 0))",
                (name,),
            )
            return int(db.execute("SELECT cursor FROM outbox_consumer WHERE name = ?", (name,)).fetchone()[0])

        return await self._writer.run(work)

    async def unregister(self, name: str) -> None:
        def work(db: Connection) -> None:
            db.execute("DELETE FROM outbox_consumer WHERE name = ?", (name,))
            _trim(db)

        await self._writer.run(work)

    async def followers(self) -> list[str]:
        with self._connections.reading() as db:
            return [row[0] for row in db.execute("SELECT name FROM outbox_consumer ORDER BY name")]

    async def cursor(self, name: str) -> int | None:
        with self._connections.reading() as db:
            row = db.execute("SELECT cursor FROM outbox_consumer WHERE name = ?", (name,)).fetchone()
        return None if row is None else int(row[0])

    async def read(self, name: str, *, limit: int = 100) -> list[Followed]:
        with self._connections.reading() as db:
            cursor = db.execute("SELECT cursor FROM outbox_consumer WHERE name = ?", (name,)).fetchone()
            if cursor is None:
                raise InvalidInputError(_UNKNOWN)
            rows = db.execute(_READ, (cursor[0], limit)).fetchall()
        return [_followed(row) for row in rows]

    async def advance(self, name: str, seq: int) -> None:
        def work(db: Connection) -> None:
            moved = db.execute("UPDATE outbox_consumer SET cursor = max(cursor, ?) WHERE name = ?", (seq, name))
            if not moved.rowcount:
                raise InvalidInputError(_UNKNOWN)
            _trim(db)

        await self._writer.run(work)

    async def backlog(self, name: str) -> int:
        with self._connections.reading() as db:
            row = db.execute(_BACKLOG, (name,)).fetchone()
        if row is None:
            raise InvalidInputError(_UNKNOWN)
        return int(row[0])

    async def standing(self, name: str, owner: Owner, *, limit: int) -> Standing | None:
        with self._connections.reading() as db:
            row = db.execute(_STANDING, (*owner, name)).fetchone()
            if row is None:
                return None
            no, cursor = row
            behind = db.execute(_BEHIND, (cursor, first_mid(no), last_mid(no), limit + 1)).fetchall()
        rows = None if len(behind) > limit else tuple(mid & MAX_SEQ for (mid,) in behind)
        return Standing(str(no), rows)


def _followed(row: tuple[int, str, str, int, str | None, str, str]) -> Followed:
    seq, memory_id, op, mid, tenant, kind, name = row
    owner = None if tenant is None else Owner(tenant, kind, name)
    return Followed(seq, memory_id, op, str(mid >> SEQ_BITS), mid & MAX_SEQ, owner)


def is_followed(db: Connection) -> bool:
    """Whether anybody is registered."""
    return bool(db.execute(f"SELECT {FOLLOWED}").fetchone()[0])


def append(db: Connection, mid: int, *, memory_id: str, op: str) -> None:
    """Adds one change to the running transaction."""
    db.execute("INSERT INTO outbox (mid, memory_id, op) VALUES (?, ?, ?)", (mid, memory_id, op))


def _trim(db: Connection) -> None:
    db.execute(
        "DELETE FROM outbox WHERE seq <= coalesce((SELECT min(cursor) FROM outbox_consumer), 9223372036854775807)"
    )
