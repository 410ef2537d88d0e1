"""That a store keeps owners, tenants, agents and runs apart, does not store a message twice, and forgets for good."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ebbing.domain.errors import ConflictError, InvalidInputError, MemoryNotFoundError
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import Kind, Layer, MemoryType
from ebbing.domain.memory.scope import Scope
from ebbing.ports.stores.memory_store import Erase, Insert, MemoryStore, Receipt, Share, ShareFilter
from ebbing.testing.stores.case import ADA, BOB, MONDAY, StoreCase

STRANGERS = (
    BOB,
    Scope(user_id="ada", tenant="elsewhere"),
    Scope(agent_id="ada"),
    Scope(run_id="ada"),
    Scope(user_id="Ada"),
    Scope(user_id="ad"),
    Scope(user_id="ada", agent_id="guide"),
    MONDAY,
)


class IsolationSuite(StoreCase):
    """Nobody sees or changes what is not theirs, whatever id they guess."""

    @pytest.mark.parametrize("stranger", STRANGERS, ids=str)
    async def test_a_guessed_id_opens_nothing(self, store: MemoryStore, stranger: Scope) -> None:
        record = await self.stored(ADA, "secret")
        assert await store.get(stranger, [record.id], deleted=True) == []
        assert await store.history(stranger, record.id) == []
        assert (await store.page(stranger, kinds=tuple(Kind), deleted=True)).records == ()
        for change in (
            Erase(record.id),
            self.revise(replace(record, belongs_to=stranger), Event.UPDATE, content="mine"),
        ):
            with pytest.raises(MemoryNotFoundError):
                await store.write(stranger, [change])
        assert await store.erase(stranger) == Receipt()
        assert await store.get(ADA, [record.id]) == [record]

    async def test_whether_an_id_is_taken_is_told_of_every_owner_and_tenant(self, store: MemoryStore) -> None:
        mine, elsewhere = await self.stored(ADA, "x"), await self.stored(Scope(user_id="ada", tenant="acme"), "y")
        assert await store.taken([mine.id, "nobody's", elsewhere.id]) == {mine.id, elsewhere.id}
        await store.write(ADA, [Erase(mine.id)])
        assert await store.taken([mine.id]) == set()
        assert await store.taken([]) == set()

    async def test_an_id_of_another_owner_cannot_be_taken_over(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "secret")
        with pytest.raises(ConflictError):
            await store.write(BOB, [self.insert(replace(record, belongs_to=BOB))])
        assert await store.get(ADA, [record.id]) == [record]
        assert await store.owners("default") == [ADA.owner]

    async def test_a_record_of_another_owner_is_refused(self, store: MemoryStore) -> None:
        with pytest.raises(InvalidInputError):
            await store.write(ADA, [self.insert(self.record(BOB, "x"))])

    async def test_shards_hold_one_owner_each(self, store: MemoryStore) -> None:
        elsewhere = Scope(user_id="ada", tenant="elsewhere")
        for scope in (ADA, BOB, elsewhere):
            await self.stored(scope, f"likes {scope}")
        assert [len(await self.living(store, scope)) for scope in (ADA, BOB, elsewhere)] == [1, 1, 1]
        rows = {(await store.shard(scope)).ids[0] for scope in (ADA, BOB, elsewhere)}
        assert len(rows) == 3

    async def test_a_narrower_scope_sees_its_part_of_the_owner(self, store: MemoryStore) -> None:
        monday = Scope(user_id="ada", agent_id="guide", run_id="monday")
        tuesday = Scope(user_id="ada", agent_id="guide", run_id="tuesday")
        for scope in (ADA, monday, tuesday):
            await self.stored(scope, str(scope.run_id))
        assert await self.texts(store, ADA) == ["tuesday", "monday", "None"]
        assert await self.texts(store, Scope(user_id="ada", agent_id="guide")) == ["tuesday", "monday"]
        assert await self.texts(store, monday) == ["monday"]
        assert (await store.shard(monday)).size == 3

    async def test_an_agent_and_a_run_can_be_owners_too(self, store: MemoryStore) -> None:
        scopes = (Scope(agent_id="x"), Scope(run_id="x"), Scope(user_id="x"), Scope(agent_id="x", run_id="x"))
        records = [await self.stored(scope, str(scope)) for scope in scopes]
        assert [await store.scope_of("default", record.id) for record in records] == list(scopes)
        assert await self.texts(store, scopes[0]) == [str(scopes[3]), str(scopes[0])]
        assert [await store.get(scope, [record.id]) for scope, record in zip(scopes, records, strict=True)] == [
            [record] for record in records
        ]

    async def test_whose_a_memory_is_stays_within_its_tenant(self, store: MemoryStore) -> None:
        scope = Scope(user_id="ada", agent_id="guide", run_id="monday", tenant="acme")
        record = await self.stored(scope, "x")
        await self.delete(scope, record)
        assert await store.scope_of("acme", record.id) == scope
        assert await store.scope_of("default", record.id) is None
        assert await store.scope_of("acme", "unknown") is None

    async def test_owners_are_those_with_something_left(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x")
        await self.stored(BOB, "y")
        await self.stored(Scope(user_id="eve", tenant="acme"), "z")
        await self.delete(ADA, record)
        assert await store.owners("default") == [BOB.owner]
        assert await store.owners("default", deleted=True) == [ADA.owner, BOB.owner]
        assert await store.owners("nobody", deleted=True) == []
        assert sorted(await store.tenants()) == ["acme", "default"]

    async def test_shares_tell_agents_runs_and_apps_of_one_tenant(self, store: MemoryStore) -> None:
        guided = Scope(user_id="ada", agent_id="guide", run_id="monday")
        await self.stored(guided, "x", metadata={"app_id": "web"})
        await self.stored(guided, "said", kind=Kind.EPISODE)
        gone = await self.stored(Scope(user_id="ada", agent_id="cook"), "gone")
        await self.delete(ADA, gone)
        await self.stored(BOB, "y", metadata={"app_id": 7})
        await self.stored(Scope(agent_id="guide"), "own")
        await self.stored(Scope(user_id="eve", agent_id="guide", tenant="acme"), "z")
        guide = Scope(agent_id="guide").owner
        web, plain = Share(ADA.owner, "guide", "monday", "web", 1), Share(ADA.owner, "guide", "monday", None, 0)
        own = [share for share in await store.shares("default") if share.owner == guide]
        assert [share.memories for share in own] == [1]
        assert {web, plain, Share(BOB.owner, None, None, None, 1)} == {*await store.shares("default")} - {*own}
        assert await store.shares("default", share_filter=ShareFilter(app_id="web")) == [web]
        assert {*await store.shares("default", share_filter=ShareFilter(run_id="monday"))} == {web, plain}
        assert ADA.owner in {share.owner for share in await store.shares("default", share_filter=ShareFilter("guide"))}
        assert await store.shares("default", share_filter=ShareFilter("cook")) == []

    async def test_counts_are_those_of_one_tenant(self, store: MemoryStore) -> None:
        await self.stored(Scope(user_id="eve", tenant="acme"), "z")
        gone = await self.stored(ADA, "gone")
        await self.stored(ADA, "said", kind=Kind.EPISODE)
        await self.stored(ADA, "fact", type=MemoryType.FACT, layer=Layer.LONG_TERM)
        await self.stored(BOB, "  ")
        bare = self.record(BOB, "bare")
        await store.write(BOB, [Insert(bare, replace(self.entry(bare), vector=None, model_id=None))])
        await self.delete(ADA, gone)
        stats = await store.stats("default")
        assert (stats.owners, stats.memories, stats.episodes, stats.deleted) == (2, 3, 1, 1)
        assert stats.without_vector == 1
        assert stats.by_layer == {"long_term": 1, "short_term": 2}
        assert stats.by_type == {"fact": 1, "episodic": 2}
        assert stats.by_model == {self.embedder.model_id: 2}


class OnceSuite(StoreCase):
    """The same message is not stored twice."""

    async def test_a_repeated_message_is_stored_once(self, store: MemoryStore) -> None:
        first = await self.stored(ADA, "x", source="m1")
        again = self.record(ADA, "x again", source="m1")
        assert await store.write(ADA, [self.insert(again, once=True)]) == [first.id]
        assert await self.texts(store, ADA) == ["x"]
        assert await store.history(ADA, again.id) == []

    async def test_a_repeat_within_one_list_is_stored_once(self, store: MemoryStore) -> None:
        first, two = self.record(ADA, "x", source="m1"), self.record(ADA, "x", source="m1")
        ids = await store.write(ADA, [self.insert(first, once=True), self.insert(two, once=True)])
        assert ids == [first.id, first.id]

    async def test_a_repeat_leaves_shards_as_they_are(self, store: MemoryStore) -> None:
        await self.stored(ADA, "x", source="m1")
        before = await store.shard(ADA)
        await store.write(ADA, [self.insert(self.record(ADA, "x", source="m1"), once=True)])
        assert await store.shard(ADA) is before

    async def test_only_the_same_kind_run_and_source_count_as_a_repeat(self, store: MemoryStore) -> None:
        await self.stored(ADA, "x", source="m1")
        others = [
            self.record(ADA, "episode", source="m1", kind=Kind.EPISODE),
            self.record(MONDAY, "other run", source="m1"),
            self.record(ADA, "other source", source="m2"),
            self.record(ADA, "no source"),
            self.record(ADA, "no source"),
        ]
        assert await store.write(ADA, [self.insert(record, once=True) for record in others]) == [
            record.id for record in others
        ]
        bobs = self.record(BOB, "other owner", source="m1")
        assert await store.write(BOB, [self.insert(bobs, once=True)]) == [bobs.id]

    async def test_without_once_one_source_may_have_several_memories(self, store: MemoryStore) -> None:
        first = await self.stored(ADA, "x", source="m1")
        second = await self.stored(ADA, "y", source="m1")
        assert await store.write(ADA, [self.insert(self.record(ADA, "z", source="m1"), once=True)]) == [first.id]
        await self.delete(ADA, first)
        assert await store.write(ADA, [self.insert(self.record(ADA, "z", source="m1"), once=True)]) == [second.id]

    async def test_what_was_deleted_or_erased_can_be_stored_again(self, store: MemoryStore) -> None:
        first = await self.stored(ADA, "x", source="m1")
        await self.delete(ADA, first)
        second = self.record(ADA, "x", source="m1")
        assert await store.write(ADA, [self.insert(second, once=True)]) == [second.id]
        await store.write(ADA, [Erase(second.id)])
        third = self.record(ADA, "x", source="m1")
        assert await store.write(ADA, [self.insert(third, once=True)]) == [third.id]
        assert await store.verify() == []

    async def test_what_a_source_led_to_is_found_by_any_of_its_ids(self, store: MemoryStore) -> None:
        episode = await self.stored(ADA, "said", source="m1", kind=Kind.EPISODE)
        told_twice = self.record(ADA, "told twice", source="m1")
        sources = replace(told_twice.provenance, source_ids=("m1", "m2"))
        told_twice = replace(told_twice, provenance=sources)
        await store.write(ADA, [self.insert(told_twice)])
        await self.stored(BOB, "another owner", source="m2")
        gone = await self.stored(ADA, "gone", source="m2")
        await self.delete(ADA, gone)
        assert await store.from_sources(ADA, ["m1"]) == [episode, told_twice]
        assert await store.from_sources(ADA, ["m2", "m3"]) == [told_twice]
        assert await store.from_sources(MONDAY, ["m1"]) == []
        assert await store.from_sources(ADA, []) == []

    async def test_a_writer_who_saw_less_than_there_is_now_is_refused(self, store: MemoryStore) -> None:
        seen = (await store.shard(ADA)).generation
        first = self.record(ADA, "first")
        await store.write(ADA, [self.insert(first)], seen=seen)
        with pytest.raises(ConflictError):
            await store.write(ADA, [self.insert(self.record(ADA, "second"))], seen=seen)
        assert await self.texts(store, ADA) == ["first"]
        await store.write(BOB, [self.insert(self.record(BOB, "another owner"))], seen=seen)
        now = (await store.shard(ADA)).generation
        await store.write(ADA, [self.insert(self.record(ADA, "third"))], seen=now)
        assert len(await self.texts(store, ADA)) == 2

    async def test_a_revision_that_changes_the_source_is_known_by_the_new_one(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x", source="m1")
        moved = replace(record.provenance, source_ids=("m2", "m1"))
        await self.change(ADA, record, event=Event.UPDATE, provenance=moved)
        new, stored = self.record(ADA, "y", source="m1"), self.record(ADA, "z", source="m2")
        assert await store.write(ADA, [self.insert(stored, once=True), self.insert(new, once=True)]) == [
            record.id,
            new.id,
        ]
        assert await store.verify() == []


class ErasureSuite(StoreCase):
    """What is erased is gone from everywhere."""

    async def test_an_erased_memory_is_gone_with_its_history(self, store: MemoryStore) -> None:
        record, other = await self.stored(ADA, "x"), await self.stored(ADA, "y")
        assert await store.write(ADA, [Erase(record.id)]) == [record.id]
        assert await store.get(ADA, [record.id], deleted=True) == []
        assert await store.history(ADA, record.id) == []
        assert await store.scope_of("default", record.id) is None
        assert await self.living(store, ADA) == [other.id]
        assert await store.verify() == []

    async def test_erasing_an_owner_leaves_the_others(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x", source="m1")
        await self.stored(ADA, "said", kind=Kind.EPISODE)
        gone = await self.stored(ADA, "gone")
        await self.delete(ADA, gone)
        await self.stored(BOB, "y")
        assert await store.erase(ADA) == Receipt(
            memories=2, episodes=1, history=3, index_entries=3, source_ids=1, revisions=1
        )
        assert await store.get(ADA, [record.id], deleted=True) == []
        assert await store.history(ADA, record.id) == []
        assert await self.living(store, ADA) == []
        assert await store.owners("default") == [BOB.owner]
        assert await self.texts(store, BOB) == ["y"]
        assert await store.erase(ADA) == Receipt()
        assert await store.verify() == []

    async def test_an_erased_owner_can_come_back(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "before", source="m1")
        await store.shard(ADA)
        await store.erase(ADA)
        again = replace(record, content="after")
        assert await store.write(ADA, [self.insert(again, once=True)]) == [again.id]
        assert await self.texts(store, ADA) == ["after"]
        assert await self.living(store, ADA) == [again.id]
        assert len(await store.history(ADA, again.id)) == 1

    async def test_erasing_a_run_leaves_the_rest_of_its_owner(self, store: MemoryStore) -> None:
        remaining = await self.stored(ADA, "kept")
        await self.stored(MONDAY, "gone")
        await store.shard(ADA)
        assert await store.erase(MONDAY) == Receipt(memories=1, history=1, index_entries=1)
        assert await self.texts(store, ADA) == ["kept"]
        assert await self.living(store, ADA) == [remaining.id]
        assert await store.verify() == []

    async def test_a_reset_empties_one_tenant(self, store: MemoryStore) -> None:
        acme = Scope(user_id="ada", tenant="acme")
        for scope in (ADA, BOB, acme):
            await self.stored(scope, "x")
        assert await store.reset("default") == Receipt(memories=2, history=2, index_entries=2)
        assert await store.owners("default") == []
        assert await self.texts(store, acme) == ["x"]
        assert await self.living(store, ADA) == []
        assert await store.reset("default") == Receipt()
