"""What every test of a memory store starts from: a store of the adapter under test, and records to put into it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from ebbing.domain.memory.history import STORED_AS_SAID, Event
from ebbing.domain.memory.record import Kind, MemoryRecord, Provenance
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import IndexEntry, entry_for
from ebbing.language.text.analyzer import analyse
from ebbing.ports.clock import Clock
from ebbing.ports.stores.memory_store import Change, Insert, MemoryStore, Revise
from ebbing.testing.clock import ManualClock
from ebbing.testing.ids import SequentialIds
from ebbing.testing.models.embedder import FakeEmbedder

ADA = Scope(user_id="ada")
BOB = Scope(user_id="bob")
MONDAY = Scope(user_id="ada", run_id="monday")
"""A conversation of Ada's."""


@pytest.mark.anyio
class StoreCase:
    """Base of the suites: `open_store` is all that an adapter's test class has to give."""

    opened: MemoryStore
    clock: ManualClock
    ids: SequentialIds
    embedder: FakeEmbedder

    def open_store(self, clock: Clock) -> AbstractAsyncContextManager[MemoryStore]:
        """An empty store that is closed, and gone, at the end of the context."""
        raise NotImplementedError

    @pytest.fixture
    async def store(self) -> AsyncIterator[MemoryStore]:
        """A fresh store for one test, which counts vectors of `self.embedder`."""
        self.clock, self.ids, self.embedder = ManualClock(), SequentialIds(), FakeEmbedder(16)
        async with self.open_store(self.clock) as store:
            store.use_model(self.embedder)
            self.opened = store
            yield store

    def record(self, scope: Scope, text: str, *, source: str | None = None, **fields: Any) -> MemoryRecord:
        """A record with a new id, said now."""
        now: datetime = fields.pop("created_at", self.now)
        provenance = Provenance(source_ids=(source,) if source else ())
        values = {"provenance": provenance, **fields}
        return MemoryRecord(
            id=self.ids.new(), belongs_to=scope, content=text, created_at=now, recorded_at=self.now, **values
        )

    def entry(self, record: MemoryRecord, *, model_id: str | None = None) -> IndexEntry:
        """The index entry of a record, with its vector."""
        analysis = analyse(record.content, speaker=record.actor, said_at=record.said_at)
        [vector] = self.embedder.embed([record.content])
        return entry_for(analysis, vector=vector, model_id=model_id or self.embedder.model_id)

    def insert(self, record: MemoryRecord, *, once: bool = False) -> Change:
        """The change that stores a record with its entry."""
        return Insert(record, self.entry(record), once=once, reason=STORED_AS_SAID)

    def revise(self, record: MemoryRecord, event: Event, **fields: Any) -> Revise:
        """The change that gives a record new fields and the next version."""
        revised = replace(record, version=record.version + 1, **fields)
        return Revise(revised, event, self.entry(revised) if "content" in fields else None, reason="seen anew")

    async def stored(self, scope: Scope, text: str, **fields: Any) -> MemoryRecord:
        """A record that was just written to the store of this test."""
        record = self.record(scope, text, **fields)
        await self.opened.write(scope, [self.insert(record)])
        return record

    @property
    def now(self) -> datetime:
        """The time on the clock of this test."""
        return self.clock.now()

    async def change(self, scope: Scope, record: MemoryRecord, *, event: Event, **fields: Any) -> None:
        """Write a revision of a record to the store of this test."""
        await self.opened.write(scope, [self.revise(record, event, **fields)])

    async def delete(self, scope: Scope, record: MemoryRecord) -> None:
        """Delete a record, which stays in the store of this test."""
        await self.change(scope, record, event=Event.DELETE, deleted_at=self.now)

    async def texts(self, store: MemoryStore, scope: Scope, *, kinds: tuple[Kind, ...] = tuple(Kind)) -> list[str]:
        """What a page of the scope shows, newest first."""
        return [record.content for record in (await store.page(scope, kinds=kinds, limit=1000)).records]

    async def living(self, store: MemoryStore, scope: Scope) -> list[str]:
        """Ids of the rows of the shard that are alive, in order."""
        shard = await store.shard(scope)
        return [shard.ids[row] for row in range(shard.size) if shard.alive[row]]
