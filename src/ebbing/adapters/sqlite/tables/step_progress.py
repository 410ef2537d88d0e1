"""How far each step of the upkeep has come with each owner, in the same file as the memories."""

from __future__ import annotations

from sqlite3 import Connection
from typing import Final

from ebbing.domain.memory.scope import Owner

_READ: Final = (
    "SELECT value FROM mark JOIN owner ON no = owner_no"
    " WHERE tenant = ? AND kind = ? AND owner.name = ? AND mark.name = ?"
)
_SET: Final = (
    "INSERT INTO mark (owner_no, name, value) SELECT no, ?, ? FROM owner WHERE tenant = ? AND kind = ? AND name = ?"
    " ON CONFLICT (owner_no, name) DO UPDATE SET value = excluded.value"
)


def mark_of(db: Connection, owner: Owner, *, name: str) -> int:
    """The mark, 0 where there is none."""
    row = db.execute(_READ, (owner.tenant, owner.kind, owner.name, name)).fetchone()
    return 0 if row is None else int(row[0])


def put_mark(db: Connection, owner: Owner, *, name: str, value: int) -> None:
    """Sets the mark of an owner who has rows; of anybody else there is nothing to remember."""
    db.execute(_SET, (name, value, owner.tenant, owner.kind, owner.name))
