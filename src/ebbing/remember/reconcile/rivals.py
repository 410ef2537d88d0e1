"""The rivals of a memory that becomes current again: memories that contradict it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from typing import Final

import numpy as np

from ebbing.domain.conflict.compare import Relation, compare
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import Kind, MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import KINDS, micros
from ebbing.ports.stores.memory_store import MemoryStore, Revise
from ebbing.remember.facts.known_memories import known_memory

GAVE_WAY: Final = "another value of it was made current again"


async def rivals_of(
    store: MemoryStore, record: MemoryRecord, *, scope: Scope, now: datetime, without: Collection[str] = ()
) -> list[MemoryRecord]:
    """Return the current memories that give another value of the same single-valued attribute, or the opposite taste
    about the same thing; none of those in `without`.
    """
    if record.kind is not Kind.MEMORY or (record.attribute is None and record.object is None):
        return []
    whole = Scope.of(scope.owner)
    shard = await store.shard(whole)
    same = np.zeros(shard.size, dtype=np.bool_)
    if record.attribute is not None:
        same |= shard.attribute == shard.attributes.find(record.attribute)
    if record.object is not None:
        same |= shard.object == shard.objects.find(record.object)
    moment = micros(now)
    same &= shard.alive & (shard.kind == KINDS.index(Kind.MEMORY))
    same &= (shard.valid_to > moment) & (shard.expires > moment)
    skipped = {record.id, *without}
    ids = [shard.ids[row] for row in np.flatnonzero(same) if shard.ids[row] not in skipped]
    return [memory for memory in await store.get(whole, ids) if _is_rival(memory, record)]


def closed_rival(rival: MemoryRecord, winner: str, *, now: datetime) -> Revise:
    """Return the change by which a memory gives way to one that was made current again."""
    closed = replace(rival, version=rival.version + 1, valid_to=max(now, rival.created_at), superseded_by=winner)
    return Revise(closed, Event.SUPERSEDE, reason=GAVE_WAY)


def _is_rival(record: MemoryRecord, other: MemoryRecord) -> bool:
    first, second = known_memory(record).claim, known_memory(other).claim
    verdicts = (compare(first, second), compare(second, first))
    return any(verdict.relation is Relation.CONTRADICTS and not verdict.guess for verdict in verdicts)
