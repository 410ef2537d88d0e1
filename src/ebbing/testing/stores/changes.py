"""How a store keeps what each call wrote, every record as it was before, and all changes for whoever follows them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ebbing.domain.errors import ConflictError, InvalidInputError, MemoryNotFoundError
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.domain.memory.feedback import Feedback, Signal
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import Stage
from ebbing.ports.stores.memory_store import Erase, MemoryStore, Reindex, Revise
from ebbing.ports.stores.outbox import Outbox
from ebbing.testing.stores.case import ADA, BOB, MONDAY, StoreCase


class ChangesSuite(StoreCase):
    """Every write belongs to a change set, and nothing of an erased record is in any."""

    async def test_every_write_is_a_change_set_of_its_owner(self, store: MemoryStore) -> None:
        change = ChangeSet(Cause.ADD)
        await store.within(change).write(ADA, [self.insert(self.record(ADA, "x")), self.insert(self.record(ADA, "y"))])
        await self.stored(ADA, "z")
        await self.stored(BOB, "of another")
        unnamed, named = (await store.change_log.page(ADA)).changes
        assert (named.id, named.cause, named.inserted, named.revised) == (change.only_id, Cause.ADD, 2, 0)
        assert (unnamed.cause, unnamed.inserted, unnamed.at) == (Cause.WRITE, 1, self.now)
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
        [listed] = await store.change_log.undoings(ADA)
        assert (listed.id, listed.undoes, listed.is_partial) == (undoing.only_id, logged.id, True)
        assert await store.change_log.undoings(BOB) == []

    async def test_old_change_sets_are_dropped_with_their_states(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x")
        revise = self.revise(record, Event.UPDATE, content="y")
        await store.write(ADA, [revise])
        await self.stored(BOB, "of another")
        since = self.clock.advance(timedelta(days=3))
        await self.change(ADA, revise.record, event=Event.UPDATE, content="z")
        assert await store.change_log.trim(ADA, before=since) == 2
        assert await store.change_log.trim(ADA, before=since) == 0
        [change] = await store.change_log.of_memory(ADA, record.id)
        assert change.before == revise.record
        assert len((await store.change_log.page(BOB)).changes) == 1
        assert await store.verify() == []

    async def test_a_signal_that_changes_a_memory_is_a_change_set(self, store: MemoryStore) -> None:
        record, change = await self.stored(ADA, "x", strength=0.5), ChangeSet(Cause.FEEDBACK)
        feedback = Feedback(record.id, Signal.USED, "r1", self.now)
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
        await store.usage.tell(ADA, Feedback(record.id, Signal.USED, "r1", self.now))
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
            await self.change(scope, record, event=Event.UPDATE, content="y")
        await store.identities.merge("default", "ada", gone="bob", at=self.now)
        assert await store.change_log.of_memory(ADA, theirs.id) == []
        assert len(await store.change_log.of_memory(ADA, mine.id)) == 2
        assert (await store.change_log.page(BOB)).changes == ()
        assert await store.verify() == []


class OutboxSuite(StoreCase):
    """The changes of a store in order."""

    def outbox(self, store: MemoryStore) -> Outbox:
        """The outbox of the store; a test is skipped where it has none."""
        if store.outbox is None:
            pytest.skip("the store has no outbox")
        return store.outbox

    async def noted(self, store: MemoryStore, name: str = "qdrant") -> list[tuple[str, str]]:
        """Id and kind of every change that a follower has before it."""
        return [(change.memory_id, change.op) for change in await self.outbox(store).read(name)]

    async def test_who_begins_to_follow_hears_of_nothing_from_before(self, store: MemoryStore) -> None:
        await self.stored(ADA, "before")
        cursor = await self.outbox(store).register("qdrant")
        assert await self.noted(store) == []
        record = await self.stored(ADA, "after")
        assert await self.outbox(store).register("milvus") > cursor
        assert await self.noted(store, "milvus") == []
        assert await self.noted(store) == [(record.id, "put")]

    async def test_a_follower_reads_every_change_in_order(self, store: MemoryStore) -> None:
        outbox = self.outbox(store)
        await outbox.register("qdrant")
        first, second = await self.stored(ADA, "x"), await self.stored(BOB, "y")
        change = self.revise(first, Event.UPDATE, content="z")
        await store.write(ADA, [change, Erase(first.id)])
        await store.write(BOB, [Reindex(second.id, 1, self.entry(second))])
        await store.erase(BOB)
        noted = await outbox.read("qdrant")
        assert [(row.memory_id, row.op) for row in noted] == [
            (first.id, "put"),
            (second.id, "put"),
            (first.id, "put"),
            (first.id, "erase"),
            (second.id, "put"),
            (second.id, "erase"),
        ]
        seqs = [row.seq for row in noted]
        assert seqs == sorted(set(seqs))
        assert [row.owner for row in noted] == [ADA.owner, None, ADA.owner, ADA.owner, None, None]
        assert await outbox.read("qdrant", limit=2) == noted[:2]

    async def test_a_change_names_the_row_that_the_shard_has(self, store: MemoryStore) -> None:
        outbox = self.outbox(store)
        await outbox.register("qdrant")
        for text in ("x", "y"):
            await self.stored(ADA, text)
        shard = await store.shard(ADA)
        assert [row.row for row in await outbox.read("qdrant")] == shard.seq.tolist()

    async def test_what_failed_is_not_noted(self, store: MemoryStore) -> None:
        await self.outbox(store).register("qdrant")
        with pytest.raises(MemoryNotFoundError):
            await store.write(ADA, [self.insert(self.record(ADA, "x")), Erase("unknown")])
        assert await self.noted(store) == []

    async def test_each_follower_goes_on_where_it_was(self, store: MemoryStore) -> None:
        outbox = self.outbox(store)
        await outbox.register("qdrant")
        for text in "abc":
            await self.stored(ADA, text)
        noted = await outbox.read("qdrant")
        await outbox.advance("qdrant", noted[1].seq)
        assert await outbox.register("qdrant") == noted[1].seq
        assert await outbox.register("milvus") == noted[2].seq
        await outbox.advance("qdrant", noted[0].seq)
        assert await outbox.read("qdrant") == noted[2:]
        assert await outbox.followers() == ["milvus", "qdrant"]

    async def test_it_is_known_how_far_a_follower_is(self, store: MemoryStore) -> None:
        outbox = self.outbox(store)
        assert await outbox.cursor("qdrant") is None
        first = await outbox.register("qdrant")
        await self.stored(ADA, "x")
        assert await outbox.cursor("qdrant") == first
        [change] = await outbox.read("qdrant")
        await outbox.advance("qdrant", change.seq)
        assert await outbox.cursor("qdrant") == change.seq
        await outbox.unregister("qdrant")
        assert await outbox.cursor("qdrant") is None

    async def test_nothing_is_noted_while_nobody_follows(self, store: MemoryStore) -> None:
        outbox = self.outbox(store)
        await outbox.register("qdrant")
        await self.stored(ADA, "x")
        await outbox.unregister("qdrant")
        await self.stored(ADA, "y")
        await outbox.register("qdrant")
        assert await self.noted(store) == []
        standing = await outbox.standing("qdrant", ADA.owner, limit=9)
        assert standing is not None
        assert standing.behind == ()

    async def test_a_stranger_cannot_follow(self, store: MemoryStore) -> None:
        outbox = self.outbox(store)
        with pytest.raises(InvalidInputError, match="register"):
            await outbox.read("stranger")
        with pytest.raises(InvalidInputError, match="register"):
            await outbox.advance("stranger", 1)
        await outbox.unregister("stranger")

    async def test_it_is_known_what_a_follower_lacks_of_an_owner(self, store: MemoryStore) -> None:
        outbox = self.outbox(store)
        await self.stored(ADA, "before")
        assert await outbox.standing("qdrant", ADA.owner, limit=9) is None
        await outbox.register("qdrant")
        assert await outbox.standing("qdrant", BOB.owner, limit=9) is None
        record = await self.stored(ADA, "x")
        await self.change(ADA, record, event=Event.UPDATE, content="z")
        await self.stored(ADA, "y")
        await self.stored(BOB, "of somebody else")
        rows = (await store.shard(ADA)).seq.tolist()
        standing = await outbox.standing("qdrant", ADA.owner, limit=2)
        assert standing is not None
        assert sorted(standing.behind or ()) == rows[1:]
        too_many = await outbox.standing("qdrant", ADA.owner, limit=1)
        assert too_many is not None
        assert too_many.behind is None
        noted = await outbox.read("qdrant")
        assert {row.partition for row in noted if row.owner == ADA.owner} == {standing.partition}
        await outbox.advance("qdrant", noted[1].seq)
        later = await outbox.standing("qdrant", ADA.owner, limit=2)
        assert later is not None
        assert later.behind == (rows[2],)

    async def test_an_owner_who_comes_again_gets_another_partition(self, store: MemoryStore) -> None:
        outbox = self.outbox(store)
        await outbox.register("qdrant")
        partitions = set()
        for _ in range(2):
            await self.stored(ADA, "x")
            standing = await outbox.standing("qdrant", ADA.owner, limit=9)
            assert standing is not None
            partitions.add(standing.partition)
            await store.erase(ADA)
        assert len(partitions) == 2
        await self.stored(ADA, "new")
        changes = await outbox.read("qdrant")
        assert [change.owner for change in changes] == [None] * 4 + [ADA.owner]
        assert {change.partition for change in changes[:4]} == partitions

    async def test_a_tenant_that_is_erased_is_noted(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x")
        await self.outbox(store).register("qdrant")
        await store.reset("default")
        assert await self.noted(store) == [(record.id, "erase")]

    async def test_rows_that_move_to_another_person_are_followed_there_and_back(self, store: MemoryStore) -> None:
        outbox = self.outbox(store)
        mine, yours = await self.stored(ADA, "mine"), await self.stored(BOB, "yours")
        await outbox.register("qdrant")
        merge = await store.identities.merge("default", "ada", gone="bob", at=self.now)
        [gone, arrived] = await outbox.read("qdrant")
        assert (gone.memory_id, gone.op, gone.owner, gone.row) == (yours.id, "erase", None, 1)
        shard = await store.shard(ADA)
        assert (arrived.memory_id, arrived.op, arrived.owner) == (yours.id, "put", ADA.owner)
        assert arrived.row == shard.seq.tolist()[shard.ids.index(yours.id)]
        both = self.record(ADA, "both", compression_sources=(mine.id, yours.id))
        await store.write(ADA, [self.insert(both)])
        closed = self.revise(replace(yours, belongs_to=ADA), Event.UPDATE, superseded_by=both.id, valid_to=self.now)
        await store.write(ADA, [closed])
        await outbox.advance("qdrant", (await outbox.read("qdrant"))[-1].seq)
        await store.identities.undo("default", merge.id, at=self.clock.advance(timedelta(hours=1)))
        changes = await outbox.read("qdrant")
        assert [(change.memory_id, change.op, change.owner) for change in changes[:2]] == [
            (yours.id, "erase", ADA.owner),
            (yours.id, "put", BOB.owner),
        ]
        # What was closed by a memory of both holds again, and that memory is deleted.
        assert sorted((change.memory_id, change.op) for change in changes[2:]) == sorted(
            [(yours.id, "put"), (both.id, "put")]
        )
