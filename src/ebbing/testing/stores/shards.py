"""That an owner's searchable rows are always those of the records."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ebbing.domain.errors import EmbeddingError
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import Kind
from ebbing.index.index_entry import term_hash
from ebbing.index.shard import NEVER, TYPES, Shard, micros
from ebbing.language.text.analyzer import TextFlag, query_terms
from ebbing.ports.stores.memory_store import Erase, Insert, MemoryStore, Reindex
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.testing.stores.case import ADA, BOB, StoreCase


def ids_with(shard: Shard, word: str) -> list[str]:
    """Ids of the living rows that hold a word."""
    places = shard.postings.find(np.array([term_hash(term) for term in query_terms(word)], dtype=np.uint64))
    return [shard.ids[row] for row in sorted(places.rows) if shard.alive[row]]


class ShardsSuite(StoreCase):
    """Read your own writes: a shard is current as of the call, and stays as it is for whoever holds it."""

    async def test_an_unknown_owner_has_an_empty_shard(self, store: MemoryStore) -> None:
        shard = await store.shard(ADA)
        assert (shard.size, shard.vectors.shape) == (0, (0, self.embedder.dim))

    async def test_a_shard_shows_what_is_searched(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "likes rain", actor="Ada", importance=0.25, expires_at=self.now)
        shard = await store.shard(ADA)
        assert (shard.ids, shard.size) == ([record.id], 1)
        assert shard.created[0] == shard.expires[0] == micros(record.created_at)
        assert shard.valid_to[0] == NEVER
        assert shard.actors.name(shard.actor[0]) == "Ada"
        assert TYPES[shard.type[0]] == record.type
        assert shard.importance[0] == 0.25
        assert ids_with(shard, "rain") == [record.id]
        assert_allclose(shard.vectors[0], self.embedder.embed(["likes rain"])[0], atol=1e-3)

    async def test_a_shard_knows_every_acknowledged_insert(self, store: MemoryStore) -> None:
        for number in range(30):
            record = await self.stored(ADA, f"note number{number}")
            shard = await store.shard(ADA)
            assert shard.ids[-1] == record.id
            assert ids_with(shard, f"number{number}") == [record.id]
        assert (await store.shard(ADA)).size == 30

    async def test_a_shard_knows_a_large_write(self, store: MemoryStore) -> None:
        await self.stored(ADA, "first")
        await store.shard(ADA)
        records = [self.record(ADA, f"word{number}") for number in range(300)]
        await store.write(ADA, [self.insert(record) for record in records])
        shard = await store.shard(ADA)
        assert shard.size == 301
        assert ids_with(shard, "word299") == [records[299].id]

    async def test_a_new_wording_is_found_and_the_old_one_is_not(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "likes tea")
        await self.stored(ADA, "likes rain")
        await store.shard(ADA)
        await self.change(ADA, record, event=Event.UPDATE, content="likes coffee")
        shard = await store.shard(ADA)
        assert ids_with(shard, "tea") == []
        assert ids_with(shard, "coffee") == [record.id]
        assert_allclose(
            shard.vectors[shard.ids.index(record.id, 1)], self.embedder.embed(["likes coffee"])[0], atol=1e-3
        )

    async def test_bookkeeping_changes_the_row_in_place(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x")
        await store.shard(ADA)
        change = self.revise(record, Event.NONE, strength=0.5, valid_to=self.now)
        await store.write(ADA, [change])
        shard = await store.shard(ADA)
        assert (shard.size, shard.strength[0], shard.valid_to[0]) == (1, 0.5, micros(self.now))

    async def test_an_entry_that_stays_may_lose_its_vector_and_get_a_flag(self, store: MemoryStore) -> None:
        record, other = await self.stored(ADA, "likes tea"), await self.stored(ADA, "likes rain")
        before = await store.shard(ADA)
        flags = int(before.flags[before.ids.index(record.id)])
        flagged = replace(self.revise(record, Event.NONE), adds_flags=int(TextFlag.ANSWER))
        await store.write(ADA, [flagged])
        shard = await store.shard(ADA)
        row = shard.ids.index(record.id)
        assert (int(shard.flags[row]), bool(shard.embedded[row])) == (flags | TextFlag.ANSWER, True)
        await store.write(ADA, [replace(self.revise(flagged.record, Event.NONE), drops_vector=True)])
        shard = await store.shard(ADA)
        rows = {shard.ids[row]: row for row in range(shard.size) if shard.alive[row]}
        assert [bool(shard.embedded[rows[item.id]]) for item in (record, other)] == [False, True]
        assert int(shard.flags[rows[record.id]]) == flags | TextFlag.ANSWER
        assert ids_with(shard, "tea") == [record.id]
        assert await store.verify() == []

    async def test_a_deleted_row_is_not_alive_until_it_is_restored(self, store: MemoryStore) -> None:
        record, other = await self.stored(ADA, "x"), await self.stored(ADA, "y")
        await store.shard(ADA)
        delete = self.revise(record, Event.DELETE, deleted_at=self.now)
        await store.write(ADA, [delete])
        assert await self.living(store, ADA) == [other.id]
        await self.change(ADA, delete.record, event=Event.RESTORE, deleted_at=None)
        assert sorted(await self.living(store, ADA)) == sorted([record.id, other.id])

    async def test_a_row_deleted_before_the_first_look_comes_back_when_restored(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "tea")
        delete = self.revise(record, Event.DELETE, deleted_at=self.now)
        await store.write(ADA, [delete])
        assert await self.living(store, ADA) == []
        await self.change(ADA, delete.record, event=Event.RESTORE, deleted_at=None)
        assert ids_with(await store.shard(ADA), "tea") == [record.id]

    async def test_an_erased_row_is_gone_from_the_shard(self, store: MemoryStore) -> None:
        record, other = await self.stored(ADA, "tea"), await self.stored(ADA, "rain")
        await store.shard(ADA)
        await store.write(ADA, [Erase(record.id)])
        shard = await store.shard(ADA)
        assert await self.living(store, ADA) == [other.id]
        assert ids_with(shard, "tea") == []
        new = await self.stored(ADA, "snow")
        assert await self.living(store, ADA) == [other.id, new.id]

    async def test_a_shard_in_hand_stays_as_it_is(self, store: MemoryStore) -> None:
        first, second = await self.stored(ADA, "tea"), await self.stored(ADA, "rain")
        shard = await store.shard(ADA)
        await self.change(ADA, first, event=Event.UPDATE, content="coffee")
        await self.delete(ADA, second)
        await self.stored(ADA, "tea again")
        assert (await store.shard(ADA)).size > 2
        assert (shard.size, len(shard.alive), len(shard.vectors)) == (2, 2, 2)
        assert ids_with(shard, "tea") == [first.id]
        assert list(shard.alive) == [True, True]

    async def test_vectors_of_another_model_do_not_count(self, store: MemoryStore) -> None:
        record, foreign = self.record(ADA, "tea"), self.record(ADA, "rain")
        await store.write(ADA, [self.insert(record), Insert(foreign, self.entry(foreign, model_id="another"))])
        bare = self.record(ADA, "snow")
        await store.write(ADA, [Insert(bare, None)])
        shard = await store.shard(ADA)
        assert list(shard.embedded) == [True, False, False]
        assert not shard.vectors[1:].any()
        assert (await store.stats("default")).without_vector == 2

    async def test_a_vector_that_is_not_as_long_as_others_of_its_model_is_refused(self, store: MemoryStore) -> None:
        remaining, other = await self.stored(ADA, "tea"), self.record(BOB, "rain")
        assert await store.vector_length(self.embedder.model_id) == self.embedder.dim
        assert await store.vector_length("another") is None
        longer = replace(self.entry(other), vector=FakeEmbedder(2 * self.embedder.dim).embed(["rain"])[0])
        with pytest.raises(EmbeddingError):
            await store.write(BOB, [self.insert(self.record(BOB, "snow")), Insert(other, longer)])
        with pytest.raises(EmbeddingError):
            await store.write(ADA, [Reindex(remaining.id, remaining.version, longer)])
        assert (await store.shard(BOB)).size == 0
        assert (await store.shard(ADA)).embedded.all()
        await store.write(BOB, [Insert(other, replace(longer, model_id="another"))])
        assert await store.verify() == []

    async def test_a_change_of_model_shows_at_the_next_look(self, store: MemoryStore) -> None:
        await self.stored(ADA, "tea")
        assert (await store.shard(ADA)).embedded.all()
        larger = FakeEmbedder(32)
        store.use_model(larger)
        shard = await store.shard(ADA)
        assert (shard.model_id, shard.vectors.shape, shard.embedded.any()) == (larger.model_id, (1, 32), np.False_)
        store.use_model(None)
        assert (await store.shard(ADA)).vectors.shape == (1, 0)
        store.use_model(self.embedder)
        assert (await store.shard(ADA)).embedded.all()

    async def test_episodes_and_memories_share_the_shard(self, store: MemoryStore) -> None:
        await self.stored(ADA, "x")
        await self.stored(ADA, "y", kind=Kind.EPISODE)
        assert list((await store.shard(ADA)).kind) == [0, 1]
