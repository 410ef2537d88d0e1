"""A process that raises a counter kept in a shared memory, and adds notes of its own.

Run as `python child_counter.py DIRECTORY COUNTER NAME TIMES`; prints what it saw as one line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace

from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.adapters.system.machine import SystemClock, TimeOrderedIds
from ebbing.domain.errors import ConflictError
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import entry_for
from ebbing.language.text.analyzer import analyse
from ebbing.ports.stores.memory_store import Insert, Revise

SHARED = Scope(user_id="shared")


async def raised(store: SqliteMemoryStore, memory_id: str) -> int:
    """Adds one to the counter; returns how often somebody else was faster."""
    conflicts = 0
    while True:
        [record] = await store.get(SHARED, [memory_id])
        more = replace(record, access_count=record.access_count + 1, version=record.version + 1)
        try:
            await store.write(SHARED, [Revise(more, Event.NONE)])
        except ConflictError:
            conflicts += 1
            continue
        return conflicts


async def main(directory: str, counter: str, *, name: str, times: int) -> None:
    store = SqliteMemoryStore.open(directory, clock=SystemClock())
    ids, conflicts, strangers = TimeOrderedIds(), 0, 0
    for number in range(times):
        conflicts += await raised(store, counter)
        now = SystemClock().now()
        note = MemoryRecord(ids.new(), SHARED, f"{name} note {number}", now, now)
        await store.write(SHARED, [Insert(note, entry_for(analyse(note.content, said_at=now)))])
        shard = await store.shard(SHARED)
        assert note.id in shard.ids, "a process does not see its own write"
        records = await store.get(SHARED, shard.ids)
        strangers = sum(not record.content.startswith(name) for record in records) - 1
    await store.aclose()
    sys.stdout.write(json.dumps({"conflicts": conflicts, "strangers": strangers}) + "\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], name=sys.argv[3], times=int(sys.argv[4])))
