"""How a store tells what is to be indexed anew, and takes new index entries."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import MemoryRecord, Stage
from ebbing.index.index_entry import entry_for
from ebbing.language.text.analyzer import TextFlag, analyse
from ebbing.ports.stores.memory_store import Erase, Insert, MemoryStore, Outdated, Reindex
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.testing.stores.case import ADA, BOB, StoreCase


class OutdatedSuite(StoreCase):
    """Another embedder or analyser, and what could not be embedded when it came."""

    async def bare(self, text: str, **fields: Any) -> MemoryRecord:
        """A record that was stored without its vector."""
        record = self.record(ADA, text, **fields)
        await self.opened.write(ADA, [Insert(record, entry_for(analyse(text), utterance=True))])
        return record

    async def outdated_ids(self, store: MemoryStore) -> list[str]:
        """Ids of what is to be indexed anew, in order."""
        return [item.record.id for item in await store.outdated(ADA)]

    async def test_what_is_indexed_as_it_should_be_is_left_alone(self, store: MemoryStore) -> None:
        await self.stored(ADA, "likes tea")
        assert await store.outdated(ADA) == []
        assert await store.outdated(BOB) == []

    async def test_what_has_no_vector_of_the_model_in_use_is_outdated(self, store: MemoryStore) -> None:
        fresh, bare = await self.stored(ADA, "likes tea"), await self.bare("likes rain")
        assert await store.outdated(ADA) == [Outdated(2, bare, int(TextFlag.UTTERANCE | TextFlag.ENGLISH), None)]
        store.use_model(FakeEmbedder(24))
        assert await self.outdated_ids(store) == [fresh.id, bare.id]
        store.use_model(None)
        assert await self.outdated_ids(store) == []

    async def test_what_another_analyser_made_is_outdated_and_keeps_its_vector(self, store: MemoryStore) -> None:
        record = self.record(ADA, "likes tea")
        await store.write(ADA, [Insert(record, replace(self.entry(record), analyzer=0))])
        [outdated] = await store.outdated(ADA)
        assert outdated.vector is not None
        assert outdated.vector == pytest.approx(self.embedder.embed(["likes tea"])[0], abs=1e-3)

    async def test_what_has_no_entry_at_all_is_outdated(self, store: MemoryStore) -> None:
        record = self.record(ADA, "likes tea")
        await store.write(ADA, [Insert(record, None)])
        assert await store.outdated(ADA) == [Outdated(1, record, None, None)]

    async def test_what_needs_no_vector_is_not_outdated_for_lack_of_one(self, store: MemoryStore) -> None:
        await self.bare(" \n\u3000")
        await self.bare("faded from it on purpose", stage=Stage.KEYWORD_ONLY)
        gone, episode = await self.bare("deleted"), await self.bare("told by another")
        await self.delete(ADA, gone)
        await self.change(ADA, episode, event=Event.MERGE, retired_at=self.now)
        assert await self.outdated_ids(store) == []
        assert (await store.stats("default")).without_vector == 0

    async def test_pages_of_outdated_rows_show_each_once(self, store: MemoryStore) -> None:
        records = [await self.bare(f"note {number}") for number in range(5)]
        first = await store.outdated(ADA, limit=2)
        rest = await store.outdated(ADA, limit=9, after=first[-1].seq)
        assert [item.record for item in (*first, *rest)] == records

    async def test_a_new_entry_is_searched_at_once_and_leaves_the_record_as_it_is(self, store: MemoryStore) -> None:
        bare = await self.bare("likes rain")
        assert not (await store.shard(ADA)).embedded.any()
        assert await store.write(ADA, [Reindex(bare.id, 1, self.entry(bare))]) == [bare.id]
        shard = await store.shard(ADA)
        assert [bool(shard.embedded[row]) for row in range(shard.size) if shard.alive[row]] == [True]
        assert await store.get(ADA, [bare.id]) == [bare]
        assert len(await store.history(ADA, bare.id)) == 1
        assert await self.outdated_ids(store) == []

    async def test_a_record_that_was_changed_or_erased_meanwhile_keeps_what_it_has(self, store: MemoryStore) -> None:
        changed, gone = await self.bare("likes rain"), await self.bare("likes snow")
        late = [Reindex(item.id, 1, self.entry(item)) for item in (changed, gone)]
        await store.write(ADA, [self.revise(changed, Event.UPDATE, content="likes sun"), Erase(gone.id)])
        before = (await store.shard(ADA)).generation
        assert await store.write(ADA, late) == [changed.id, gone.id]
        assert (await store.shard(ADA)).generation == before
        assert await store.verify() == []

    async def test_a_late_entry_brings_nobody_back(self, store: MemoryStore) -> None:
        bare = await self.bare("likes rain")
        await store.erase(ADA)
        await store.write(ADA, [Reindex(bare.id, 1, self.entry(bare))])
        assert await store.owners("default", deleted=True) == []
        assert await store.tenants() == []

    async def test_nobody_else_can_index_a_record_anew(self, store: MemoryStore) -> None:
        bare = await self.bare("likes rain")
        await store.write(BOB, [Reindex(bare.id, 1, self.entry(bare))])
        assert await self.outdated_ids(store) == [bare.id]
