"""That a store counts what is recalled, reinforces what is of use, and lets nobody pay for it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ebbing.domain.errors import MemoryNotFoundError, StoreClosedError
from ebbing.domain.forgetting.curves import lapse, reinforce
from ebbing.domain.memory.feedback import Feedback, Signal, Usage
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.ports.stores.memory_store import Erase, MemoryStore
from ebbing.ports.stores.usage_log import KEPT_FEEDBACK, Returned
from ebbing.testing.stores.case import ADA, BOB, MONDAY, StoreCase


class UsageSuite(StoreCase):
    """Book-keeping beside the records."""

    def returned(self, record: MemoryRecord, times: int = 1, *, scope: Scope = ADA) -> Returned:
        """What a search tells of a record that it returned."""
        return Returned(scope.owner, record.id, times, self.now)

    def signal(self, record: MemoryRecord, signal: Signal, *, recall: str = "r1") -> Feedback:
        """What somebody tells of a record."""
        return Feedback(record.id, signal, recall, self.now, reason="in her words")

    async def current(self, store: MemoryStore, record: MemoryRecord) -> MemoryRecord:
        """The record as it stands."""
        [record_found] = await store.get(ADA, [record.id], deleted=True)
        return record_found

    async def test_returned_memories_are_counted(self, store: MemoryStore) -> None:
        first, two = await self.stored(ADA, "x"), await self.stored(ADA, "y")
        await store.usage.returned([self.returned(first, 3), self.returned(two)])
        self.clock.advance(timedelta(days=1))
        await store.usage.returned([self.returned(first, 2)])
        assert await store.usage.usage(ADA, first.id) == Usage(5, self.now)
        assert (await store.usage.usage(ADA, two.id)).returned == 1

    async def test_an_older_batch_does_not_turn_the_last_return_back(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x")
        early = self.returned(record)
        self.clock.advance(timedelta(days=1))
        await store.usage.returned([self.returned(record), early])
        assert await store.usage.usage(ADA, record.id) == Usage(2, self.now)

    async def test_being_returned_changes_nothing_of_a_memory(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x")
        await store.usage.returned([self.returned(record, 100)])
        assert await self.current(store, record) == record

    async def test_memories_that_are_gone_or_somebody_elses_are_passed_over(self, store: MemoryStore) -> None:
        record, gone = await self.stored(ADA, "x"), await self.stored(ADA, "y")
        await store.write(ADA, [Erase(gone.id)])
        unknown = [self.returned(record, scope=BOB), self.returned(record, scope=Scope(user_id="nobody"))]
        await store.usage.returned([self.returned(gone), *unknown, self.returned(record)])
        assert (await store.usage.usage(ADA, record.id)).returned == 1
        assert await store.usage.usage(ADA, gone.id) == Usage()
        assert await store.verify() == []

    async def test_nothing_returned_is_nothing_to_do(self, store: MemoryStore) -> None:
        await store.usage.returned([])

    @pytest.mark.parametrize("signal", [Signal.USED, Signal.UP])
    async def test_being_of_use_reinforces(self, store: MemoryStore, signal: Signal) -> None:
        record = await self.stored(ADA, "x", strength=0.4)
        self.clock.advance(timedelta(days=9))
        assert await store.usage.tell(ADA, self.signal(record, signal))
        assert await self.current(store, record) == reinforce(record, self.now)

    @pytest.mark.parametrize("signal", [Signal.IGNORED, Signal.DOWN])
    async def test_other_signals_are_noted_and_no_more(self, store: MemoryStore, signal: Signal) -> None:
        record = await self.stored(ADA, "x")
        feedback = self.signal(record, signal)
        assert await store.usage.tell(ADA, feedback)
        assert await self.current(store, record) == record
        assert (await store.usage.usage(ADA, record.id)).feedback == (feedback,)

    async def test_being_corrected_lets_a_memory_fade_faster(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x")
        self.clock.advance(timedelta(days=9))
        feedback = self.signal(record, Signal.CORRECTED)
        assert await store.usage.tell(ADA, feedback)
        current = await self.current(store, record)
        assert current == lapse(record, self.now)
        assert (current.access_count, current.last_accessed_at) == (0, None)

    async def test_a_change_decided_before_a_use_keeps_what_the_use_did(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x")
        self.clock.advance(timedelta(days=9))
        await store.usage.tell(ADA, self.signal(record, Signal.USED))
        await store.usage.tell(ADA, self.signal(record, Signal.CORRECTED, recall="r2"))
        lasting = (await self.current(store, record)).growth
        await self.change(ADA, record, event=Event.NONE, tags=("seen",), growth=99.0)
        current = await self.current(store, record)
        assert (current.growth, current.tags) == (lasting, ("seen",))

    async def test_a_signal_that_is_sent_again_counts_once(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x")
        assert await store.usage.tell(ADA, self.signal(record, Signal.USED))
        assert not await store.usage.tell(ADA, self.signal(record, Signal.USED))
        assert (await self.current(store, record)).access_count == 1
        assert await store.usage.tell(ADA, self.signal(record, Signal.USED, recall="r2"))
        assert (await self.current(store, record)).access_count == 2

    async def test_an_answer_that_was_used_and_praised_is_one_use(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x")
        for signal in (Signal.DOWN, Signal.USED, Signal.UP):
            assert await store.usage.tell(ADA, self.signal(record, signal))
        assert (await self.current(store, record)).access_count == 1
        assert len((await store.usage.usage(ADA, record.id)).feedback) == 3

    async def test_a_late_signal_does_not_turn_the_clock_back(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x")
        late = self.signal(record, Signal.USED, recall="r0")
        self.clock.advance(timedelta(days=2))
        await store.usage.tell(ADA, self.signal(record, Signal.USED))
        await store.usage.tell(ADA, late)
        current = await self.current(store, record)
        assert (current.access_count, current.last_accessed_at) == (2, self.now)

    async def test_a_use_writes_no_history_and_reloads_nothing(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x")
        before, entries = await store.shard(ADA), await store.history(ADA, record.id)
        await store.usage.tell(ADA, self.signal(record, Signal.USED))
        await store.usage.returned([self.returned(record)])
        assert await store.shard(ADA) is before
        assert await store.history(ADA, record.id) == entries

    async def test_a_use_neither_hinders_a_change_nor_is_lost_by_it(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x")
        self.clock.advance(timedelta(days=1))
        await store.usage.tell(ADA, self.signal(record, Signal.USED))
        await self.change(ADA, record, event=Event.UPDATE, content="y")
        current = await self.current(store, record)
        assert (current.content, current.access_count, current.last_accessed_at) == ("y", 1, self.now)

    async def test_a_change_may_bring_uses_of_its_own(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x")
        used = reinforce(reinforce(record, self.now), self.now)
        await self.change(ADA, used, event=Event.NONE)
        assert await self.current(store, record) == replace(used, version=2)

    async def test_the_newest_signals_are_kept(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x")
        for number in range(KEPT_FEEDBACK + 5):
            self.clock.advance(timedelta(seconds=1))
            await store.usage.tell(ADA, self.signal(record, Signal.USED, recall=f"r{number}"))
        signals = (await store.usage.usage(ADA, record.id)).feedback
        assert [signal.recall_id for signal in signals] == [f"r{number}" for number in range(5, KEPT_FEEDBACK + 5)]
        assert (await self.current(store, record)).access_count == KEPT_FEEDBACK + 5

    @pytest.mark.parametrize("stranger", [BOB, MONDAY, Scope(agent_id="ada")], ids=str)
    async def test_nobody_hears_or_tells_of_what_is_not_theirs(self, store: MemoryStore, stranger: Scope) -> None:
        record = await self.stored(ADA, "x")
        await store.usage.tell(ADA, self.signal(record, Signal.DOWN))
        with pytest.raises(MemoryNotFoundError):
            await store.usage.tell(stranger, self.signal(record, Signal.USED))
        assert await store.usage.usage(stranger, record.id) == Usage()
        assert await self.current(store, record) == record

    async def test_erasure_takes_the_counts_along(self, store: MemoryStore) -> None:
        records = [await self.stored(ADA, text) for text in "xy"]
        for record in records:
            await store.usage.returned([self.returned(record)])
            await store.usage.tell(ADA, self.signal(record, Signal.DOWN))
        await store.write(ADA, [Erase(records[0].id)])
        assert await store.verify() == []
        await store.erase(ADA)
        assert await store.verify() == []
        await store.write(ADA, [self.insert(record) for record in records])
        assert [await store.usage.usage(ADA, record.id) for record in records] == [Usage(), Usage()]

    async def test_a_closed_store_counts_nothing(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x")
        await store.aclose()
        with pytest.raises(StoreClosedError):
            await store.usage.returned([self.returned(record)])
        with pytest.raises(StoreClosedError):
            await store.usage.tell(ADA, self.signal(record, Signal.USED))
