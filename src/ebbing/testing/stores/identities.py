"""That a store knows under which names a person comes, and makes two persons one and two again without loss."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ebbing.domain.errors import ConflictError, IdentityNotFoundError, InvalidInputError, StoreClosedError
from ebbing.domain.memory.feedback import Feedback, Signal
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.identity import MERGE_GRACE, Identity, Merge
from ebbing.domain.memory.profile import ProfileEdit, Section
from ebbing.domain.memory.record import Kind, MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.ports.job_queue import JobState
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.ports.stores.usage_log import Returned
from ebbing.testing.stores.case import ADA, BOB, MONDAY, StoreCase

CAROL = Scope(user_id="carol")
BOB_ON_MONDAY = Scope(user_id="bob", agent_id="guide", run_id="monday")
HOME = "default"


class IdentitiesSuite(StoreCase):
    """Names, and persons made one."""

    async def named(self, store: MemoryStore, name: tuple[str, str], *, of: str = "ada") -> Identity:
        """A name that is linked now."""
        channel, called = name
        return await store.identities.link(HOME, channel, channel_user_id=called, unified_id=of, at=self.now)

    async def names(self, store: MemoryStore, unified: str | None = None) -> list[tuple[str, str, bool]]:
        """Channel, name and whether it was the first, of one person or of all."""
        identities = await store.identities.list(HOME, unified_id=unified)
        return [(item.channel, item.channel_user_id, item.is_primary) for item in identities]

    async def made_one(self, store: MemoryStore, *, target: Scope = ADA, gone: Scope = BOB) -> Merge:
        """Two persons made one now."""
        return await store.identities.merge(HOME, target.user_id or "", gone=gone.user_id or "", at=self.now)

    async def undone(self, store: MemoryStore, merge: Merge) -> Merge:
        """A merge undone now."""
        return await store.identities.undo(HOME, merge.id, at=self.now)

    async def contents(self, store: MemoryStore, scope: Scope) -> set[str]:
        """Texts of an owner's living rows, by page and by shard alike."""
        page = set(await self.texts(store, scope))
        shard = await store.shard(scope)
        ids = {shard.ids[row] for row in range(shard.size) if shard.alive[row]}
        assert {record.content for record in await store.get(scope, list(ids))} == page
        return page

    async def the(self, store: MemoryStore, record: MemoryRecord, *, of: Scope) -> MemoryRecord:
        """A record as it stands, under this scope."""
        [record_found] = await store.get(of, [record.id], deleted=True)
        return record_found

    # ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────

    async def test_a_name_is_somebodys_from_the_first_time_on(self, store: MemoryStore) -> None:
        book, at = store.identities, self.now
        assert await book.find(HOME, "web", channel_user_id="x") is None
        first = await book.get_or_create(HOME, "web", channel_user_id="x", unified_id="u1", at=at)
        assert first == Identity("web", "x", "u1", True, at)
        again = await book.get_or_create(
            HOME, "web", channel_user_id="x", unified_id="u2", at=self.clock.advance(timedelta(1))
        )
        assert again == first == await book.find(HOME, "web", channel_user_id="x")

    async def test_a_person_has_many_names_and_the_first_stays_the_first(self, store: MemoryStore) -> None:
        await self.named(store, ("web", "x"))
        assert not (await self.named(store, ("app", "y"))).is_primary
        assert await self.named(store, ("app", "y")) == await self.named(store, ("app", "y"))
        await self.named(store, ("app", "z"), of="bob")
        assert await self.names(store, "ada") == [("app", "y", False), ("web", "x", True)]
        assert await self.names(store) == [("app", "y", False), ("app", "z", True), ("web", "x", True)]

    async def test_a_name_of_somebody_else_is_not_taken(self, store: MemoryStore) -> None:
        await self.named(store, ("web", "x"), of="bob")
        with pytest.raises(ConflictError):
            await self.named(store, ("web", "x"), of="ada")
        assert await store.identities.unlink(HOME, "web", channel_user_id="x")
        assert not await store.identities.unlink(HOME, "web", channel_user_id="x")
        assert (await self.named(store, ("web", "x"), of="ada")).unified_id == "ada"

    async def test_names_come_in_pages(self, store: MemoryStore) -> None:
        for number in range(5):
            await self.named(store, (f"c{number % 2}", f"n{number}"))
        identities = await store.identities.list(HOME, limit=2)
        after = (identities[-1].channel, identities[-1].channel_user_id)
        identities += await store.identities.list(HOME, limit=9, after=after)
        assert [(item.channel, item.channel_user_id) for item in identities] == [
            *(("c0", "n0"), ("c0", "n2"), ("c0", "n4"), ("c1", "n1"), ("c1", "n3"))
        ]

    async def test_names_of_another_tenant_are_others(self, store: MemoryStore) -> None:
        await self.named(store, ("web", "x"))
        assert await store.identities.find("other", "web", channel_user_id="x") is None
        assert await store.identities.list("other") == []
        assert not await store.identities.unlink("other", "web", channel_user_id="x")

    # ── merging ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def test_everything_of_the_one_becomes_the_others(self, store: MemoryStore) -> None:
        await self.stored(ADA, "tea", source="m1")
        jam = await self.stored(BOB_ON_MONDAY, "jam", source="m1")
        episode = await self.stored(BOB, "I like jam", kind=Kind.EPISODE)
        gone = await self.stored(BOB, "old", deleted_at=self.now)
        await self.change(BOB, jam, event=Event.UPDATE, content="plum jam")
        await store.usage.returned([Returned(BOB.owner, jam.id, 3, self.now)])
        await store.usage.tell(BOB, Feedback(jam.id, Signal.DOWN, "r1", self.now))
        history = await store.history(BOB, jam.id)
        before = {item.id: item for item in await store.get(BOB, [jam.id, episode.id, gone.id], deleted=True)}

        merge = await self.made_one(store)
        assert (merge.target, merge.gone, merge.memories, merge.episodes) == ("ada", "bob", 2, 1)
        assert await self.contents(store, ADA) == {"tea", "plum jam", "I like jam"}
        assert await self.contents(store, BOB) == set()
        for record in before.values():
            moved = replace(record, belongs_to=replace(record.belongs_to, user_id="ada"))
            assert await self.the(store, record, of=ADA) == moved
        assert await store.history(ADA, jam.id) == history
        usage = await store.usage.usage(ADA, jam.id)
        assert (usage.returned, [feedback.signal for feedback in usage.feedback]) == (3, [Signal.DOWN])
        assert {source.id for source in await store.from_sources(ADA, ["m1"])} >= {jam.id}
        assert await store.scope_of(HOME, jam.id) == Scope("ada", "guide", "monday")
        assert [owner.name for owner in await store.owners(HOME)] == ["ada"]
        assert await store.verify() == []

    async def test_a_shard_that_was_read_before_follows(self, store: MemoryStore) -> None:
        await self.stored(ADA, "tea")
        await self.stored(BOB, "jam")
        before = await store.shard(ADA), await store.shard(BOB)
        await self.made_one(store)
        assert [item.size for item in before] == [1, 1]
        assert len(await self.living(store, ADA)) == 2
        assert await self.living(store, BOB) == []

    async def test_names_and_jobs_go_along(self, store: MemoryStore) -> None:
        await self.named(store, ("web", "x"), of="ada")
        await self.named(store, ("app", "y"), of="bob")
        await self.stored(BOB, "jam")
        job = await store.jobs.enqueue("extract", "k1", payload={"user_id": "bob", "n": 1}, belongs_to=BOB)
        await store.jobs.enqueue("extract", "k2", belongs_to=BOB)
        leased = await store.jobs.claim(["extract"], lease=timedelta(hours=1))
        await self.made_one(store)
        assert await self.names(store, "ada") == [("app", "y", False), ("web", "x", True)]
        jobs = {item.key: item for item in await store.jobs.list()}
        assert jobs["k1"].payload == {"user_id": "ada", "n": 1}
        assert {item.belongs_to for item in jobs.values()} == {ADA}
        assert {item.state for item in jobs.values()} == {JobState.WAITING}
        assert leased is not None
        assert leased.id == job
        assert not await store.jobs.complete(leased)

    async def test_somebody_with_names_alone_can_be_merged_and_nobody_cannot(self, store: MemoryStore) -> None:
        await self.named(store, ("app", "y"), of="bob")
        merge = await self.made_one(store)
        assert (merge.memories, merge.episodes) == (0, 0)
        assert await self.names(store, "ada") == [("app", "y", False)]
        with pytest.raises(IdentityNotFoundError):
            await self.made_one(store)
        with pytest.raises(InvalidInputError):
            await self.made_one(store, target=ADA, gone=ADA)

    async def test_edits_of_the_profile_go_along_unless_the_other_has_the_same(self, store: MemoryStore) -> None:
        def edit(slot: str, key: str) -> ProfileEdit:
            return ProfileEdit(slot, Section.FACTS, key, self.now)

        await self.stored(ADA, "tea")
        await self.stored(BOB, "jam")
        await store.profiles.edit(ADA, [edit("home", "mine")])
        await store.profiles.edit(BOB, [edit("home", "his"), edit("job", "his")])
        merge = await self.made_one(store)
        assert (await store.profiles.read(ADA)).edits == (edit("home", "mine"), edit("job", "his"))
        assert (await store.profiles.read(BOB)).edits == ()
        assert await store.verify() == []
        await self.undone(store, merge)
        assert (await store.profiles.read(ADA)).edits == (edit("home", "mine"),)
        assert (await store.profiles.read(BOB)).edits == (edit("home", "his"), edit("job", "his"))
        assert await store.verify() == []

    async def test_what_is_written_late_under_the_old_name_arrives(self, store: MemoryStore) -> None:
        await self.stored(ADA, "tea")
        await self.stored(BOB, "jam")
        await self.made_one(store)
        self.clock.advance(MERGE_GRACE / 2)
        late = self.record(BOB, "on its way")
        assert await store.write(BOB, [self.insert(late)], seen=-1) == [late.id]
        assert await self.contents(store, ADA) == {"tea", "jam", "on its way"}
        assert await store.verify() == []
        self.clock.advance(MERGE_GRACE)
        await self.stored(BOB, "somebody new")
        assert await self.contents(store, BOB) == {"somebody new"}

    # ── parting ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def test_a_merge_that_is_undone_leaves_everything_as_it_was(self, store: MemoryStore) -> None:
        await self.named(store, ("web", "x"), of="ada")
        await self.named(store, ("app", "y"), of="bob")
        await self.named(store, ("tv", "z"), of="bob")
        tea = await self.stored(ADA, "tea", source="m1")
        jam = await self.stored(BOB_ON_MONDAY, "jam", source="m1")
        await store.usage.tell(BOB, Feedback(jam.id, Signal.USED, "r1", self.now))
        before = [await self.the(store, tea, of=ADA), await self.the(store, jam, of=BOB)]
        names, histories = await self.names(store), await store.history(BOB, jam.id)
        merge = await self.made_one(store)
        await self.stored(ADA, "said as one")
        parted = await self.undone(store, merge)
        assert parted == replace(merge, undone_at=self.now)
        assert await self.contents(store, ADA) == {"tea", "said as one"}
        assert await self.contents(store, BOB) == {"jam"}
        assert [await self.the(store, tea, of=ADA), await self.the(store, jam, of=BOB)] == before
        assert await store.history(BOB, jam.id) == histories
        assert len((await store.usage.usage(BOB, jam.id)).feedback) == 1
        assert await self.names(store) == names
        assert {source.id for source in await store.from_sources(BOB, ["m1"])} == {jam.id}
        assert await store.verify() == []
        with pytest.raises(InvalidInputError):
            await self.undone(store, merge)

    async def test_what_the_one_closed_of_the_other_holds_again(self, store: MemoryStore) -> None:
        rome, bern = await self.stored(ADA, "lives in Rome"), await self.stored(BOB, "lives in Bern")
        merge = await self.made_one(store)
        paris, now = self.record(ADA, "lives in Paris"), self.now
        closed = [
            self.revise(await self.the(store, record, of=ADA), Event.SUPERSEDE, valid_to=now, superseded_by=by)
            for record, by in ((rome, bern.id), (bern, paris.id))
        ]
        await store.write(ADA, [self.insert(paris), *closed])
        await self.undone(store, merge)
        for scope, record in ((ADA, rome), (BOB, bern)):
            again = await self.the(store, record, of=scope)
            assert (again.valid_to, again.superseded_by) == (None, None)
            assert "undone" in ((await store.history(scope, record.id))[-1].reason or "")
        assert await store.verify() == []

    async def test_what_tells_of_both_belongs_to_neither(self, store: MemoryStore) -> None:
        tea, jam = await self.stored(ADA, "tea"), await self.stored(BOB, "jam")
        merge = await self.made_one(store)
        both = self.record(ADA, "tea and jam", compression_sources=(tea.id, jam.id), is_compressed=True)
        retired = [
            self.revise(await self.the(store, item, of=ADA), Event.MERGE, retired_at=self.now, superseded_by=both.id)
            for item in (tea, jam)
        ]
        await store.write(ADA, [self.insert(both), *retired])
        assert await self.contents(store, ADA) == {"tea and jam"}
        await self.undone(store, merge)
        assert await self.contents(store, ADA) == {"tea"}
        assert await self.contents(store, BOB) == {"jam"}
        assert (await self.the(store, both, of=ADA)).deleted_at == self.now
        assert await store.verify() == []

    async def test_merges_are_undone_from_the_last_one_on(self, store: MemoryStore) -> None:
        for scope, text in ((ADA, "tea"), (BOB, "jam"), (CAROL, "rye")):
            await self.stored(scope, text)
        first = await self.made_one(store, target=ADA, gone=BOB)
        second = await self.made_one(store, target=CAROL, gone=ADA)
        with pytest.raises(InvalidInputError, match="first"):
            await self.undone(store, first)
        self.clock.advance(2 * MERGE_GRACE)
        await self.stored(ADA, "new under an old name")
        await self.undone(store, second)
        assert await self.contents(store, CAROL) == {"rye"}
        assert await self.contents(store, ADA) == {"new under an old name", "tea", "jam"}
        await self.undone(store, first)
        assert await self.contents(store, ADA) == {"new under an old name", "tea"}
        assert await self.contents(store, BOB) == {"jam"}
        assert await store.verify() == []

    async def test_two_merges_into_one_are_undone_in_any_order(self, store: MemoryStore) -> None:
        for scope, text in ((ADA, "tea"), (BOB, "jam"), (CAROL, "rye")):
            await self.stored(scope, text)
        first, second = (
            await self.made_one(store, target=ADA, gone=BOB),
            await self.made_one(store, target=ADA, gone=CAROL),
        )
        assert [merge.id for merge in await store.identities.merges(HOME, unified_id="ada")] == [second.id, first.id]
        await self.undone(store, first)
        assert await self.contents(store, ADA) == {"tea", "rye"}
        await self.undone(store, second)
        assert [await self.contents(store, item) for item in (ADA, BOB, CAROL)] == [{"tea"}, {"jam"}, {"rye"}]
        assert [merge.undone_at is not None for merge in await store.identities.merges(HOME)] == [True, True]

    async def test_what_was_erased_meanwhile_stays_erased(self, store: MemoryStore) -> None:
        await self.stored(ADA, "tea")
        jam = await self.stored(BOB_ON_MONDAY, "jam")
        await self.stored(BOB, "rye")
        merge = await self.made_one(store)
        await store.erase(MONDAY)
        await self.undone(store, merge)
        assert await self.contents(store, BOB) == {"rye"}
        assert await store.get(BOB, [jam.id], deleted=True) == []
        assert await store.verify() == []

    async def test_a_merge_of_another_tenant_is_not_undone(self, store: MemoryStore) -> None:
        await self.stored(BOB, "jam")
        merge = await self.made_one(store)
        with pytest.raises(IdentityNotFoundError):
            await store.identities.undo("other", merge.id, at=self.now)
        with pytest.raises(IdentityNotFoundError):
            await store.identities.undo(HOME, merge.id + 1, at=self.now)

    # ── erasure ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def test_erasing_a_person_erases_their_names_and_merges(self, store: MemoryStore) -> None:
        await self.named(store, ("web", "x"), of="ada")
        await self.named(store, ("app", "y"), of="bob")
        await self.named(store, ("tv", "z"), of="carol")
        await self.stored(BOB, "jam")
        merge = await self.made_one(store)
        receipt = await store.erase(ADA)
        assert receipt.identities == 2
        assert await self.names(store) == [("tv", "z", True)]
        assert await store.identities.merges(HOME) == []
        with pytest.raises(IdentityNotFoundError):
            await self.undone(store, merge)
        await self.stored(BOB, "somebody new")
        assert await self.contents(store, BOB) == {"somebody new"}
        assert await store.verify() == []

    async def test_erasing_a_run_or_an_agent_of_the_same_name_erases_no_name(self, store: MemoryStore) -> None:
        await self.named(store, ("web", "x"), of="ada")
        for scope in (MONDAY, Scope(agent_id="ada"), Scope(run_id="ada")):
            assert (await store.erase(scope)).identities == 0
        assert len(await self.names(store)) == 1

    async def test_a_reset_knows_nobody_any_more(self, store: MemoryStore) -> None:
        await self.named(store, ("web", "x"), of="ada")
        await self.stored(BOB, "jam")
        await self.made_one(store)
        assert (await store.reset(HOME)).identities == 1
        assert await self.names(store) == []
        assert await store.identities.merges(HOME) == []

    async def test_a_closed_store_knows_no_names(self, store: MemoryStore) -> None:
        await store.aclose()
        with pytest.raises(StoreClosedError):
            await store.identities.find(HOME, "web", channel_user_id="x")
        with pytest.raises(StoreClosedError):
            await self.made_one(store)
