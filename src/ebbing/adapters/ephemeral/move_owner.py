"""Rows of one room become another's, and what has to be put right where they were for a while."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Final

from ebbing.adapters.ephemeral.owner_rows import Kept, Room
from ebbing.domain.memory.history import Event, HistoryEntry
from ebbing.domain.memory.record import Kind, MemoryRecord
from ebbing.domain.memory.scope import Owner

PARTED: Final = "the merge of two persons was undone"


def moved(source: Room, target: Room, *, to: Owner, by: int, rows: tuple[int, int]) -> list[str]:
    """Moves the rows from the first to the last number, each raised by `by`; the ids of those there were."""
    first, last = rows
    leaving = sorted((item for item in source.kept.values() if first <= item.seq <= last), key=lambda one: one.seq)
    for item in leaving:
        memory_id = item.record.id
        tally = source.tallies.pop(memory_id, None)
        for write in source.log:  # its states belong to change sets of the former owner
            write.before.pop(memory_id, None)
        source.take_out(memory_id)
        whose = replace(item.record.whose, user_id=to.name)
        target.put(memory_id, replace(item, seq=item.seq + by, record=replace(item.record, whose=whose)))
        if tally is not None:
            target.tallies[memory_id] = tally
    source.let_go()
    source.generation += 1
    target.generation += 1
    target.last_seq = max(target.last_seq, last + by)
    return [item.record.id for item in leaving]


def part(one: Room, other: Room, *, at: datetime, numbers: Iterator[int]) -> None:
    """Undoes what rows of two rooms did to each other: a closed one holds again, what told of both is deleted."""
    tellers = {
        row.record.id
        for room, stranger in ((one, other), (other, one))
        for row in room.kept.values()
        if any(source in stranger.kept for source in row.record.compression_sources)
    }
    for room, stranger in ((one, other), (other, one)):
        for row in list(room.kept.values()):
            winner = row.record.superseded_by
            if winner is not None and (winner in stranger.kept or winner in tellers):
                room.put(row.record.id, _reopened(row, at=at, numbers=numbers))
            elif row.record.id in tellers:
                gone = _next(row.record, deleted_at=at, delete_reason=PARTED)
                room.put(gone.id, _told(row, gone, event=Event.DELETE, at=at, numbers=numbers))


def _reopened(row: Kept, *, at: datetime, numbers: Iterator[int]) -> Kept:
    ends = row.record.valid_to if row.record.retired_at is not None else None
    again = _next(row.record, valid_to=ends, retired_at=None, superseded_by=None)
    return _told(row, again, event=Event.UPDATE, at=at, numbers=numbers)


def _next(record: MemoryRecord, **values: object) -> MemoryRecord:
    changed: MemoryRecord = replace(record, version=record.version + 1, **values)  # type: ignore[arg-type]
    return changed


def _told(row: Kept, record: MemoryRecord, *, event: Event, at: datetime, numbers: Iterator[int]) -> Kept:
    if record.kind is not Kind.MEMORY:
        return replace(row, record=record)
    entry = HistoryEntry(
        id=str(next(numbers)),
        memory_id=record.id,
        old_memory=record.content,
        new_memory=None if event is Event.DELETE else record.content,
        event=event,
        created_at=record.created_at,
        updated_at=at,
        is_deleted=record.deleted_at is not None,
        actor_id=record.actor,
        role=record.role,
        reason=PARTED,
    )
    return replace(row, record=record, history=(*row.history, entry))
