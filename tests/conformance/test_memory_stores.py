"""Every memory store keeps the contract of its port."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from ebbing.adapters.ephemeral import EphemeralMemoryStore
from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import IndexEntry, unread_entry
from ebbing.index.raw_message import Call, Said, said_record
from ebbing.language.text.analyzer import TextFlag
from ebbing.language.text.detect_language import detect
from ebbing.ports.clock import Clock
from ebbing.ports.memory_store import Change, Insert, MemoryStore
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


class Unread(MemoryStoreSuite):
    """The same, with records that come with their vectors alone: the store has to read them for their words."""

    def insert(self, record: MemoryRecord, *, once: bool = False) -> Change:
        change, read = super().insert(record, once=once), self.entry(record)
        assert isinstance(change, Insert)
        return replace(change, entry=unread_entry(vector=read.vector, model_id=read.model_id))


class AsSaid(MemoryStoreSuite):
    """The same, with what was said instead of a record wherever just that record is made of it."""

    @pytest.fixture(autouse=True)
    def nobody_has_an_id_yet(self) -> None:
        self.drawn: set[str] = set()

    def record(self, scope: Scope, text: str, *, source: str | None = None, **fields: Any) -> MemoryRecord:
        return super().record(scope, text, source=source, **{"language": detect(text), **fields})

    def entry(self, record: MemoryRecord, *, model_id: str | None = None) -> IndexEntry:
        entry = super().entry(record, model_id=model_id)
        return replace(entry, flags=entry.flags | TextFlag.UTTERANCE) if record.is_verbatim else entry

    def insert(self, record: MemoryRecord, *, once: bool = False) -> Change:
        call = Call(record.whose, record.metadata, record.recorded_at, record.tags, record.expires_at)
        who = (record.role, record.actor, record.created_at, record.trust)
        vector = self.entry(record).vector
        said = Said(record.id, record.content, call, *who, self.embedder.model_id, vector)
        is_new = record.id not in self.drawn
        self.drawn.add(record.id)
        return said if is_new and not once and said_record(said) == record else super().insert(record, once=once)


class TestEphemeralMemoryStoreWithUnreadRecords(TestEphemeralMemoryStore, Unread):
    pass


class TestSqliteMemoryStoreWithUnreadRecords(TestSqliteMemoryStore, Unread):
    pass


class TestEphemeralMemoryStoreWithWhatWasSaid(TestEphemeralMemoryStore, AsSaid):
    pass


class TestSqliteMemoryStoreWithWhatWasSaid(TestSqliteMemoryStore, AsSaid):
    pass


class TestSqliteMemoryStoreWithItsHistoryElsewhere(MemoryStoreSuite):
    @asynccontextmanager
    async def open_store(self, clock: Clock) -> AsyncIterator[MemoryStore]:
        with TemporaryDirectory() as directory:
            store = SqliteMemoryStore.open(directory, clock=clock, history_path=Path(directory, "past", "history.db"))
            yield store
            await store.aclose()
