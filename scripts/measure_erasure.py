"""What erasing costs: prints the table of docs/storage.md.

Run as `python scripts/measure_erasure.py [MEMORIES…]`; makes stores of so many memories (10,000 and 40,000 unless
given) of 100 owners in a temporary directory, and takes about a minute.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.adapters.system.machine import SystemClock, TimeOrderedIds
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import entry_for
from ebbing.language.text.analyzer import analyse
from ebbing.ports.stores.memory_store import Erase, Insert
from ebbing.testing.models.embedder import FakeEmbedder

OWNERS = 100
WORDS = "memory garden river mountain coffee morning train project doctor music winter holiday kitchen".split()
EMBEDDER = FakeEmbedder(384)


def inserts(scope: Scope, count: int, *, first: int) -> list[Insert]:
    clock, ids = SystemClock(), TimeOrderedIds()
    made = []
    for number in range(first, first + count):
        text = " ".join(WORDS[(number * step) % len(WORDS)] for step in range(1, 25)) + f" {number}"
        now = clock.now()
        record = MemoryRecord(ids.new(), scope, text, now, now)
        [vector] = EMBEDDER.embed([text])
        made.append(Insert(record, entry_for(analyse(text), vector=vector, model_id=EMBEDDER.model_id)))
    return made


async def measured(memories: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        store = SqliteMemoryStore.open(directory, clock=SystemClock(), model_id=EMBEDDER.model_id, dim=EMBEDDER.dim)
        scopes = [Scope(user_id=f"owner {number}") for number in range(OWNERS)]
        for at, scope in enumerate(scopes):
            await store.write(scope, inserts(scope, memories // OWNERS, first=at * memories))
        size = (await store.stats("default")).bytes_on_disk / 2**20
        print(f"\n{memories:,} memories of {OWNERS} owners, {size:.0f} MiB")
        begun = time.perf_counter()
        receipt = await store.erase(scopes[0])
        print(f"  one owner ({receipt.memories} memories), file rewritten: {time.perf_counter() - begun:.2f} s")
        [record, *others] = (await store.page(scopes[1], limit=51)).records
        begun = time.perf_counter()
        await store.write(scopes[1], [Erase(record.id)])
        print(f"  one memory, log emptied, rewriting left for later: {1000 * (time.perf_counter() - begun):.1f} ms")
        begun = time.perf_counter()
        for other in others:
            await store.write(scopes[1], [Erase(other.id)])
        print(f"  each of 50 memories in a row: {1000 * (time.perf_counter() - begun) / 50:.1f} ms")
        begun = time.perf_counter()
        await store.compact()
        print(f"  rewriting alone: {time.perf_counter() - begun:.2f} s")
        await store.aclose()
        for secure in (False, True):
            took = deleted(Path(directory), secure)
            print(f"  deleting 50 owners, secure_delete {'on' if secure else 'off'}: {took:.2f} s")


def deleted(directory: Path, secure: bool) -> float:
    with closing(sqlite3.connect(directory / "ebbing.db", isolation_level=None)) as db:
        db.execute(f"PRAGMA secure_delete = {int(secure)}")
        db.execute("BEGIN IMMEDIATE")
        begun = time.perf_counter()
        for table in ("memory", "index_entry"):
            db.execute(f"DELETE FROM {table} WHERE mid >> 24 > 50")
        took = time.perf_counter() - begun
        db.execute("ROLLBACK")
        return took


if __name__ == "__main__":
    for asked in sys.argv[1:] or ("10000", "40000"):
        asyncio.run(measured(int(asked)))
