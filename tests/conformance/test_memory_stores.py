"""Every memory store keeps the contract of its port."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.domain.memory.record import MemoryRecord
from ebbing.index.index_entry import unread_entry
from ebbing.ports.clock import Clock
from ebbing.ports.stores.memory_store import Change, Insert, MemoryStore
from ebbing.testing.store_suite import MemoryStoreSuite


class TestSqliteMemoryStoreInRam(MemoryStoreSuite):
    @asynccontextmanager
    async def open_store(self, clock: Clock) -> AsyncIterator[MemoryStore]:
        store = SqliteMemoryStore.in_memory(clock=clock)
        yield store
        await store.aclose()


class TestSqliteMemoryStore(MemoryStoreSuite):
    @asynccontextmanager
    async def open_store(self, clock: Clock) -> AsyncIterator[MemoryStore]:
        with TemporaryDirectory() as directory:
            store = SqliteMemoryStore.open(directory, clock=clock)
            yield store
            await store.aclose()


class Unread(MemoryStoreSuite):
    """The same, with records that come with their vectors alone: the store has to read them for their words."""

    def insert(self, record: MemoryRecord, *, once: bool = False) -> Change:
        change, read = super().insert(record, once=once), self.entry(record)
        assert isinstance(change, Insert)
        return replace(change, entry=unread_entry(vector=read.vector, model_id=read.model_id))


@pytest.mark.extended
class TestSqliteMemoryStoreInRamWithUnreadRecords(TestSqliteMemoryStoreInRam, Unread):
    pass


@pytest.mark.extended
class TestSqliteMemoryStoreWithUnreadRecords(TestSqliteMemoryStore, Unread):
    pass


@pytest.mark.extended
class TestSqliteMemoryStoreWithItsHistoryElsewhere(MemoryStoreSuite):
    @asynccontextmanager
    async def open_store(self, clock: Clock) -> AsyncIterator[MemoryStore]:
        with TemporaryDirectory() as directory:
            store = SqliteMemoryStore.open(directory, clock=clock, history_path=Path(directory, "past", "history.db"))
            yield store
            await store.aclose()
