"""Small writes that an earlier version had made durable without putting them in their place: taken in at open, once.

That version appended the messages of a small add to one table, and made records of them later. Every write goes
straight to its place now, so that table only empties. Its rows are read, put in place and deleted in one transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import repeat
from sqlite3 import Connection
from typing import Any, Final, NamedTuple

from ebbing.adapters.rows.record_columns import RECORD_COLUMNS, record_of
from ebbing.adapters.sqlite.memories.changes import apply, prepare
from ebbing.domain.errors import EbbingError
from ebbing.domain.memory.history import STORED_AS_SAID
from ebbing.domain.memory.record import MemoryRecord, Role, type_of_tags
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import unread_entry
from ebbing.index.shard import moment, vector_of
from ebbing.language.text.detect_language import detect
from ebbing.ports.stores.memory_store import Insert

_WAITING: Final = "SELECT no, tenant, kind, name, at, body, vectors FROM staged_write WHERE refused IS NULL ORDER BY no"
_UNREADABLE: Final = (EbbingError, sqlite3.IntegrityError, LookupError, TypeError, ValueError, OverflowError)
"""What one row can raise that is damaged, or that belongs nowhere any more."""


class _StagedWrite(NamedTuple):
    """A row of the table."""

    no: int
    tenant: str
    kind: str
    name: str
    at: int
    body: str
    vectors: bytes | None


def take_in_staged_writes(db: Connection) -> None:
    """Puts every staged write in its place. One that fails stays, is marked, and holds up no other."""
    if db.execute(f"SELECT EXISTS ({_WAITING})").fetchone() == (0,):
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        for row in map(_StagedWrite._make, db.execute(_WAITING).fetchall()):
            _take_in(db, row)
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def _take_in(db: Connection, row: _StagedWrite) -> None:
    db.execute("SAVEPOINT staged_write")
    try:
        owner = Scope(**{f"{row.kind}_id": row.name}, tenant=row.tenant)
        changes = prepare(owner, _inserts(row, owner))
        apply(db, owner, changes=changes, now=moment(row.at))
        db.execute("DELETE FROM staged_write WHERE no = ?", (row.no,))
    except (*_UNREADABLE, RecursionError):
        db.execute("ROLLBACK TO staged_write")
        db.execute("UPDATE staged_write SET refused = 1 WHERE no = ?", (row.no,))
    db.execute("RELEASE staged_write")


def _inserts(row: _StagedWrite, owner: Scope) -> list[Insert]:
    body, vectors = json.loads(row.body), row.vectors or b""
    if isinstance(body, list):
        return list(_from_columns(body, owner, vectors=vectors))
    return list(_from_messages(body, owner, now=moment(row.at), vectors=vectors))


def _from_messages(body: dict[str, Any], owner: Scope, *, now: datetime, vectors: bytes) -> Iterator[Insert]:
    """Inserts of the messages of one call."""
    ends, tags, begin = body.get("expires"), tuple(body.get("tags", ())), 0
    scope = replace(owner, agent_id=body.get("agent"), run_id=body.get("run"))
    for memory_id, text, size, model, *more in body["said"]:
        role, trust, actor, when = more[0] if more else (Role.USER, Role.USER, None, None)
        record = MemoryRecord(
            id=memory_id,
            belongs_to=scope,
            content=text,
            created_at=now if when is None else moment(when),
            recorded_at=now,
            type=type_of_tags(tags),
            actor=actor,
            role=None if role is None else Role(role),
            tags=tags,
            metadata=body.get("metadata", {}),
            expires_at=None if ends is None else moment(ends),
            language=detect(text),
            trust=trust,
        )
        entry = unread_entry(vector=vector_of(vectors[begin : begin + size] or None), model_id=model, utterance=True)
        yield Insert(record, entry, reason=STORED_AS_SAID)
        begin += size


def _from_columns(records: Sequence[Any], owner: Scope, *, vectors: bytes) -> Iterator[Insert]:
    """Inserts of records that were staged column by column."""
    begin = 0
    for staged, reason, flags, model, size in records:
        values = (*staged, *repeat(None, len(RECORD_COLUMNS) - len(staged)))  # columns that came later hold nothing
        entry = unread_entry(vector=vector_of(vectors[begin : begin + size] or None), model_id=model)
        record = record_of(values, user=owner.user_id, tenant=owner.tenant)
        yield Insert(record, replace(entry, flags=flags), reason=reason)
        begin += size
