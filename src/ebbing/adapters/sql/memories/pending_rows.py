"""Rows that a list of changes writes, gathered so that one statement writes many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

from sqlalchemy import Delete, Table, bindparam, case, delete, insert, update
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.rows.record_columns import RECORD_COLUMNS
from ebbing.adapters.sql.memories.owner_rows import OwnerRow
from ebbing.adapters.sql.memories.recorder import Recorder
from ebbing.adapters.sql.memories.row_values import Values
from ebbing.adapters.sql.people.profile_rows import forget_memories
from ebbing.adapters.sql.service.outbox import Note, append, is_followed
from ebbing.adapters.sql.service.request_rows import forget_answers
from ebbing.adapters.sql.tables.columns import WHOLE
from ebbing.adapters.sql.tables.conditions import chunks, is_in, of_owner
from ebbing.adapters.sql.tables.owner_tables import FEEDBACK, HISTORY, INDEX_ENTRY, MEMORY, RETURNED, SOURCE
from ebbing.domain.memory.scope import Scope

_CHANGED: Final = (*RECORD_COLUMNS[1:], "app_id", "is_blank", "changed")
_OF_SEQ: Final = bindparam("of_seq", type_=WHOLE)
_UPDATE: Final = (
    update(MEMORY)
    .where(of_owner(MEMORY), MEMORY.c.seq == _OF_SEQ)
    .values({name: bindparam(f"new_{name}") for name in _CHANGED})
)
_TOUCH: Final = update(MEMORY).where(of_owner(MEMORY), MEMORY.c.seq == _OF_SEQ).values(changed=bindparam("new_changed"))
_IS_BARE: Final = bindparam("is_bare", type_=INDEX_ENTRY.c.flags.type) == 1
_THIN: Final = (
    update(INDEX_ENTRY)
    .where(of_owner(INDEX_ENTRY), INDEX_ENTRY.c.seq == _OF_SEQ)
    .values(
        flags=INDEX_ENTRY.c.flags.bitwise_or(bindparam("more_flags", type_=INDEX_ENTRY.c.flags.type)),
        model=case((_IS_BARE, None), else_=INDEX_ENTRY.c.model),
        vector=case((_IS_BARE, None), else_=INDEX_ENTRY.c.vector),
    )
)


def _by_seq(table: Table) -> Delete:
    return delete(table).where(of_owner(table), is_in(table.c.seq, "seqs"))


_DROP_ENTRIES: Final = _by_seq(INDEX_ENTRY)
_DROP_SOURCES: Final = _by_seq(SOURCE)
_ERASE: Final = tuple(map(_by_seq, (INDEX_ENTRY, RETURNED, FEEDBACK, SOURCE, MEMORY)))
_ERASE_HISTORY: Final = delete(HISTORY).where(of_owner(HISTORY), is_in(HISTORY.c.memory_id, "ids"))


@dataclass(slots=True)
class PendingRows:
    """What is still to be written of one owner: new and changed rows, or rows to be erased, never both."""

    db: AsyncConnection
    owner: OwnerRow
    recorder: Recorder
    new: dict[int, Values] = field(default_factory=dict)
    changed: list[Values] = field(default_factory=list)
    touched: list[int] = field(default_factory=list)
    entries: dict[int, Values] = field(default_factory=dict)
    thinned: list[Values] = field(default_factory=list)
    sources: dict[int, list[Values]] = field(default_factory=dict)
    history: list[Values] = field(default_factory=list)
    """What happened to the records."""
    kept_states: dict[int, bool] = field(default_factory=dict)
    """Rows of which the state before is to be kept, and whether with the index entry."""
    erased: dict[int, str] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    """What an index outside the store has to follow."""
    _is_followed: bool | None = None

    def insert(self, seq: int, values: Values, *, entry: Values | None, sources: list[Values]) -> None:
        """Note a new row."""
        self.new[seq] = values
        self.notes.append(Note(seq, values["id"], "put"))
        if entry is not None:
            self.entries[seq] = entry
        if sources:
            self.sources[seq] = sources

    def revise(self, seq: int, values: Values, *, changes_entry: bool) -> None:
        """Note a row that is there and gets new values."""
        self.notes.append(Note(seq, values["id"], "put"))
        self.kept_states[seq] = changes_entry or self.kept_states.get(seq, False)
        self.changed.append({"of_seq": seq, **{f"new_{name}": value for name, value in values.items() if name != "id"}})

    def touch(self, seq: int, memory_id: str, *, entry: Values) -> None:
        """Note a row that is there and gets a new index entry."""
        self.notes.append(Note(seq, memory_id, "put"))
        self.entries[seq] = entry
        self.touched.append(seq)

    def thin(self, seq: int, *, flags: int, is_bare: bool) -> None:
        """Note bits that an entry gets, and whether it loses its vector."""
        entry = self.entries.get(seq)
        if entry is None:
            self.thinned.append({"of_seq": seq, "more_flags": flags, "is_bare": int(is_bare)})
            return
        entry["flags"] |= flags
        if is_bare:
            entry["model"] = entry["vector"] = None

    async def flush(self, generation: int) -> None:
        """Write all of it."""
        if self.erased:
            self.notes.extend(Note(seq, memory_id, "erase") for seq, memory_id in self.erased.items())
            await self._erase()
            await self._note()
            return
        columns = self.owner.columns
        await self._each(insert(MEMORY), [{**columns, "seq": seq, **row} for seq, row in self.new.items()])
        await self.recorder.keep(self.kept_states)
        await self._change(generation)
        await self._index()
        await self._each(insert(HISTORY), [{**columns, **row} for row in self.history])
        for rows in (self.new, self.changed, self.touched, self.entries, self.thinned, self.sources, self.history):
            rows.clear()
        self.kept_states.clear()
        await self._note()

    async def _note(self) -> None:
        if self._is_followed is None:
            self._is_followed = await is_followed(self.db)
        if self._is_followed:
            await append(self.db, self.owner, notes=self.notes)
        self.notes.clear()

    async def _change(self, generation: int) -> None:
        key = self.owner.key
        await self._each(_UPDATE, [{**key, "new_changed": generation, **row} for row in self.changed])
        await self._each(_TOUCH, [{**key, "of_seq": seq, "new_changed": generation} for seq in self.touched])

    async def _index(self) -> None:
        key, columns = self.owner.key, self.owner.columns
        await self._delete(_DROP_ENTRIES, [seq for seq in self.entries if seq not in self.new])
        await self._each(insert(INDEX_ENTRY), [{**columns, "seq": seq, **row} for seq, row in self.entries.items()])
        await self._each(_THIN, [{**key, **row} for row in self.thinned])
        await self._delete(_DROP_SOURCES, [seq for seq in self.sources if seq not in self.new])
        await self._each(insert(SOURCE), list(chain.from_iterable(self.sources.values())))

    async def _erase(self) -> None:
        seqs, ids = list(self.erased), list(self.erased.values())
        for statement in _ERASE:
            await self._delete(statement, seqs)
        for some in chunks(ids):
            await self.db.execute(_ERASE_HISTORY, {**self.owner.key, "ids": some})
        await self.recorder.erase(seqs)
        await forget_memories(self.db, self.owner, ids=ids)
        await forget_answers(self.db, Scope.of(self.owner.owner))
        self.erased.clear()

    async def _each(self, statement: Any, rows: Sequence[Mapping[str, Any]]) -> None:
        if rows:
            await self.db.execute(statement, list(rows))

    async def _delete(self, statement: Delete, seqs: Sequence[int]) -> None:
        for some in chunks(seqs):
            await self.db.execute(statement, {**self.owner.key, "seqs": some})
