"""Between records, index entries and the columns of the tables."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ebbing.adapters.rows.record_columns import RECORD_COLUMNS, entry_values, record_of, record_values
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import IndexEntry
from ebbing.index.shard import micros

Source = tuple[str, str, str]
"""Kind, run ('' for none) and the digest of a source id of a record."""
Values = dict[str, Any]


def memory_values(record: MemoryRecord) -> Values:
    """Return what `memory` holds of a record, but for its key and when it was changed.

    Raises:
        InvalidInputError: the metadata is not JSON, or a time has no zone.
    """
    app = record.metadata.get("app_id")
    values: Values = dict(zip(RECORD_COLUMNS, record_values(record), strict=True))
    values["app_id"] = app if isinstance(app, str) else None
    values["is_blank"] = int(not record.content.strip())
    return values


def index_values(entry: IndexEntry) -> Values:
    """Return what `index_entry` holds, but for its key and the number of the model."""
    return dict(zip(("length", "flags", "numbers", "analyzer", "terms", "vector"), entry_values(entry), strict=True))


def history_values(event: Event, record: MemoryRecord, *, old: str | None, reason: str | None, now: datetime) -> Values:
    """Return a row of `history`, but for its key."""
    return {
        "memory_id": record.id,
        "old_memory": old,
        "new_memory": None if event is Event.DELETE else record.content,
        "event": event,
        "created_at": micros(record.created_at),
        "updated_at": None if event is Event.ADD else micros(now),
        "is_deleted": int(record.deleted_at is not None),
        "actor_id": record.actor,
        "role": record.role,
        "reason": reason,
    }


def sources_of(record: MemoryRecord) -> list[Source]:
    """Return the sources of a record, the first one first."""
    run = record.belongs_to.run_id or ""
    return [(record.kind, run, source_digest(source_id)) for source_id in record.provenance.source_ids]


def source_digest(source_id: str) -> str:
    """Return what stands for a source id in a key: it may be long."""
    return hashlib.blake2b(source_id.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def source_rows(key: Mapping[str, Any], sources: Sequence[Source], *, seq: int) -> list[Values]:
    """Return rows of `source`; of a source that is named twice the first place counts."""
    places: dict[str, Values] = {}
    for place, (kind, run, digest) in enumerate(sources):
        places.setdefault(digest, {**key, "digest": digest, "seq": seq, "kind": kind, "run": run, "place": place})
    return list(places.values())


def record_from(row: Sequence[Any], scope: Scope) -> MemoryRecord:
    """Return the record behind the columns `RECORD_COLUMNS` of a row."""
    return record_of(tuple(row), user=scope.user_id, tenant=scope.tenant)
