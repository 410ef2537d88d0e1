"""What has to be put right where rows of one owner were another's for a while."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from sqlite3 import Connection
from typing import Any, Final

from ebbing.adapters.sqlite.memories.outbox import is_followed
from ebbing.adapters.sqlite.memories.rows import first_mid, last_mid, utc_text
from ebbing.domain.memory.record import Kind
from ebbing.index.shard import micros, moment

PARTED: Final = "the merge of two persons was undone"


def _of_both(row: str) -> str:
    return f"({row}.mid BETWEEN :one_first AND :one_last OR {row}.mid BETWEEN :other_first AND :other_last)"


# What tells of both belongs to neither.
_TELLERS: Final = (
    "SELECT DISTINCT teller.id FROM memory AS teller, json_each(teller.compression_sources) AS source"  # noqa: S608
    f" JOIN memory AS told ON told.id = source.value WHERE {_of_both('teller')}"
    " AND teller.compression_sources IS NOT NULL AND told.mid >> 24 <> teller.mid >> 24"
)
_CLOSED: Final = (
    "SELECT closed.mid FROM memory AS closed JOIN memory AS winner ON winner.id = closed.superseded_by"  # noqa: S608
    f" WHERE {_of_both('closed')} AND closed.superseded_by IS NOT NULL"
    " AND (winner.mid >> 24 <> closed.mid >> 24 OR winner.id IN (SELECT value FROM json_each(:tellers)))"
)
_REOPEN: Final = (
    "UPDATE memory SET valid_to = iif(retired_at IS NULL, NULL, valid_to), retired_at = NULL, superseded_by = NULL,"
    " version = version + 1, changed = (SELECT generation FROM owner WHERE no = mid >> 24) WHERE mid = ?"
)
_DELETE: Final = (
    "UPDATE memory SET deleted_at = ?, delete_reason = ?, version = version + 1,"
    " changed = (SELECT generation FROM owner WHERE no = mid >> 24) WHERE id = ?"
)
_NOTE: Final = "INSERT INTO outbox (mid, memory_id, op) SELECT mid, id, 'put' FROM memory WHERE {} = ?"
_RECORD: Final = "SELECT id, kind, content, created_at, deleted_at, actor, role FROM memory WHERE {} = ?"
_HISTORY: Final = (
    "INSERT INTO history (memory_id, old_memory, new_memory, event, created_at, updated_at, is_deleted, actor_id, role,"
    " reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


def part(db: Connection, *, source: int, other: int, at: datetime) -> None:
    """Undoes what rows of two owners did to each other: a closed one holds again, and what told of both is deleted."""
    bounds = {
        "one_first": first_mid(source),
        "one_last": last_mid(source),
        "other_first": first_mid(other),
        "other_last": last_mid(other),
    }
    tellers = [row[0] for row in db.execute(_TELLERS, bounds)]
    closed = [row[0] for row in db.execute(_CLOSED, {**bounds, "tellers": json.dumps(tellers)})]
    for mid in closed:
        db.execute(_REOPEN, (mid,))
        _note(db, "mid", value=mid)
        _tell(db, db.execute(_RECORD.format("mid"), (mid,)).fetchone(), event="UPDATE", at=at)
    for memory_id in tellers:
        db.execute(_DELETE, (micros(at), PARTED, memory_id))
        _note(db, "id", value=memory_id)
        _tell(db, db.execute(_RECORD.format("id"), (memory_id,)).fetchone(), event="DELETE", at=at)


def park_edits(db: Connection, leaving: int, *, to: int, merge: int) -> None:
    """Gives the edits of a profile to another owner; where that one has an edit of the same slot, it waits."""
    db.execute(
        "INSERT OR IGNORE INTO profile_edit (owner_no, slot, section, key, at, memory_id, brought_by)"
        " SELECT :to, slot, section, key, at, memory_id, ifnull(brought_by, '') || '/' || :merge FROM profile_edit"
        " WHERE owner_no = :leaving",
        {"to": to, "merge": merge, "leaving": leaving},
    )
    db.execute(
        "UPDATE profile_edit SET owner_no = -:merge WHERE owner_no = :leaving AND slot NOT IN"
        " (SELECT slot FROM profile_edit WHERE owner_no = :to AND brought_by LIKE '%/' || :merge)",
        {"to": to, "merge": merge, "leaving": leaving},
    )
    db.execute("DELETE FROM profile_edit WHERE owner_no = ?", (leaving,))
    _outdate(db, to)


def unpark_edits(db: Connection, staying: int, *, to: int, merge: int) -> None:
    """Gives back the edits that a merge brought, and those that waited."""
    values = {"staying": staying, "to": to, "merge": merge, "suffix": f"/{merge}"}
    db.execute(
        "INSERT OR IGNORE INTO profile_edit (owner_no, slot, section, key, at, memory_id, brought_by)"
        " SELECT :to, slot, section, key, at, memory_id,"
        " iif(owner_no < 0, brought_by, nullif(substr(brought_by, 1, length(brought_by) - length(:suffix)), ''))"
        " FROM profile_edit WHERE owner_no = -:merge OR (owner_no = :staying AND brought_by LIKE '%' || :suffix)",
        values,
    )
    db.execute(
        "DELETE FROM profile_edit WHERE owner_no = -:merge OR (owner_no = :staying AND brought_by LIKE '%' || :suffix)",
        values,
    )
    _outdate(db, staying)
    _outdate(db, to)


def _outdate(db: Connection, owner_no: int) -> None:
    db.execute(
        "UPDATE profile SET revision = revision + 1, generation = -1, entries = NULL WHERE owner_no = ?", (owner_no,)
    )


def _note(db: Connection, column: str, *, value: int | str) -> None:
    if is_followed(db):
        db.execute(_NOTE.format(column), (value,))


def _tell(db: Connection, row: Sequence[Any], *, event: str, at: datetime) -> None:
    memory_id, kind, content, created, deleted, actor, role = row
    if kind != Kind.MEMORY:
        return
    text = None if event == "DELETE" else content
    times = (utc_text(moment(created)), utc_text(at))
    db.execute(_HISTORY, (memory_id, content, text, event, *times, int(deleted is not None), actor, role, PARTED))
