"""Before a memory fades away: a long-term memory that says the same tells it from then on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Final

import numpy as np

from ebbing.domain.forgetting.policy import UpkeepPolicy
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import Kind, Layer, MemoryRecord
from ebbing.language.text.analyzer import query_terms
from ebbing.ports.models.embedder import Calibration
from ebbing.ports.stores.memory_store import Change, Revise
from ebbing.upkeep.fading.active_records import ActiveRecords
from ebbing.upkeep.fading.fade_record import StageChange
from ebbing.upkeep.merging.merge_records import MAX_TOLD, retire_into

_LOOKED_AT: Final = 3
SHARED_WORDS: Final = 0.5
"""Share of the fading memory's words that the long-term one must hold."""
_REASON: Final = "it was fading, and a long-term memory says the same"


@dataclass(frozen=True, slots=True)
class Absorbed:
    """What long-term memories take over."""

    into: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Id of the fading memory to the id of the one that tells it from now on."""
    changes: tuple[Change, ...] = ()


def absorb(
    here: ActiveRecords,
    moves: Sequence[StageChange],
    *,
    policy: UpkeepPolicy,
    calibration: Calibration | None,
    now: datetime,
) -> Absorbed:
    """Finds for each fading memory a long-term one of the same sort and speaker that tells it: much the same meaning
    (from `policy.merge_similarity` on), half of its words, the same numbers. Messages as they were said are not merged:
    they are the evidence."""
    fading = [move for move in moves if move.record.kind is Kind.MEMORY and here.shard.embedded[move.row]]
    core = _core(here, leaving={move.record.id for move in moves})
    if not fading or not core or calibration is None:
        return Absorbed()
    latest, into = _taken_over(here, fading, core=core, policy=policy, calibration=calibration)
    taken_over = [move.record for move in fading if move.record.id in into]
    stepping = [retire_into(record, into[record.id], now=now, reason=_REASON) for record in taken_over]
    telling = [_as_one(record, latest[record.id]) for record, _ in core if latest[record.id] is not record]
    return Absorbed(into, (*telling, *stepping))


def _taken_over(
    here: ActiveRecords,
    fading: Sequence[StageChange],
    *,
    core: Sequence[tuple[MemoryRecord, int]],
    policy: UpkeepPolicy,
    calibration: Calibration,
) -> tuple[dict[str, MemoryRecord], dict[str, str]]:
    """The long-term memories with what they tell from now on, and which of them tells each fading one."""
    cosines = here.shard.vectors[[move.row for move in fading]] @ here.shard.vectors[[row for _, row in core]].T
    latest = {record.id: record for record, _ in core}
    into: dict[str, str] = {}
    for move, row in zip(fading, calibration.similarity(cosines), strict=True):
        near = [core[at] for at in np.argsort(-row)[:_LOOKED_AT] if row[at] >= policy.merge_similarity]
        teller = next(
            (latest[candidate.id] for candidate, at in near if _tells(here, move, teller=latest[candidate.id], row=at)),
            None,
        )
        if teller is not None:
            into[move.record.id] = teller.id
            latest[teller.id] = _telling(teller, move.record)
    return latest, into


def _core(here: ActiveRecords, *, leaving: Collection[str]) -> list[tuple[MemoryRecord, int]]:
    """The long-term memories that stay and have a vector, with their rows."""
    return [
        (record, row)
        for record, row in zip(here.records, here.rows, strict=True)
        if record.layer is Layer.LONG_TERM and record.id not in leaving and here.shard.embedded[row]
    ]


def _tells(here: ActiveRecords, move: StageChange, *, teller: MemoryRecord, row: int) -> bool:
    """Whether one memory says what the fading one does, as far as words and numbers tell."""
    other = move.record
    sorts = [(record.type, record.actor, record.role, record.belongs_to, record.polarity) for record in (teller, other)]
    known_number, number = here.shard.numbers[row], here.shard.numbers[move.row]
    if sorts[0] != sorts[1] or number not in {0, known_number}:
        return False
    words = set(query_terms(other.content))
    teller_words = set(query_terms(teller.content))
    return len(words & teller_words) >= SHARED_WORDS * len(words) and len(teller.compression_sources) < MAX_TOLD


def _telling(teller: MemoryRecord, other: MemoryRecord) -> MemoryRecord:
    sources = tuple(dict.fromkeys((*teller.provenance.source_ids, *other.provenance.source_ids)))
    uses = [moment for moment in (teller.last_accessed_at, other.last_accessed_at) if moment]
    return replace(
        teller,
        is_compressed=True,
        compression_sources=(*teller.compression_sources, other.id),
        mentions=teller.mentions + other.mentions,
        access_count=teller.access_count + other.access_count,
        last_accessed_at=max(uses, default=None),
        importance=max(teller.importance, other.importance),
        provenance=replace(teller.provenance, source_ids=sources[:100]),
    )


def _as_one(before: MemoryRecord, after: MemoryRecord) -> Revise:
    return Revise(replace(after, version=before.version + 1), Event.NONE, reason=_REASON)
