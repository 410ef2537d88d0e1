"""A process that writes to a store until it is killed, and says what was acknowledged.

Run as `python child_writer.py DIRECTORY NAME`; prints one line with the ids of each write that returned.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Protocol

from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.adapters.system.machine import SystemClock, TimeOrderedIds
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import MemoryRecord, Provenance
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import entry_for
from ebbing.language.text.analyzer import analyse
from ebbing.loop_thread import LoopThread
from ebbing.ports.stores.memory_store import Change, Erase, Insert, Receipt, Revise
from ebbing.testing.models.embedder import FakeEmbedder

CALLERS = 4
EMBEDDER = FakeEmbedder(16)


def insert(record: MemoryRecord) -> Insert:
    [vector] = EMBEDDER.embed([record.content])
    analysis = analyse(record.content, said_at=record.created_at)
    return Insert(record, entry_for(analysis, vector=vector, model_id=EMBEDDER.model_id), once=True)


class Written(Protocol):
    """As much of a store as is needed here."""

    async def write(self, scope: Scope, changes: Sequence[Change]) -> list[str]: ...

    async def erase(self, scope: Scope) -> Receipt: ...


class Blocking:
    """A store whose callers block, as those of `Memory` do."""

    def __init__(self, store: SqliteMemoryStore) -> None:
        self._store, self._thread = store, LoopThread()

    async def write(self, scope: Scope, changes: Sequence[Change]) -> list[str]:
        return self._thread.run(self._store.write(scope, changes))

    async def erase(self, scope: Scope) -> Receipt:
        return self._thread.run(self._store.erase(scope))


async def write_for_ever(store: Written, scope: Scope, *, name: str) -> None:
    ids, clock = TimeOrderedIds(), SystemClock()
    for number in count():
        now = clock.now()
        records = [
            MemoryRecord(
                ids.new(),
                scope,
                f"{name} 第{number}条记忆, part {part} " * (1 + number % 7),
                now,
                now,
                provenance=Provenance(source_ids=(f"{name}-{number}-{part}",)),
            )
            for part in range(1 + number % 3)
        ]
        written = await store.write(scope, [insert(record) for record in records])
        acknowledge("ADDED", *written)
        if number % 3 == 0:
            revised = replace(records[0], content=f"{records[0].content} 改", version=2)
            await store.write(scope, [Revise(revised, Event.UPDATE, insert(revised).entry)])
            acknowledge("REVISED", written[0])
        if number % 5 == 0:
            acknowledge("ERASING", written[-1])
            await store.write(scope, [Erase(written[-1])])
            acknowledge("ERASED", written[-1])
        if number % 10 == 0:
            passing = Scope(user_id=f"{name} passing")
            record = MemoryRecord(ids.new(), passing, "soon gone", now, now)
            await store.write(passing, [insert(record)])
            await store.erase(passing)
            acknowledge("ERASED", record.id)


def acknowledge(what: str, *ids: str) -> None:
    sys.stdout.write(" ".join((what, *ids)) + "\n")
    sys.stdout.flush()


async def main(directory: str, name: str) -> None:
    store = SqliteMemoryStore.open(directory, clock=SystemClock(), model_id=EMBEDDER.model_id, dim=EMBEDDER.dim)
    scopes = [Scope(user_id=f"{name} {number}") for number in range(CALLERS)]
    for number in range(1, CALLERS, 2):
        blocking = write_for_ever(Blocking(store), scopes[number], name=f"{name}-{number}")
        threading.Thread(target=blocking.send, args=(None,)).start()
    await asyncio.gather(
        *(write_for_ever(store, scopes[number], name=f"{name}-{number}") for number in range(0, CALLERS, 2))
    )


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
