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
    found: dict[str, MemoryRecord] = {}
    waiting = [teller]
    for _ in range(_DEEPEST):
        ids = dict.fromkeys(name for one in waiting for name in one.compression_sources if name not in found)
        records = await store.get(scope, list(ids)) if ids else []
        waiting = [one for one in records if one.is_compressed]
        found |= {one.id: one for one in records}
        if not waiting:
            break
    return sorted((one for one in found.values() if not one.is_compressed), key=lambda one: (one.created_at, one.id))
