"""Writes down what a transaction is about to change, so that it can be undone: in that same transaction."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from sqlite3 import Connection
from typing import Final

from ebbing.adapters.rows.record_columns import RECORD_COLUMNS
from ebbing.adapters.sqlite.memories.rows import MAX_SEQ
from ebbing.domain.memory.change_set import ChangeSet
from ebbing.domain.memory.scope import Owner
from ebbing.index.shard import micros

ENTRY_COLUMNS: Final = ("length", "flags", "numbers", "analyzer", "model", "terms", "vector")
_RECORD: Final = ", ".join(RECORD_COLUMNS)
_ENTRY: Final = ", ".join(ENTRY_COLUMNS)
_KEEP: Final = (
    f"INSERT OR IGNORE INTO revision (mid, no, {_RECORD}) SELECT mid, :no, {_RECORD} FROM memory WHERE mid = :mid"  # noqa: S608
)
# The first state of a record is kept, and its first entry: a later write of the same change set may be the first one
# that changes the entry.
_KEEP_ENTRY: Final = (
    f"UPDATE revision SET ({_ENTRY}) = (SELECT {_ENTRY} FROM index_entry WHERE mid = :mid)"  # noqa: S608
    " WHERE mid = :mid AND no = :no AND length IS NULL"
)
_NEW: Final = (
    "INSERT INTO change_set (owner_no, no, id, cause, at, undoes, is_partial, inserted, revised, erased)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_MORE: Final = (
    "UPDATE change_set SET inserted = ?, revised = revised + ?, erased = erased + ? WHERE owner_no = ? AND no = ?"
)


class Recorder:
    """One owner's share of a change set within one transaction."""

    def __init__(self, db: Connection, owner_no: int, *, owner: Owner, change: ChangeSet) -> None:
        self._db, self._owner_no, self._owner, self._change = db, owner_no, owner, change
        self._no: int | None = None
        self._is_new = True
        self._ranges: list[list[int]] = []
        """Seqs of the rows that the change set inserted, both ends included; the last range is this transaction's."""
        self._has_inserted = False
        self._revised = self._erased = 0
        self._is_noted = False
        """Something was revised or erased."""

    def insert(self, seq: int) -> None:
        """Notes a new row; their seqs follow each other."""
        if self._has_inserted:
            self._known_ranges()[-1][1] = seq
        else:
            self._known_ranges().append([seq, seq])
            self._has_inserted = True

    def revise(self, mid: int, *, with_entry: bool) -> None:
        """Keeps a row as it is now, and its index entry where that is about to change."""
        seq = mid & MAX_SEQ
        if any(first <= seq <= last for first, last in self._known_ranges()):
            return
        values = {"mid": mid, "no": self._number()}
        self._revised += self._db.execute(_KEEP, values).rowcount
        if with_entry:
            self._db.execute(_KEEP_ENTRY, values)
        self._is_noted = True

    def erase(self, mid: int) -> None:
        """Drops every state that was kept of a row: it is erased for good."""
        self._db.execute("DELETE FROM revision WHERE mid = ?", (mid,))
        self._erased += 1
        self._is_noted = True

    def finish(self, now: datetime) -> str | None:
        """Writes the change set and returns its id; None where nothing was changed."""
        if not (self._has_inserted or self._is_noted):
            return None
        no, ranges = self._number(), json.dumps(self._ranges)
        if not self._is_new:
            self._db.execute(_MORE, (ranges, self._revised, self._erased, self._owner_no, no))
            return self._change.id_of(self._owner)
        named = f"{self._owner_no}/{no}/{micros(now)}/{self._owner.digest}"
        change_id = hashlib.blake2b(named.encode(), digest_size=12).hexdigest()
        change = self._change
        values = (change.undoes, int(change.is_partial), ranges, self._revised, self._erased)
        self._db.execute(_NEW, (self._owner_no, no, change_id, change.cause, micros(now), *values))
        return change_id

    def _known_ranges(self) -> list[list[int]]:
        self._number()
        return self._ranges

    def _number(self) -> int:
        """The number of the change set: that of the earlier writes of the same call, or the owner's next one."""
        if self._no is not None:
            return self._no
        number = self._change.id_of(self._owner)
        if number is not None:
            row = self._db.execute(
                "SELECT no, inserted FROM change_set WHERE id = ? AND owner_no = ?", (number, self._owner_no)
            ).fetchone()
            if row is not None:
                self._is_new, self._ranges = False, json.loads(row[1])
                self._no = int(row[0])
                return self._no
        [last] = self._db.execute("SELECT max(no) FROM change_set WHERE owner_no = ?", (self._owner_no,)).fetchone()
        self._no = (last or 0) + 1
        return self._no
