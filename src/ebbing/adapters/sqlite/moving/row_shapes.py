"""Between the rows of the file and the form that all stores share (see `ebbing.ports.stores.store_tables`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from sqlite3 import Connection
from typing import Any, Final

from ebbing.adapters.sqlite.memories.rows import MAX_SEQ, SEQ_BITS, utc_text
from ebbing.adapters.system.move_state import ORPHANS
from ebbing.domain.errors import InvalidInputError, StoreError
from ebbing.domain.memory.scope import Owner
from ebbing.index.shard import micros, moment
from ebbing.ports.stores.store_tables import Row

NAMES: Final = {"embedding_model": "model", "parked_edit": "profile_edit"}
"""Tables that have another name in the file."""
_TIMES: Final = ("created_at", "updated_at")
"""Times of the history, which are texts in the file."""


class Owners:
    """Who the owners are, by number and by name; the last one is remembered, since rows lie side by side by owner."""

    def __init__(self, db: Connection) -> None:
        self._db = db
        self._last: tuple[int, Owner] | None = None

    def owner(self, no: int) -> Owner:
        """Return the owner of a number.

        Raises:
            StoreError: there is none.
        """
        if self._last is None or self._last[0] != no:
            row = self._db.execute("SELECT tenant, kind, name FROM owner WHERE no = ?", (no,)).fetchone()
            if row is None:
                raise StoreError(ORPHANS)
            self._last = (no, Owner(*row))
        return self._last[1]

    def number(self, owner: Owner) -> int:
        """Return the number of an owner."""
        if self._last is None or self._last[1] != owner:
            statement = "SELECT no FROM owner WHERE tenant = ? AND kind = ? AND name = ?"
            (no,) = self._db.execute(statement, owner).fetchone()
            self._last = (no, owner)
        return self._last[0]


def read_rows(table: str, rows: Iterable[Row], *, owners: Owners) -> Iterator[Row]:
    """Yield rows of the file in the form that all stores share.

    Raises:
        StoreError: a row belongs to nobody.
    """
    for row in rows:
        if table == "owner":
            row["owner"] = Owner(row.pop("tenant"), row.pop("kind"), row.pop("name"))
        elif table == "parked_edit":
            if row["tenant"] is None:
                raise StoreError(ORPHANS)
            row["merge"] = -row.pop("owner_no")
        elif "mid" in row:
            _name_owner(row, table, owners=owners)
        elif "owner_no" in row:
            row["owner"] = owners.owner(row.pop("owner_no"))
        yield row


def _name_owner(row: Row, table: str, *, owners: Owners) -> None:
    mid = row.pop("mid")
    if mid is None:
        raise StoreError(ORPHANS)
    row["owner"] = owners.owner(mid >> SEQ_BITS)
    row.pop("owner_no", None)
    if table == "history":
        row["no"] = row.pop("id")
        for name in _TIMES:
            row[name] = None if row[name] is None else micros(datetime.fromisoformat(row[name]))
    else:
        row["seq"] = mid & MAX_SEQ


def file_rows(table: str, rows: Iterable[Row], *, owners: Owners) -> Iterator[dict[str, Any]]:
    """Yield rows as the file holds them.

    Raises:
        InvalidInputError: an owner has more rows than an embedded store can number.
    """
    for shared in rows:
        row = dict(shared)
        owner = row.pop("owner", None)
        if table == "owner":
            row |= {"tenant": owner.tenant, "kind": owner.kind, "name": owner.name}
        elif table == "parked_edit":
            del row["tenant"]
            row["owner_no"] = -row.pop("merge")
        elif table == "history":
            row["id"] = row.pop("no")
            row |= {name: None if row[name] is None else utc_text(moment(row[name])) for name in _TIMES}
        elif owner is not None:
            no = owners.number(owner)
            if "seq" in row:
                row["mid"] = no << SEQ_BITS | _checked(row.pop("seq"))
            if "seq" not in shared or table == "source":
                row["owner_no"] = no
        yield row


def _checked(seq: int) -> int:
    if seq > MAX_SEQ:
        raise InvalidInputError(
            f"an owner has row number {seq}, and an embedded store numbers an owner's rows up to {MAX_SEQ}:"
            " move to a database server"
        )
    return seq
