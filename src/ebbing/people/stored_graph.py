"""The graph of an owner as their memories in the store tell it."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from ebbing.domain.memory.record import Kind, MemoryRecord, Role
from ebbing.domain.memory.scope import Scope
from ebbing.people.entity_graph import Graph, graph_of
from ebbing.ports.stores.memory_store import MemoryStore

MAX_READ: Final = 50_000
"""Memories that a graph is made from; of more, the newest."""
_PAGE: Final = 1_000


async def stored_graph(store: MemoryStore, scope: Scope, *, at: datetime, past: bool) -> Graph:
    """Return what the memories of a scope tell as of a moment, with what ended before it where `past`."""
    return graph_of(await _memories(store, scope), at=at, past=past, owner_name=scope.owner.name)


async def _memories(store: MemoryStore, scope: Scope) -> list[MemoryRecord]:
    """Return the memories, the oldest first; of a user those that they told."""
    records: list[MemoryRecord] = []
    cursor: str | None = None
    while len(records) < MAX_READ:
        page = await store.page(scope, kinds=(Kind.MEMORY,), limit=_PAGE, cursor=cursor)
        records += [record for record in page.records if scope.user_id is None or record.role is not Role.ASSISTANT]
        cursor = page.next_cursor
        if cursor is None:
            break
    return records[::-1]
