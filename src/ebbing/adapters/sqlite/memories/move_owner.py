"""Rows of one owner become another's: every table that names an owner or a row, inside one transaction."""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection
from typing import Final

from ebbing.adapters.sqlite.memories.outbox import is_followed
from ebbing.adapters.sqlite.memories.rows import first_mid

_BETWEEN: Final = "mid BETWEEN :first AND :last"
# A row that was changed since it was stored must not seem to have been changed later than its new owner.
_MOVE: Final = (
    f"UPDATE memory SET mid = mid + :offset, changed = iif(changed IS NULL, NULL, :now) WHERE {_BETWEEN}",  # noqa: S608
    f"UPDATE index_entry SET mid = mid + :offset WHERE {_BETWEEN}",  # noqa: S608
    f"UPDATE returned SET mid = mid + :offset WHERE {_BETWEEN}",  # noqa: S608
    f"UPDATE feedback SET mid = mid + :offset WHERE {_BETWEEN}",  # noqa: S608
    f"UPDATE source SET owner_no = :to, mid = mid + :offset WHERE owner_no = :from AND {_BETWEEN}",  # noqa: S608
)
_HERE_NOW: Final = "FROM memory WHERE mid BETWEEN :first + :offset AND :last + :offset"
_FOLLOW: Final = (
    f"INSERT INTO outbox (mid, memory_id, op) SELECT mid - :offset, id, 'erase' {_HERE_NOW}",
    f"INSERT INTO outbox (mid, memory_id, op) SELECT mid, id, 'put' {_HERE_NOW}",
)


@dataclass(frozen=True, slots=True)
class OwnerRow:
    """An owner as the file knows them."""

    no: int
    generation: int
    last_seq: int


@dataclass(frozen=True, slots=True)
class Range:
    """Rows of an owner by their seq, both ends included."""

    first: int
    last: int


def owner_row(db: Connection, tenant: str, *, name: str, create: bool = False) -> OwnerRow | None:
    """The user of this name; made, if asked for, where there is none."""
    key = (tenant, name)
    if create:
        db.execute("INSERT OR IGNORE INTO owner (tenant, kind, name) VALUES (?, 'user', ?)", key)
    row = db.execute(
        "SELECT no, generation, last_seq FROM owner WHERE tenant = ? AND kind = 'user' AND name = ?", key
    ).fetchone()
    return None if row is None else OwnerRow(*row)


def move(db: Connection, rows: Range, *, of: OwnerRow, to: OwnerRow) -> Range:
    """Puts rows behind the last one of another owner, who thereby has a new generation; where they are now."""
    moved = Range(to.last_seq + 1, to.last_seq + 1 + rows.last - rows.first)
    values = {
        "from": of.no,
        "to": to.no,
        "first": first_mid(of.no) + rows.first,
        "last": first_mid(of.no) + rows.last,
        "offset": first_mid(to.no) - first_mid(of.no) + moved.first - rows.first,
        "now": to.generation + 1,
    }
    # What they were before belongs to change sets of the former owner, who cannot undo anything of them any more.
    db.execute(f"DELETE FROM revision WHERE {_BETWEEN}", values)  # noqa: S608
    for statement in _MOVE:
        db.execute(statement, values)
    if is_followed(db):
        for statement in _FOLLOW:
            db.execute(statement, values)
    db.execute(
        "UPDATE owner SET generation = generation + 1, last_seq = max(last_seq, ?) WHERE no = ?", (moved.last, to.no)
    )
    return moved


def forget_shards(db: Connection, owner: OwnerRow) -> None:
    """Makes every cached shard of an owner load anew: rows are gone from it."""
    db.execute(
        "UPDATE owner SET generation = generation + 1, erased_generation = generation + 1 WHERE no = ?", (owner.no,)
    )


def count(db: Connection, owner: OwnerRow) -> tuple[int, int]:
    """How many memories and episodes an owner has, deleted ones too."""
    rows = db.execute(
        "SELECT sum(kind = 'memory'), sum(kind <> 'memory') FROM memory WHERE mid BETWEEN ? AND ?",
        (first_mid(owner.no), first_mid(owner.no + 1) - 1),
    ).fetchone()
    return int(rows[0] or 0), int(rows[1] or 0)
