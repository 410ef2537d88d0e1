"""The way in of a few new records: made durable at once, put where they belong before anybody reads.

A record lies in seven trees: itself, its id, its time, its searchable side, its history, its owner. To change a page of
each takes longer than to make its bytes durable, and so does finding out by which words it is found. So a small write
appends its records to one table, in one page, and is answered. Whoever reads or writes anything afterwards, in any
process, first has them put in their places (`settle`); where nobody does, it is done once the store has been quiet for
a moment. What is not settled when the power goes is settled by whoever opens the file next.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import numpy as np

from ebbing.adapters.sqlite.changes import Prepared, apply, checked
from ebbing.adapters.sqlite.rows import MAX_SEQ, entry_values, record_of, record_values
from ebbing.domain.errors import EbbingError
from ebbing.domain.record import Kind
from ebbing.domain.scope import Scope
from ebbing.index.entry import UNREAD, IndexEntry, read_entry, unread_entry
from ebbing.index.shard import STORED_VECTOR, micros, moment, stored_vector
from ebbing.ports.memory_store import Change, Insert

FEW: Final = 8
"""Records of one call that may arrive so; for more of them a caller expects to wait."""
QUIET_SECONDS: Final = 0.05
MANY: Final = 256
"""So many wait for no quiet moment."""
AT_ONCE: Final = 32
"""Arrivals that are settled in one transaction beside others: a few milliseconds."""
_ROOM: Final = MAX_SEQ - (1 << 16)
"""An owner with more rows than this may have no room for what is on its way: then it is written in its place."""
_ARRIVE: Final = (
    "INSERT INTO arrival (tenant, kind, name, at, body, vectors) SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE NOT EXISTS"  # noqa: S608
    f" (SELECT 1 FROM owner WHERE tenant = ?1 AND kind = ?2 AND name = ?3 AND last_seq > {_ROOM})"
)
_WEBHOOKS: Final = "SELECT EXISTS (SELECT 1 FROM webhook)"
_WAITING: Final = (
    "SELECT no, tenant, kind, name, at, body, vectors FROM arrival WHERE refused IS NULL ORDER BY no LIMIT ?"
)
_in_json: Final = json.JSONEncoder(ensure_ascii=False).encode
_ANY: Final = "SELECT EXISTS (SELECT 1 FROM arrival WHERE refused IS NULL)"


@dataclass(frozen=True, slots=True)
class Arrival:
    """The records of one call, ready to be appended."""

    ids: list[str]
    scope: Scope
    at: datetime
    body: str
    vectors: bytes | None

    def append(self, db: sqlite3.Connection) -> bool | None:
        """Whether there is any webhook; None where nothing was appended, since the owner is almost full."""
        values = (*self.scope.owner, micros(self.at), self.body, self.vectors)
        if not db.execute(_ARRIVE, values).rowcount:
            return None
        return bool(db.execute(_WEBHOOKS).fetchone()[0])


def arrival_of(scope: Scope, changes: Sequence[Change], *, now: datetime) -> Arrival | None:
    """The changes as an arrival; None unless they are a few new records that depend on nothing that is stored.

    Raises:
        InvalidInputError: a record belongs to another owner, or cannot be stored.
    """
    if len(changes) > FEW:
        return None
    ids, body, vectors = [], [], []
    for change in changes:
        entry = _independent(change)
        if entry is None or not isinstance(change, Insert):
            return None
        vector = stored_vector(entry) or b""
        model = entry.model_id if vector else None
        values = record_values(checked(change.record, scope))
        body.append((values, change.reason, entry.flags, model, len(vector)))
        ids.append(change.record.id)
        vectors.append(vector)
    return Arrival(ids, scope, now, _in_json(body), b"".join(vectors) or None)


def _independent(change: Change) -> IndexEntry | None:
    """The entry of a record that can be stored without a look at the others, and that nobody has read yet.

    Not of an episode: whoever reads facts reads the owner's shard at the next message, and would pay for both ways.
    """
    if not isinstance(change, Insert) or change.once or not change.fresh:
        return None
    if change.record.kind is not Kind.MEMORY or change.record.packed is not None:
        return None
    return change.entry if change.entry is not None and change.entry.analyzer == UNREAD else None


Row = tuple[int, str, str, str, int, str, bytes | None]
"""Of the table."""


@dataclass(frozen=True, slots=True)
class Ready:
    """An arrival that only has to be written."""

    no: int
    scope: Scope
    at: datetime
    changes: Sequence[Prepared]


class Arrivals:
    """An `Inbox`: what arrived through this process, counted, and how all that arrived is settled."""

    def __init__(self) -> None:
        self._count = 0
        self._noted_at = 0.0

    @property
    def pause(self) -> float | None:
        """See `Inbox`."""
        if not self._count:
            return None
        return 0.0 if self._count >= MANY else max(0.0, self._noted_at + QUIET_SECONDS - time.monotonic())

    def note(self) -> None:
        """See `Inbox`."""
        self._count += 1
        self._noted_at = time.monotonic()

    def waits(self, db: sqlite3.Connection) -> bool:
        """See `Inbox`."""
        return bool(db.execute(_ANY).fetchone()[0])

    def take(self, db: sqlite3.Connection) -> list[Row]:
        """See `Inbox`."""
        rows: list[Row] = db.execute(_WAITING, (AT_ONCE,)).fetchall()
        if len(rows) < AT_ONCE:
            self._count = 0
        return rows

    def read(self, taken: Sequence[Row]) -> list[Ready]:
        """See `Inbox`."""
        done = []
        for row in taken:
            done.append(_ready(row))
            time.sleep(0)  # whoever writes the next one goes first
        return done

    def settle(self, db: sqlite3.Connection, these: Sequence[Ready] | None = None) -> None:
        """See `Inbox`."""
        if these is None:
            for row in db.execute(_WAITING, (-1,)).fetchall():
                _put(db, _ready(row))
            return
        for one in these:
            if db.execute("SELECT 1 FROM arrival WHERE no = ?", (one.no,)).fetchone():
                _put(db, one)


def _ready(row: Row) -> Ready:
    """What is to be written of a row: its records, and by which words they are found."""
    no, tenant, kind, name, at, body, vectors = row
    scope = Scope(**{f"{kind}_id": name}, tenant=tenant)
    begin, changes = 0, []
    for values, reason, flags, model, size in json.loads(body):
        record = record_of(values, user=scope.user_id, tenant=tenant)
        stored = (vectors or b"")[begin : (begin := begin + size)]
        vector = np.frombuffer(stored, STORED_VECTOR).astype(np.float32) if size else None
        entry = read_entry(replace(unread_entry(vector=vector, model_id=model), flags=flags), record)
        changes.append(Prepared(Insert(record, entry, reason=reason), tuple(values), entry_values(entry)))
    return Ready(no, scope, moment(at), changes)


def _put(db: sqlite3.Connection, one: Ready) -> None:
    """Puts the records where they belong. What cannot be put there stays, is marked, and holds nobody up."""
    db.execute("SAVEPOINT arrival")
    try:
        apply(db, one.scope, changes=one.changes, now=one.at, noticed=_ignored)
        db.execute("DELETE FROM arrival WHERE no = ?", (one.no,))
    except (EbbingError, sqlite3.IntegrityError, ValueError, OverflowError):
        db.execute("ROLLBACK TO arrival")
        db.execute("UPDATE arrival SET refused = 1 WHERE no = ?", (one.no,))
    db.execute("RELEASE arrival")


def _ignored(_: bool) -> None:
    """Whether there are webhooks was told when it arrived."""
