"""What a memory tells in the place of others: those others, in the order in which they were said."""

from __future__ import annotations

from typing import Final

from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.ports.memory_store import MemoryStore

_DEEPEST: Final = 64
"""How often a memory that tells others may itself be told by one; more than a lifetime of repeats takes."""


async def merged_sources(store: MemoryStore, teller: MemoryRecord) -> list[MemoryRecord]:
    """The records behind a memory, oldest first; where one of them tells others itself, these stand for it."""
    scope = Scope.of(teller.whose.owner)
    records_by_id: dict[str, MemoryRecord] = {}
    waiting = [teller]
    for _ in range(_DEEPEST):
        ids = dict.fromkeys(
            name for record in waiting for name in record.compression_sources if name not in records_by_id
        )
        records = await store.get(scope, list(ids)) if ids else []
        waiting = [record for record in records if record.is_compressed]
        records_by_id |= {record.id: record for record in records}
        if not waiting:
            break
    sources = [record for record in records_by_id.values() if not record.is_compressed]
    return sorted(sources, key=lambda record: (record.created_at, record.id))
