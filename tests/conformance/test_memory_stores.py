"""Every memory store keeps the contract of its port."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from ebbing.adapters.ephemeral import EphemeralMemoryStore
from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.ports.clock import Clock
from ebbing.ports.memory_store import MemoryStore
from ebbing.testing.store_suite import MemoryStoreSuite


class TestEphemeralMemoryStore(MemoryStoreSuite):
    @asynccontextmanager
    async def open_store(self, clock: Clock) -> AsyncIterator[MemoryStore]:
        store = EphemeralMemoryStore(clock=clock)
        yield store
        await store.aclose()


class TestSqliteMemoryStore(MemoryStoreSuite):
    @asynccontextmanager
    async def open_store(self, clock: Clock) -> AsyncIterator[MemoryStore]:
        with TemporaryDirectory() as directory:
            store = SqliteMemoryStore.open(directory, clock=clock)
            yield store
            await store.aclose()


class TestSqliteMemoryStoreWithItsHistoryElsewhere(MemoryStoreSuite):
    @asynccontextmanager
    async def open_store(self, clock: Clock) -> AsyncIterator[MemoryStore]:
        with TemporaryDirectory() as directory:
            store = SqliteMemoryStore.open(directory, clock=clock, history_path=Path(directory, "past", "history.db"))
            yield store
            await store.aclose()
