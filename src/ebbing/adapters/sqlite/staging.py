"""The way in of a few messages: made durable at once as they were said, made records before anybody reads.

A record lies in seven trees: itself, its id, its time, its searchable side, its history, its owner. To change a page of
each takes longer than to make its bytes durable, and so does making the record and finding out by which words it is
found. So a small write appends what was said to one table, in one page, and is answered. Whoever reads or writes
anything afterwards, in any process, first has records made of it and put in their places (`settle`); where nobody does,
it is done once the store has been quiet for a moment. What is not settled when the power goes is settled by whoever
opens the file next.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from json.encoder import encode_basestring
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ebbing.adapters.sqlite.changes import Prepared, apply, check_owner, prepare
from ebbing.adapters.sqlite.rows import MAX_SEQ, UNSTORABLE, record_of
from ebbing.domain.errors import EbbingError, InvalidInputError
from ebbing.domain.memory.record import Role
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import unread_entry
from ebbing.index.raw_message import Call, Said
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
_ARRIVE_UNHEARD: Final = f"{_ARRIVE} AND NOT EXISTS (SELECT 1 FROM webhook)"  # noqa: S608
"""Most installations have none: so one statement does, and tells that."""
_WAITING: Final = (
    "SELECT no, tenant, kind, name, at, body, vectors FROM arrival WHERE refused IS NULL ORDER BY no LIMIT ?"
)
_in_json: Final = json.JSONEncoder(ensure_ascii=False).encode
_quoted: Final = encode_basestring
"""The same for a string alone: a list of them in JSON takes ten times as long as its strings."""
_USER: Final = "user"
"""Whose words most are, and on whose word they rest."""
_ANY: Final = "SELECT EXISTS (SELECT 1 FROM arrival WHERE refused IS NULL)"


@dataclass(frozen=True, slots=True)
class Arrival:
    """What was said in one call, ready to be appended."""

    ids: list[str]
    values: tuple[Any, ...]
    """Of the row."""

    def append(self, db: sqlite3.Connection) -> bool | None:
        """Whether there is any webhook; None where nothing was appended, since the owner is almost full."""
        if db.execute(_ARRIVE_UNHEARD, self.values).rowcount:
            return False
        return True if db.execute(_ARRIVE, self.values).rowcount else None


def arrival_of(scope: Scope, changes: Sequence[Change]) -> Arrival | None:
    """The changes as an arrival; None unless they are a few things that were said in one call.

    Raises:
        InvalidInputError: they belong to another owner, or cannot be stored.
    """
    first = changes[0]
    if not isinstance(first, Said) or len(changes) > FEW:
        return None
    call, ids, parts, vectors = first.call, [], [], []
    check_owner(call.scope, scope)
    try:
        for one in changes:
            if not isinstance(one, Said) or one.call is not call:
                return None
            vector = stored_vector(one.vector) or b""
            ids.append(one.id)
            parts.append(f"[{_quoted(one.id)},{_quoted(one.text)},{len(vector)}{_more(one)}]")
            vectors.append(vector)
        body = f'{{"said":[{",".join(parts)}]{_shared(call)}}}'
        return Arrival(ids, (*scope.owner, micros(call.now), body, b"".join(vectors) or None))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(UNSTORABLE) from error


def _more(one: Said) -> str:
    """What goes behind a message but for its text: most are a user's, and name no one and no time."""
    model = "null" if one.vector is None or one.model_id is None else _quoted(one.model_id)
    if one.role == one.trust == _USER and one.actor is None and one.said_at is None:
        return f",{model}"
    return f",{model},{_in_json((one.role, one.trust, one.actor, one.said_at and micros(one.said_at)))}"


def _shared(call: Call) -> str:
    """What goes behind the messages of a call: what it says of all of them, but for the owner; most say nothing."""
    whose, ends = call.scope, call.expires_at
    if not call.metadata and not call.tags and ends is None and whose.agent_id is None and whose.run_id is None:
        return ""
    told = {"agent": whose.agent_id, "run": whose.run_id, "metadata": dict(call.metadata), "tags": call.tags}
    return f",{_in_json(told | ({'expires': micros(ends)} if ends else {}))[1:-1]}"


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
    owner, told, when = Scope(**{f"{kind}_id": name}, tenant=tenant), json.loads(body), moment(at)
    if isinstance(told, list):
        return Ready(no, owner, when, prepare(owner, _columns(told, owner, vectors=vectors or b"")))
    ends = told.get("expires")
    call = Call(
        replace(owner, agent_id=told.get("agent"), run_id=told.get("run")),
        told.get("metadata", {}),
        when,
        tuple(told.get("tags", ())),
        None if ends is None else moment(ends),
    )
    return Ready(no, owner, when, prepare(owner, _said(told["said"], call, vectors=vectors or b"")))


def _said(parts: Sequence[Any], call: Call, *, vectors: bytes) -> list[Said]:
    begin, said = 0, []
    for memory_id, text, size, model, *more in parts:
        role, trust, actor, when = more[0] if more else (_USER, _USER, None, None)
        vector = _vector(vectors[begin : (begin := begin + size)])
        spoken_by = None if role is None else Role(role)
        said_at = None if when is None else moment(when)
        said.append(Said(memory_id, text, call, spoken_by, actor, said_at, trust, model, vector))
    return said


def _columns(records: Sequence[Any], owner: Scope, *, vectors: bytes) -> list[Insert]:
    """The same of what an earlier Ebbing left: records, column by column."""
    begin, inserts = 0, []
    for values, reason, flags, model, size in records:
        vector = _vector(vectors[begin : (begin := begin + size)])
        entry = replace(unread_entry(vector=vector, model_id=model), flags=flags)
        inserts.append(Insert(record_of(values, user=owner.user_id, tenant=owner.tenant), entry, reason=reason))
    return inserts


def _vector(stored: bytes) -> NDArray[np.float32] | None:
    return np.frombuffer(stored, STORED_VECTOR).astype(np.float32) if stored else None


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
