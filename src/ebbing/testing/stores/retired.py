"""How a store keeps records that another one tells: out of every answer, and as its sources."""

from __future__ import annotations

from datetime import timedelta

from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import Kind, MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import micros
from ebbing.ports.stores.memory_store import Erase, MemoryStore
from ebbing.testing.stores.case import ADA, BOB, MONDAY, StoreCase

DAY = timedelta(days=1)


class RetiredSuite(StoreCase):
    """A retired record is neither found nor listed, and neither deleted nor lost."""

    async def merged(self, store: MemoryStore, *texts: str, kind: Kind = Kind.MEMORY) -> list[MemoryRecord]:
        """The record that tells the texts, and after it their own records, retired."""
        records = [await self.stored(MONDAY, text, kind=kind, source=f"m{place}") for place, text in enumerate(texts)]
        at = self.clock.advance(DAY)
        teller = self.record(
            MONDAY, texts[0], kind=kind, compression_sources=tuple(item.id for item in records), is_compressed=True
        )
        closed = [self.revise(item, Event.MERGE, retired_at=at, superseded_by=teller.id) for item in records]
        await store.write(ADA, [self.insert(teller), *closed])
        return [teller, *(change.record for change in closed)]

    async def test_what_is_retired_is_neither_listed_nor_searched(self, store: MemoryStore) -> None:
        teller, *behind = await self.merged(store, "tea", "Tea!")
        assert await self.living(store, ADA) == [teller.id]
        assert [record.id for record in (await store.page(ADA)).records] == [teller.id]
        everything = (await store.page(ADA, deleted=True)).records
        assert {item.id for item in everything} == {teller.id, *(item.id for item in behind)}
        assert await store.get(ADA, [behind[0].id]) == [behind[0]]
        assert await store.verify() == []

    async def test_a_shard_of_the_past_knows_since_when_a_record_is_retired(self, store: MemoryStore) -> None:
        for kind in (Kind.MEMORY, Kind.EPISODE):
            teller, first, _ = await self.merged(store, "tea", "Tea!", kind=kind)
            shard = await store.shard(ADA, deleted=True)
            row = shard.ids.index(first.id)
            assert first.retired_at is not None
            assert (bool(shard.alive[row]), int(shard.deleted[row])) == (False, micros(first.retired_at))
            assert bool(shard.alive[shard.ids.index(teller.id)])

    async def test_the_message_behind_a_retired_record_is_still_known(self, store: MemoryStore) -> None:
        _, first, _ = await self.merged(store, "tea", "Tea!")
        again = self.record(MONDAY, "tea", source="m0")
        assert await store.write(MONDAY, [self.insert(again, once=True)]) == [first.id]
        assert [source.id for source in await store.from_sources(ADA, ["m0"])] == [first.id]

    async def test_a_retired_record_can_come_back(self, store: MemoryStore) -> None:
        teller, first, second = await self.merged(store, "tea", "Tea!")
        back = [self.revise(item, Event.SPLIT, retired_at=None, superseded_by=None) for item in (first, second)]
        await store.write(ADA, [*back, Erase(teller.id)])
        assert sorted(await self.living(store, ADA)) == sorted([first.id, second.id])
        assert [entry.event for entry in await store.history(ADA, first.id)] == [Event.ADD, Event.MERGE, Event.SPLIT]
        assert await store.verify() == []

    async def test_what_a_record_tells_for_others_is_erased_with_it(self, store: MemoryStore) -> None:
        teller, first, second = await self.merged(store, "tea", "Tea!")
        apart = self.revise(second, Event.SPLIT, retired_at=None, superseded_by=None)
        await store.write(ADA, [apart, Erase(teller.id)])
        assert await store.get(ADA, [teller.id, first.id, second.id], deleted=True) == [apart.record]
        assert await store.history(ADA, first.id) == []
        assert await store.verify() == []

    async def test_what_a_record_tells_is_erased_with_it_whatever_part_of_the_owners_memory_it_is_of(
        self, store: MemoryStore
    ) -> None:
        teller, *_ = await self.merged(store, "tea", "Tea!")
        tuesday = Scope(user_id="ada", run_id="tuesday")
        moved = self.revise(teller, Event.NONE, belongs_to=tuesday)
        await store.write(ADA, [moved])
        await store.write(tuesday, [Erase(teller.id)])
        assert (await store.page(ADA, deleted=True)).records == ()
        assert await store.verify() == []

    async def test_it_can_be_asked_what_was_made_of_a_record(self, store: MemoryStore) -> None:
        teller, first, second = await self.merged(store, "tea", "Tea!")
        assert await store.telling(Scope(user_id="ada", run_id="other"), [second.id, first.id]) == [teller]
        assert await store.telling(ADA, [teller.id, "unknown"]) == []
        assert await store.telling(BOB, [first.id]) == []
        gone = self.revise(teller, Event.DELETE, deleted_at=self.now)
        await store.write(ADA, [gone])
        assert await store.telling(ADA, [first.id]) == [gone.record]

    async def test_a_step_is_told_how_far_it_came_with_each_owner(self, store: MemoryStore) -> None:
        assert await store.mark(ADA, "merge") == 0
        await store.set_mark(BOB, "merge", value=9)
        await self.stored(MONDAY, "tea")
        generation = (await store.shard(ADA)).generation
        for value in (3, 5):
            await store.set_mark(ADA, "merge", value=value)
        assert (await store.mark(MONDAY, "merge"), await store.mark(ADA, "count")) == (5, 0)
        assert (await store.mark(BOB, "merge"), (await store.shard(ADA)).generation) == (0, generation)
        await store.erase(ADA)
        await self.stored(ADA, "rain")
        assert await store.mark(ADA, "merge") == 0

    async def test_a_shard_counts_how_often_a_thing_was_said(self, store: MemoryStore) -> None:
        once = await self.stored(ADA, "tea")
        await self.stored(ADA, "rain", mentions=7)
        assert list((await store.shard(ADA)).mentions) == [1, 7]
        await self.change(ADA, once, event=Event.NONE, mentions=2)
        assert list((await store.shard(ADA)).mentions) == [2, 7]
