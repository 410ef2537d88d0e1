"""The searchable row of a record."""

from __future__ import annotations

from ebbing.domain.memory.record import MemoryRecord
from ebbing.index.index_entry import IndexEntry
from ebbing.index.row import Row
from ebbing.index.shard import digest, micros, stored_vector


def row_for(seq: int, record: MemoryRecord, *, entry: IndexEntry | None) -> Row:
    """The row of a record that is at hand; stores that keep rows as columns read it from there instead."""
    gone = [moment for moment in (record.deleted_at, record.retired_at) if moment is not None]
    return Row(
        seq=seq,
        id=record.id,
        kind=record.kind,
        role=record.role,
        type=record.type,
        layer=record.layer,
        agent=record.belongs_to.agent_id,
        run=record.belongs_to.run_id,
        actor=record.actor,
        created=micros(record.created_at),
        valid_from=micros(record.valid_from) if record.valid_from else None,
        valid_to=micros(record.valid_to) if record.valid_to else None,
        expires=micros(record.expires_at) if record.expires_at else None,
        digest=digest(record.hash),
        importance=record.importance,
        strength=record.strength,
        recorded=micros(record.recorded_at),
        deleted=min(map(micros, gone), default=None),
        alive=not gone,
        length=entry.length if entry else None,
        flags=entry.flags if entry else None,
        numbers=entry.numbers if entry else None,
        terms=entry.terms.tobytes() if entry else None,
        model_id=entry.model_id if entry else None,
        vector=stored_vector(entry.vector) if entry else None,
        attribute=record.attribute,
        object=record.object,
        mentions=record.mentions,
        utc_offset_minutes=record.utc_offset_minutes,
    )
