"""Between a record or its index entry and the columns in which a store keeps them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from sys import intern
from typing import Any, Final

import numpy as np

from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.record import Kind, Layer, MemoryRecord, MemoryType, Provenance, Role, Stage
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import TERM, IndexEntry
from ebbing.index.shard import digest, micros, moment, stored_vector, vector_of
from ebbing.language.text.caches import text_cache

RECORD_COLUMNS: Final = (
    *("id", "kind", "role", "type", "layer", "agent_id", "run_id", "actor"),
    *("created_at", "valid_from", "valid_to", "expires_at", "deleted_at", "digest", "importance", "strength"),
    *("attribute", "object"),
    *("version", "recorded_at", "updated_at", "last_accessed_at", "access_count", "confidence"),
    *(
        "value",
        "polarity",
        "trust",
        "scope",
        "language",
        "method",
        "rule",
        "superseded_by",
        "is_compressed",
        "abstraction_level",
    ),
    *("tags", "related_ids", "compression_sources", "source_ids", "delete_reason", "reason", "source_text"),
    *("metadata", "content", "retired_at", "mentions", "first_said_at", "stage", "growth", "packed"),
    "utc_offset_minutes",
)

# Looked up rather than constructed: a search reads ten records, and an enum call takes a microsecond.
_KINDS: Final = {str(member): member for member in Kind}
_TYPES: Final = {str(member): member for member in MemoryType}
_LAYERS: Final = {str(member): member for member in Layer}
_STAGES: Final[dict[str | None, Stage]] = {None: Stage.FULL, **{str(member): member for member in Stage}}
_ROLES: Final[dict[str | None, Role | None]] = {None: None, **{str(member): member for member in Role}}

UNSTORABLE: Final = "the record cannot be stored: metadata must be JSON, numbers must be finite, times need a zone"
Values = tuple[Any, ...]


def record_values(record: MemoryRecord) -> Values:
    """What `memory` holds of a record, in the order of `RECORD_COLUMNS`.

    Raises:
        InvalidInputError: the metadata is not JSON, or a time has no zone.
    """
    source = record.provenance
    try:
        begins, ends, expires, deleted, updated, accessed, retired, first_said = _times(record)
        tags, related, made_of, sources, metadata = _texts(record)
        return (
            *(record.id, record.kind, record.role, record.type, record.layer),
            *(record.belongs_to.agent_id, record.belongs_to.run_id, record.actor),
            *(micros(record.created_at), begins, ends, expires, deleted),
            *(digest(record.hash), record.importance, record.strength),
            *(record.attribute, record.object, record.version),
            *(micros(record.recorded_at), updated, accessed),
            *(record.access_count, record.confidence),
            *(record.value, record.polarity or None, record.trust),
            None if record.scope == "global" else record.scope,
            None if record.language == "und" else record.language,
            None if source.method == "raw" else source.method,
            *(source.rule, record.superseded_by, int(record.is_compressed) or None, record.abstraction_level or None),
            *(tags, related, made_of, sources, record.delete_reason, source.reason, source.source_text),
            *(metadata, record.content, retired, record.mentions if record.mentions > 1 else None, first_said),
            None if record.stage is Stage.FULL else record.stage,
            *(None if record.growth == 1 else record.growth, record.packed),
            record.utc_offset_minutes,
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(UNSTORABLE) from error


def _times(record: MemoryRecord) -> list[int | None]:
    moments = (
        *(record.valid_from, record.valid_to, record.expires_at, record.deleted_at),
        *(record.updated_at, record.last_accessed_at, record.retired_at, record.first_said_at),
    )
    return [None if when is None else micros(when) for when in moments]


def _texts(record: MemoryRecord) -> list[str | None]:
    lists = (
        *(record.tags, record.related_ids, record.compression_sources),
        *(record.provenance.source_ids, record.metadata),
    )
    return [_json(value) if value else None for value in lists]


def record_of(row: Sequence[Any], *, user: str | None, tenant: str) -> MemoryRecord:
    """The record behind a row in the order of `RECORD_COLUMNS`; its owner is known from elsewhere."""
    (memory_id, kind, role, knowledge, layer, agent, run, actor) = row[:8]
    (created, valid_from, valid_to, expires, deleted) = row[8:13]
    (importance, strength, attribute, object_, version, recorded, updated, accessed, access_count) = row[14:23]
    (confidence, value, polarity, trust, scope, language, method, rule) = row[23:31]
    (superseded_by, compressed, abstraction, tags, related, compression, sources) = row[31:38]
    (delete_reason, reason, source_text, metadata, content, retired, mentions, first_said) = row[38:46]
    stage, growth, packed, utc_offset_minutes = row[46:]
    return MemoryRecord(
        id=memory_id,
        belongs_to=_scope(user, agent, run=run, tenant=tenant),
        content=content,
        created_at=moment(created),
        recorded_at=moment(recorded),
        kind=_KINDS[kind],
        type=_TYPES[knowledge],
        layer=_LAYERS[layer],
        scope="global" if scope is None else scope,
        actor=actor,
        role=_ROLES[role],
        tags=_tuple(tags),
        metadata={} if metadata is None else json.loads(metadata),
        language="und" if language is None else intern(language),
        attribute=attribute,
        value=value,
        object=object_,
        polarity=polarity or 0,
        trust=None if trust is None else intern(trust),
        updated_at=_moment(updated),
        last_accessed_at=_moment(accessed),
        valid_from=_moment(valid_from),
        valid_to=_moment(valid_to),
        expires_at=_moment(expires),
        deleted_at=_moment(deleted),
        delete_reason=delete_reason,
        retired_at=_moment(retired),
        mentions=mentions or 1,
        first_said_at=_moment(first_said),
        strength=_shared(strength, strength),
        access_count=access_count,
        growth=1.0 if growth is None else growth,
        stage=_STAGES[stage],
        packed=packed,
        importance=_shared(importance, importance),
        confidence=_shared(confidence, confidence),
        provenance=Provenance(_tuple(sources), source_text, "raw" if method is None else method, rule, reason),
        related_ids=_tuple(related),
        superseded_by=superseded_by,
        is_compressed=bool(compressed),
        compression_sources=_tuple(compression),
        abstraction_level=abstraction or 0,
        version=version,
        utc_offset_minutes=utc_offset_minutes,
    )


def entry_values(entry: IndexEntry) -> Values:
    """What `index_entry` holds: length, flags, numbers, analyzer, terms, vector."""
    return (
        *(entry.length, entry.flags, entry.numbers, entry.analyzer),
        *(entry.terms.tobytes(), stored_vector(entry.vector)),
    )


def entry_of(columns: Sequence[Any]) -> IndexEntry | None:
    """The index entry behind its columns: the number of its model comes after the analyzer, the name at the end."""
    length, flags, numbers, analyzer, _, terms, vector, model = columns
    if length is None:
        return None
    return IndexEntry(np.frombuffer(terms, TERM), length, flags, numbers, analyzer, model, vector_of(vector))


@text_cache(4096)
def _scope(user: str | None, agent: str | None, *, run: str | None, tenant: str) -> Scope:
    return Scope(user_id=user, agent_id=agent, run_id=run, tenant=tenant)


_shared: Final = {value: value for value in (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0)}.get
"""The numbers that most records have, once for all of them."""


_json: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _tuple(text: str | None) -> tuple[str, ...]:
    return () if text is None else tuple(json.loads(text))


def _moment(value: int | None) -> datetime | None:
    return None if value is None else moment(value)
