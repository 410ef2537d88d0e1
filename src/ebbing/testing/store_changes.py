"""How a store keeps what each call wrote, and every record as it was before."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ebbing.domain.errors import ConflictError, InvalidInputError
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.domain.memory.feedback import Feedback, Signal
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import Stage
from ebbing.domain.memory.scope import Scope
from ebbing.ports.memory_store import Erase, MemoryStore, Reindex, Revise
from ebbing.testing.store_case import ADA, BOB, StoreCase

MONDAY = Scope(user_id="ada", run_id="monday")


class ChangesSuite(StoreCase):
    """Every write belongs to a change set, and nothing of an erased record is in any."""

    async def test_every_write_is_a_change_set_of_its_owner(self, store: MemoryStore) -> None:
        change = ChangeSet(Cause.ADD)
        await store.within(change).write(ADA, [self.insert(self.record(ADA, "x")), self.insert(self.record(ADA, "y"))])
        await self.stored(ADA, "z")
        await self.stored(BOB, "of another")
        unnamed, named = (await store.change_log.page(ADA)).changes
        assert (named.id, named.cause, named.inserted, named.revised) == (change.only_id, Cause.ADD, 2, 0)
        assert (unnamed.cause, unnamed.inserted, unnamed.at) == (Cause.WRITE, 1, self.clock.now())
        assert len((await store.change_log.page(BOB)).changes) == 1

    async def test_many_writes_of_one_call_are_one_change_set(self, store: MemoryStore) -> None:
        old, change = await self.stored(ADA, "old"), ChangeSet(Cause.MAINTENANCE)
        first, second = self.record(ADA, "first"), self.record(ADA, "second")
        within = store.within(change)
        await within.write(ADA, [self.insert(first)])
        between = await self.stored(ADA, "between")
        revised = self.revise(old, Event.UPDATE, content="new")
        await within.write(ADA, [self.insert(second), revised])
        await within.write(ADA, [self.revise(revised.record, Event.UPDATE, content="newer")])
        logged = await store.change_log.get(ADA, str(change.only_id))
        assert logged is not None
        assert (logged.inserted, logged.revised, logged.erased) == (2, 1, 0)
        done = {record.now.id: record for record in await store.change_log.records(ADA, logged.id)}
        assert done.keys() == {old.id, first.id, second.id}
        assert between.id not in done
        assert done[old.id].before == old
        assert done[first.id].before is None

    async def test_a_call_that_writes_to_two_owners_makes_two_change_sets(self, store: MemoryStore) -> None:
        change = ChangeSet(Cause.IMPORT)
        for scope in (ADA, BOB):
            await store.within(change).write(scope, [self.insert(self.record(scope, "x"))])
        assert change.ids.keys() == {ADA.owner, BOB.owner}
        ada, bob = change.ids[ADA.owner], change.ids[BOB.owner]
        assert ada != bob
        assert await store.change_log.scope_of("default", ada) == ADA
        assert await store.change_log.scope_of("other", ada) is None
        assert await store.change_log.get(ADA, bob) is None
        assert await store.change_log.records(ADA, bob) == []

    async def test_a_record_is_kept_as_it_was_with_its_entry_where_that_changed(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "tea", metadata={"n": 1}, tags=("a",))
        change = ChangeSet(Cause.UPDATE)
        reworded = self.revise(record, Event.UPDATE, content="coffee")
        await store.within(change).write(ADA, [reworded])
        [change_record] = await store.change_log.records(ADA, str(change.only_id))
        assert (change_record.before, change_record.after, change_record.now) == (
            record,
            reworded.record,
            reworded.record,
        )
        entry, was = change_record.entry, self.entry(record)
        assert entry is not None
        assert (entry.terms.tobytes(), entry.length, entry.numbers) == (was.terms.tobytes(), was.length, was.numbers)
        assert entry.vector is not None
        labelled, more = self.revise(reworded.record, Event.UPDATE, tags=()), ChangeSet(Cause.UPDATE)
        await store.within(more).write(ADA, [labelled])
        [change_record] = await store.change_log.records(ADA, str(more.only_id))
        assert (change_record.before, change_record.entry) == (reworded.record, None)
        [change_record] = await store.change_log.records(ADA, str(change.only_id))
        assert (change_record.after, change_record.now) == (reworded.record, labelled.record)

    async def test_an_entry_that_lost_its_vector_is_kept_with_it(self, store: MemoryStore) -> None:
        record, change = await self.stored(ADA, "tea"), ChangeSet(Cause.FADE)
        faded = Revise(self.revise(record, Event.NONE, stage=Stage.KEYWORD_ONLY).record, Event.NONE, drops_vector=True)
        await store.within(change).write(ADA, [faded])
        [change_record] = await store.change_log.records(ADA, str(change.only_id))
        assert change_record.entry is not None
        assert change_record.entry.model_id == self.embedder.model_id
        assert change_record.entry.vector is not None

    async def test_what_was_refused_leaves_no_change_set(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x")
        change, new = ChangeSet(Cause.ADD), self.record(ADA, "new")
        with pytest.raises(ConflictError):
            await store.within(change).write(ADA, [self.insert(new), Revise(record, Event.UPDATE)])
        assert change.only_id is None
        assert len((await store.change_log.page(ADA)).changes) == 1

    async def test_an_entry_that_is_made_anew_is_no_change(self, store: MemoryStore) -> None:
        record, change = await self.stored(ADA, "x"), ChangeSet(Cause.MAINTENANCE)
        await store.within(change).write(ADA, [Reindex(record.id, record.version, self.entry(record))])
        assert change.only_id is None
        assert len((await store.change_log.page(ADA)).changes) == 1

    async def test_nothing_that_an_erased_record_ever_was_is_kept(self, store: MemoryStore) -> None:
        record, other, change = await self.stored(ADA, "x"), await self.stored(ADA, "other"), ChangeSet(Cause.UPDATE)
        revised = [self.revise(item, Event.UPDATE, content="y") for item in (record, other)]
        await store.within(change).write(ADA, revised)
        await store.write(ADA, [Erase(record.id)])
        assert [record.now.id for record in await store.change_log.records(ADA, str(change.only_id))] == [other.id]
        assert await store.change_log.of_memory(ADA, record.id) == []
        erasing, *_ = (await store.change_log.page(ADA)).changes
        assert (erasing.erased, erasing.revised) == (1, 0)
        assert (await store.erase(ADA)).revisions == 1
        assert (await store.change_log.page(ADA)).changes == ()
        assert await store.change_log.scope_of("default", str(change.only_id)) is None
        assert await store.verify() == []

    async def test_a_part_of_an_owners_memory_is_erased_with_its_states(self, store: MemoryStore) -> None:
        monday, other = await self.stored(MONDAY, "on monday"), await self.stored(ADA, "other")
        await store.write(ADA, [self.revise(item, Event.UPDATE, content="y") for item in (monday, other)])
        assert (await store.erase(MONDAY)).revisions == 1
        [last, *_] = (await store.change_log.page(ADA)).changes
        assert [record.now.id for record in await store.change_log.records(ADA, last.id)] == [other.id]
        assert await store.verify() == []

    async def test_what_was_done_to_one_record_is_told_newest_first(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x")
        states = [record]
        for text in ("y", "z"):
            revise = self.revise(states[-1], Event.UPDATE, content=text)
            await store.write(ADA, [revise])
            states.append(revise.record)
        changes = await store.change_log.of_memory(ADA, record.id)
        assert [(item.before, item.after) for item in changes] == [
            (states[1], states[2]),
            (states[0], states[1]),
            (None, states[0]),
        ]
        assert await store.change_log.of_memory(BOB, record.id) == []

    async def test_change_sets_come_in_pages_and_a_foreign_cursor_is_refused(self, store: MemoryStore) -> None:
        for number in range(5):
            await self.stored(ADA, f"note {number}")
        first = await store.change_log.page(ADA, limit=3)
        rest = await store.change_log.page(ADA, limit=3, cursor=first.next_cursor)
        assert [item.number for item in (*first.changes, *rest.changes)] == [5, 4, 3, 2, 1]
        assert rest.next_cursor is None
        with pytest.raises(InvalidInputError):
            await store.change_log.page(ADA, cursor="not one of ours")

    async def test_an_undoing_names_what_it_took_back(self, store: MemoryStore) -> None:
        await self.stored(ADA, "x")
        [logged] = (await store.change_log.page(ADA)).changes
        undoing = ChangeSet(Cause.UNDO, undoes=logged.id, is_partial=True)
        await store.within(undoing).write(ADA, [self.insert(self.record(ADA, "y"))])
        [told] = await store.change_log.undoings(ADA)
        assert (told.id, told.undoes, told.is_partial) == (undoing.only_id, logged.id, True)
        assert await store.change_log.undoings(BOB) == []

    async def test_old_change_sets_are_dropped_with_their_states(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x")
        revise = self.revise(record, Event.UPDATE, content="y")
        await store.write(ADA, [revise])
        await self.stored(BOB, "of another")
        since = self.clock.advance(timedelta(days=3))
        await store.write(ADA, [self.revise(revise.record, Event.UPDATE, content="z")])
        assert await store.change_log.trim(ADA, before=since) == 2
        assert await store.change_log.trim(ADA, before=since) == 0
        [change] = await store.change_log.of_memory(ADA, record.id)
        assert change.before == revise.record
        assert len((await store.change_log.page(BOB)).changes) == 1
        assert await store.verify() == []

    async def test_a_signal_that_changes_a_memory_is_a_change_set(self, store: MemoryStore) -> None:
        record, change = await self.stored(ADA, "x", strength=0.5), ChangeSet(Cause.FEEDBACK)
        feedback = Feedback(record.id, Signal.USED, "r1", self.clock.now())
        assert await store.usage.tell(ADA, feedback, change=change)
        [change_record] = await store.change_log.records(ADA, str(change.only_id))
        assert change_record.before == record
        assert change_record.now.access_count == 1
        assert change_record.now.strength > record.strength
        again = ChangeSet(Cause.FEEDBACK)
        assert not await store.usage.tell(ADA, feedback, change=again)
        assert again.only_id is None

    async def test_uses_are_set_back_where_a_change_says_so(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x")
        await store.usage.tell(ADA, Feedback(record.id, Signal.USED, "r1", self.clock.now()))
        back = self.revise(record, Event.NONE, tags=("a",))
        await store.write(ADA, [back])
        [stored_record] = await store.get(ADA, [record.id])
        assert stored_record.access_count == 1
        again = Revise(self.revise(back.record, Event.NONE).record, Event.NONE, sets_uses=True)
        await store.write(ADA, [again])
        assert await store.get(ADA, [record.id]) == [again.record]

    async def test_persons_who_become_one_keep_no_states_of_what_moved(self, store: MemoryStore) -> None:
        theirs, mine = await self.stored(BOB, "x"), await self.stored(ADA, "mine")
        for scope, record in ((BOB, theirs), (ADA, mine)):
            await store.write(scope, [self.revise(record, Event.UPDATE, content="y")])
        await store.identities.merge("default", "ada", gone="bob", at=self.clock.now())
        assert await store.change_log.of_memory(ADA, theirs.id) == []
        assert len(await store.change_log.of_memory(ADA, mine.id)) == 2
        assert (await store.change_log.page(BOB)).changes == ()
        assert await store.verify() == []
