"""Writes down what a transaction is about to change, so that it can be undone: in that same transaction."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import BigInteger, and_, bindparam, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.rows.record_columns import RECORD_COLUMNS
from ebbing.adapters.sql.memories.owner_rows import OwnerRow
from ebbing.adapters.sql.tables.conditions import chunks, is_in, of_owner, same_row
from ebbing.adapters.sql.tables.owner_tables import CHANGE_SET, ENTRY_COLUMNS, INDEX_ENTRY, MEMORY, REVISION
from ebbing.domain.memory.change_set import ChangeSet
from ebbing.domain.memory.scope import Owner
from ebbing.index.shard import micros

_NO: Final = bindparam("change_no", type_=BigInteger())
_KEY: Final = ("tenant", "owner", "seq")
_RECORD: Final = tuple(MEMORY.c[name] for name in (*_KEY, *RECORD_COLUMNS))
_ENTRY: Final = tuple(INDEX_ENTRY.c[name] for name in ENTRY_COLUMNS)
_SOME: Final = and_(of_owner(MEMORY), is_in(MEMORY.c.seq, "seqs"))
_KEEP: Final = insert(REVISION).from_select([*_KEY, *RECORD_COLUMNS, "no"], select(*_RECORD, _NO).where(_SOME))
_KEEP_WITH_ENTRY: Final = insert(REVISION).from_select(
    [*_KEY, *RECORD_COLUMNS, *ENTRY_COLUMNS, "no"],
    select(*_RECORD, *_ENTRY, _NO)
    .select_from(MEMORY.outerjoin(INDEX_ENTRY, same_row(MEMORY, INDEX_ENTRY)))
    .where(_SOME),
)
_ENTRIES: Final = select(INDEX_ENTRY.c.seq, *_ENTRY).where(of_owner(INDEX_ENTRY), is_in(INDEX_ENTRY.c.seq, "seqs"))
_ADD_ENTRY: Final = (
    update(REVISION)
    .where(of_owner(REVISION), REVISION.c.seq == bindparam("of_seq"), REVISION.c.no == bindparam("of_no"))
    .values({name: bindparam(f"new_{name}") for name in ENTRY_COLUMNS})
)
_STATES: Final = select(REVISION.c.seq, REVISION.c.length).where(
    of_owner(REVISION), REVISION.c.no == bindparam("of_no")
)
_DROP: Final = delete(REVISION).where(of_owner(REVISION), is_in(REVISION.c.seq, "seqs"))
_BEGUN: Final = select(CHANGE_SET.c.no, CHANGE_SET.c.inserted).where(
    of_owner(CHANGE_SET), CHANGE_SET.c.id == bindparam("of_id")
)
_NEW: Final = insert(CHANGE_SET)
_MORE: Final = (
    update(CHANGE_SET)
    .where(of_owner(CHANGE_SET), CHANGE_SET.c.no == bindparam("of_no"))
    .values(
        inserted=bindparam("new_inserted"),
        revised=CHANGE_SET.c.revised + bindparam("more_revised"),
        erased=CHANGE_SET.c.erased + bindparam("more_erased"),
    )
)


class Recorder:
    """One owner's share of a change set within one transaction."""

    def __init__(self, db: AsyncConnection, row: OwnerRow, *, owner: Owner, change: ChangeSet) -> None:
        self._db, self._row, self._change = db, row, change
        self._owner = owner
        """Under whose name the caller knows the change set; another one's than the row's for a late write."""
        self._no = 0
        """Of the change set: the earlier one of the same call, or the owner's next one."""
        self._is_new = True
        self._ranges: list[list[int]] = []
        """Seqs of the rows that the change set inserted, both ends included; the last range is this transaction's."""
        self._states: dict[int, bool] = {}
        """Seqs of the rows of which a state is kept, and whether with its entry."""
        self._has_inserted = self._is_noted = False
        self._revised = self._erased = 0

    @classmethod
    async def begin(cls, db: AsyncConnection, row: OwnerRow, *, owner: Owner, change: ChangeSet) -> Recorder:
        """Go on with the change set if an earlier write of the same call began it."""
        recorder = cls(db, row, owner=owner, change=change)
        change_id = change.id_of(owner)
        if change_id is not None:
            begun = (await db.execute(_BEGUN, {**row.key, "of_id": change_id})).first()
            if begun is not None:
                await recorder.resume(begun.no, begun.inserted)
                return recorder
        recorder._no = row.last_change + 1
        return recorder

    async def resume(self, number: int, inserted: str) -> None:
        """Go on with a change set that is there."""
        self._no, self._is_new, self._ranges = number, False, json.loads(inserted)
        for seq, length in await self._db.execute(_STATES, {**self._row.key, "of_no": number}):
            self._states[seq] = length is not None

    def insert(self, seq: int) -> None:
        """Note a new row; their seqs follow each other."""
        if self._has_inserted:
            self._ranges[-1][1] = seq
        else:
            self._ranges.append([seq, seq])
            self._has_inserted = True

    def is_new(self, seq: int) -> bool:
        """Whether the change set itself inserted the row, so that nothing was before it."""
        return any(first <= seq <= last for first, last in self._ranges)

    async def keep(self, seqs: Mapping[int, bool]) -> None:
        """Keep rows as they are now; those with True with their index entry, which is about to change.

        The first state of a row is kept, and its first entry: a later write of the same change set may be the first
        one that changes the entry.
        """
        fresh = {seq: with_entry for seq, with_entry in seqs.items() if not self.is_new(seq)}
        if not fresh:
            return
        self._is_noted = True
        for statement, is_wanted in ((_KEEP, False), (_KEEP_WITH_ENTRY, True)):
            new = [seq for seq, with_entry in fresh.items() if seq not in self._states and with_entry is is_wanted]
            for some in chunks(new):
                await self._db.execute(statement, {**self._row.key, "seqs": some, "change_no": self._no})
            self._revised += len(new)
        await self._add_entries(
            [seq for seq, with_entry in fresh.items() if with_entry and not self._states.get(seq, True)]
        )
        for seq, with_entry in fresh.items():
            self._states[seq] = with_entry or self._states.get(seq, False)

    async def erase(self, seqs: Sequence[int]) -> None:
        """Drop every state that was kept of rows: they are erased for good."""
        for some in chunks(seqs):
            await self._db.execute(_DROP, {**self._row.key, "seqs": some})
        for seq in seqs:
            self._states.pop(seq, None)
        self._erased += len(seqs)
        self._is_noted = True

    async def finish(self, now: datetime) -> str | None:
        """Write the change set and return its id; None where nothing was changed."""
        if not (self._has_inserted or self._is_noted):
            return None
        ranges, row = json.dumps(self._ranges), self._row
        if not self._is_new:
            more = {"new_inserted": ranges, "more_revised": self._revised, "more_erased": self._erased}
            await self._db.execute(_MORE, {**row.key, "of_no": self._no, **more})
            return self._change.id_of(self._owner)
        row.last_change = self._no
        named = f"{row.no}/{self._no}/{micros(now)}/{row.owner.digest}"
        values: dict[str, Any] = {
            "id": hashlib.blake2b(named.encode(), digest_size=12).hexdigest(),
            "cause": self._change.cause,
            "at": micros(now),
            "undoes": self._change.undoes,
            "is_partial": int(self._change.is_partial),
            "revised": self._revised,
            "erased": self._erased,
        }
        await self._db.execute(_NEW, {**row.columns, "no": self._no, "inserted": ranges, **values})
        return str(values["id"])

    async def _add_entries(self, seqs: Sequence[int]) -> None:
        """Add the entry, as it is now, to states that were kept without it."""
        if not seqs:
            return
        entries = await self._db.execute(_ENTRIES, {**self._row.key, "seqs": seqs})
        rows = [
            {**self._row.key, "of_seq": seq, "of_no": self._no}
            | {f"new_{name}": value for name, value in zip(ENTRY_COLUMNS, entry, strict=True)}
            for seq, *entry in entries
        ]
        if rows:
            await self._db.execute(_ADD_ENTRY, rows)
