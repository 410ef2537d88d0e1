"""What a store has to know about the past: the rows that were deleted, and what changed since a moment."""

from __future__ import annotations

from datetime import timedelta

from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import Kind
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import ALWAYS, NEVER, micros
from ebbing.ports.stores.memory_store import Erase, MemoryStore
from ebbing.testing.stores.case import ADA, BOB, MONDAY, StoreCase

DAY = timedelta(days=1)


class PastSuite(StoreCase):
    """Questions about the past can be answered: nothing but an erasure forgets."""

    async def test_a_shard_with_deleted_rows_says_since_when_they_are_gone(self, store: MemoryStore) -> None:
        learned = self.now
        gone, remaining = await self.stored(ADA, "tea"), await self.stored(ADA, "rain")
        at = self.clock.advance(DAY)
        await self.change(ADA, gone, event=Event.DELETE, deleted_at=at)
        for _ in range(2):  # loaded, then handed out again
            shard = await store.shard(ADA, deleted=True)
            assert shard.ids == [gone.id, remaining.id]
            assert list(shard.alive) == [False, True]
            assert list(shard.deleted) == [micros(at), NEVER]
            assert list(shard.recorded) == [micros(learned)] * 2
        assert await self.living(store, ADA) == [remaining.id]

    async def test_a_shard_with_deleted_rows_follows_every_write(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "tea")
        await store.shard(ADA, deleted=True)
        delete = self.revise(record, Event.DELETE, deleted_at=self.now)
        await store.write(ADA, [delete])
        shard = await store.shard(ADA, deleted=True)
        assert (shard.ids, list(shard.alive)) == ([record.id], [False])
        restore = self.revise(delete.record, Event.RESTORE, deleted_at=None)
        await store.write(ADA, [restore])
        assert list((await store.shard(ADA, deleted=True)).deleted) == [NEVER]
        await self.change(ADA, restore.record, event=Event.UPDATE, content="coffee")
        other = await self.stored(ADA, "rain")
        shard = await store.shard(ADA, deleted=True)
        current = [shard.ids[row] for row in range(shard.size) if shard.deleted[row] != ALWAYS]
        assert sorted(current) == sorted([record.id, other.id])
        await store.write(ADA, [Erase(record.id)])
        shard = await store.shard(ADA, deleted=True)
        assert [shard.ids[row] for row in range(shard.size) if shard.deleted[row] != ALWAYS] == [other.id]

    async def test_histories_are_those_of_what_changed_since(self, store: MemoryStore) -> None:
        start = self.now
        old, new = await self.stored(ADA, "tea"), await self.stored(ADA, "rain")
        first = self.clock.advance(DAY)
        update = self.revise(old, Event.UPDATE, content="coffee")
        await store.write(ADA, [update])
        second = self.clock.advance(DAY)
        await self.change(ADA, new, event=Event.DELETE, deleted_at=second)
        await self.change(ADA, update.record, event=Event.NONE, access_count=1)

        async def since(*, scope: Scope = ADA, days: float) -> list[tuple[str, Event]]:
            histories = await store.histories(scope, changed_after=start + days * DAY)
            return [(entry.memory_id, entry.event) for entry in histories]

        of_old = [(old.id, Event.ADD), (old.id, Event.UPDATE)]
        of_new = [(new.id, Event.ADD), (new.id, Event.DELETE)]
        assert sorted(await since(days=0)) == sorted(of_old + of_new)
        assert await since(days=1) == of_new
        assert await since(days=1.5) == of_new
        assert await since(days=2) == []
        assert await since(scope=BOB, days=0) == []
        assert first < second

    async def test_histories_stay_within_the_scope(self, store: MemoryStore) -> None:
        start = self.now
        inside, outside = await self.stored(MONDAY, "tea"), await self.stored(ADA, "rain")
        episode = await self.stored(ADA, "said", kind=Kind.EPISODE)
        at = self.clock.advance(DAY)
        for record in (inside, outside, episode):
            await self.change(ADA, record, event=Event.DELETE, deleted_at=at)
        assert {entry.memory_id for entry in await store.histories(MONDAY, changed_after=start)} == {inside.id}
        assert {entry.memory_id for entry in await store.histories(ADA, changed_after=start)} == {inside.id, outside.id}
