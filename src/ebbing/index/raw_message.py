"""What is to be kept as it was said, before a record is made of it; and the record and entry that are made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.memory.record import Kind, MemoryRecord, MemoryType, Provenance, Role
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import IndexEntry, unread_entry
from ebbing.language.text.detect_language import detect

AS_SAID: Final = "stored as said"
"""Why there is a memory of it."""
_RAW: Final = Provenance()
_TYPES: Final = {
    "preference": MemoryType.PREFERENCE,
    "dislike": MemoryType.PREFERENCE,
    "constraint": MemoryType.CONSTRAINT,
    "fact": MemoryType.FACT,
    "identity": MemoryType.FACT,
}


@dataclass(frozen=True, slots=True)
class Call:
    """What all records of one call share."""

    scope: Scope
    metadata: Mapping[str, Any]
    now: datetime
    tags: tuple[str, ...] = ()
    expires_at: datetime | None = None


class Said(NamedTuple):
    """A message, or a part of one, that is to be kept in just its words. Its id was drawn for it: no other has it.

    A tuple, and no record yet: to make one of these takes a twentieth of the time, and whoever stores it can do the
    rest when nobody waits.
    """

    id: str
    text: str
    call: Call
    role: Role | None = None
    actor: str | None = None
    said_at: datetime | None = None
    """When it was said, where that is known; else when it was called in."""
    trust: str | None = None
    model_id: str | None = None
    vector: NDArray[np.float32] | None = None


def said_record(
    said: Said,
    *,
    kind: Kind = Kind.MEMORY,
    tags: tuple[str, ...] | None = None,
    provenance: Provenance = _RAW,
) -> MemoryRecord:
    """The record of it, with the call's tags unless others are given."""
    call = said.call
    return MemoryRecord(
        id=said.id,
        whose=call.scope,
        content=said.text,
        created_at=said.said_at or call.now,
        recorded_at=call.now,
        kind=kind,
        type=type_named_by(call.tags) if kind is Kind.MEMORY else MemoryType.EPISODIC,
        actor=said.actor,
        role=said.role,
        tags=call.tags if tags is None else tags,
        metadata=dict(call.metadata),
        expires_at=call.expires_at,
        language=detect(said.text),
        trust=said.trust,
        provenance=provenance,
    )


def said_entry(said: Said) -> IndexEntry:
    """The entry of it, unread."""
    return unread_entry(vector=said.vector, model_id=said.model_id, utterance=True)


def type_named_by(tags: Sequence[str]) -> MemoryType:
    """The type that the first well-known tag names."""
    return next((_TYPES[tag] for tag in tags if tag in _TYPES), MemoryType.EPISODIC) if tags else MemoryType.EPISODIC
