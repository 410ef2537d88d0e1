"""What row level security costs: the same calls on one PostgreSQL without it and with it, in turns.

    python scripts/measure_row_security.py postgresql://user:password@host/database

The database has to be empty, and the user no superuser. What was made is left in it.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from statistics import median
from time import perf_counter

from ebbing.adapters.sql import SqlMemoryStore
from ebbing.adapters.sql.connection.addresses import address_of
from ebbing.adapters.sql.connection.schema import migrate
from ebbing.domain.memory.scope import Scope
from ebbing.testing.clock import ManualClock
from ebbing.testing.ids import SequentialIds
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.testing.stores.case import StoreCase

ROUNDS = 4
CALLS = 150
PREPARED = 500


class Calls(StoreCase):
    """What is measured: each call is one of a store's most frequent."""

    def __init__(self, store: SqlMemoryStore, ids: SequentialIds, name: str) -> None:
        self.clock, self.ids, self.embedder, self.store = ManualClock(), ids, FakeEmbedder(16), store
        store.use_model(self.embedder)
        self.scope, self.last = Scope(user_id=name), ""

    async def prepare(self) -> None:
        """Store some memories to ask for."""
        await self.store.write(self.scope, [self.insert(self.record(self.scope, f"note {n}")) for n in range(PREPARED)])
        await self.write()

    async def write(self) -> None:
        """Write one memory."""
        record = self.record(self.scope, "a note")
        await self.store.write(self.scope, [self.insert(record)])
        self.last = record.id

    async def look(self) -> None:
        """Ask whether the rows in RAM are current, as every search does."""
        await self.store.shard(self.scope)

    async def read(self) -> None:
        """Read one record, as every search does for its hits."""
        await self.store.get(self.scope, [self.last])


async def seconds(call: Callable[[], Awaitable[None]]) -> float:
    """How long a call takes, the median of many."""
    times = []
    for _ in range(CALLS):
        began = perf_counter()
        await call()
        times.append(perf_counter() - began)
    return median(times)


async def measure(address: str) -> None:
    """Print a line for each kind of call."""
    times: dict[tuple[str, bool], list[float]] = {}
    ids = SequentialIds()
    for number in range(2 * ROUNDS):
        is_on = bool(number % 2)
        await asyncio.to_thread(migrate, address_of(address), row_security=is_on)
        store = await asyncio.to_thread(SqlMemoryStore.open, address, clock=ManualClock(), row_security=is_on)
        calls = Calls(store, ids, f"user {number}")
        await calls.prepare()
        for name in ("write", "look", "read"):
            times.setdefault((name, is_on), []).append(await seconds(getattr(calls, name)))
        await store.aclose()
    for name in ("write", "look", "read"):
        off, on = (1_000 * median(times[name, is_on]) for is_on in (False, True))
        print(f"{name:<6} without {off:6.2f} ms, with {on:6.2f} ms, ratio {on / off:.2f}")


if __name__ == "__main__":
    asyncio.run(measure(sys.argv[1]))
