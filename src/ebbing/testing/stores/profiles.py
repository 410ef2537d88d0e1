"""That a store keeps profiles and what people did to them, and lets go of them with the memories that they tell of."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ebbing.domain.errors import StoreClosedError
from ebbing.domain.memory.profile import Origin, ProfileEdit, ProfileEntry, Rank, Section, Snapshot
from ebbing.domain.memory.scope import Scope
from ebbing.ports.stores.memory_store import Erase, MemoryStore
from ebbing.ports.stores.profile_store import StoredProfile
from ebbing.testing.stores.case import ADA, BOB, MONDAY, StoreCase


class ProfilesSuite(StoreCase):
    """Profiles beside the records."""

    def snapshot(self, *words: str, version: int = 1) -> Snapshot:
        """A profile that says these things."""
        entries = tuple(self.about(word) for word in words)
        now = self.now
        return Snapshot(version, 7, now, now + timedelta(days=1), len(words), entries)

    def about(self, word: str, *, memory_id: str = "m1") -> ProfileEntry:
        """An entry with a value in every field."""
        return ProfileEntry(
            section=Section.DISLIKES,
            key=word,
            slot=f"taste:{word}",
            value=word,
            text=f"用户不喜欢{word}",
            rank=Rank.TASTE,
            weight=0.5,
            mentions=3,
            importance=0.25,
            first_at=self.now - timedelta(days=9),
            last_at=self.now,
            memory_ids=(memory_id, "m2"),
            origin=Origin.USER,
            language="zh",
            safety=True,
            overridden_value="something else",
        )

    def edit(self, slot: str, memory_id: str | None = None) -> ProfileEdit:
        """What a person did to an entry."""
        return ProfileEdit(slot, Section.FACTS, slot, self.now, memory_id)

    async def stored_profile(self, store: MemoryStore, scope: Scope = ADA, *words: str) -> StoredProfile:
        """What is kept once a profile that says these things is."""
        before = await store.profiles.read(scope)
        if words:
            assert await store.profiles.keep(scope, self.snapshot(*words), seen=before.revision)
        return await store.profiles.read(scope)

    async def test_of_nobody_known_nothing_is_kept(self, store: MemoryStore) -> None:
        assert await store.profiles.read(ADA) == StoredProfile()
        assert not await store.profiles.keep(ADA, self.snapshot("x"), seen=0)
        assert await store.profiles.read(ADA) == StoredProfile()

    async def test_a_profile_comes_back_as_it_was(self, store: MemoryStore) -> None:
        await self.stored(ADA, "x")
        snapshot = self.snapshot("香菜", "jazz", version=3)
        assert await store.profiles.keep(ADA, snapshot, seen=0)
        profile = await store.profiles.read(ADA)
        assert (profile.snapshot, profile.revision) == (snapshot, 1)
        assert profile.generation == (await store.shard(ADA)).generation
        assert await store.profiles.read(MONDAY) == profile

    async def test_of_two_who_keep_one_at_the_same_time_the_first_does(self, store: MemoryStore) -> None:
        await self.stored(ADA, "x")
        seen = (await store.profiles.read(ADA)).revision
        assert await store.profiles.keep(ADA, self.snapshot("first"), seen=seen)
        assert not await store.profiles.keep(ADA, self.snapshot("second"), seen=seen)
        profile = (await store.profiles.read(ADA)).snapshot
        assert profile is not None
        assert [entry.value for entry in profile.entries] == ["first"]

    async def test_an_edit_outdates_the_profile_and_whoever_is_working_one_out(self, store: MemoryStore) -> None:
        await self.stored(ADA, "x")
        before = await self.stored_profile(store, ADA, "jazz")
        await store.profiles.edit(ADA, [self.edit("b", "m1"), self.edit("a")])
        after = await store.profiles.read(ADA)
        assert after.edits == (self.edit("a"), self.edit("b", "m1"))
        assert after.snapshot is not None
        assert (after.snapshot.version, after.snapshot.generation, after.snapshot.entries) == (1, -1, ())
        assert not await store.profiles.keep(ADA, self.snapshot("old"), seen=before.revision)
        assert await store.profiles.keep(ADA, self.snapshot("new", version=2), seen=after.revision)

    async def test_the_later_edit_of_a_slot_counts_and_one_can_be_taken_back(self, store: MemoryStore) -> None:
        await store.profiles.edit(ADA, [self.edit("a"), self.edit("b")])
        await store.profiles.edit(ADA, [self.edit("a", "m1")], drop=["b", "unknown"])
        assert (await store.profiles.read(ADA)).edits == (self.edit("a", "m1"),)

    async def test_what_nobody_said_can_be_taken_out_before_anything_is_known(self, store: MemoryStore) -> None:
        await store.profiles.edit(ADA, [self.edit("tone")])
        assert (await store.profiles.read(ADA)).edits == (self.edit("tone"),)
        assert await store.owners(ADA.tenant) == []
        await self.stored(ADA, "x")
        assert (await store.profiles.read(ADA)).edits == (self.edit("tone"),)
        assert await store.verify() == []

    async def test_defaults_hold_for_everybody_of_a_tenant(self, store: MemoryStore) -> None:
        elsewhere = Scope(user_id="ada", tenant="other")
        defaults = (self.about("tone"), self.about("length"))
        await store.profiles.set_defaults(ADA.tenant, defaults)
        assert (await store.profiles.read(ADA)).defaults == (await store.profiles.read(BOB)).defaults == defaults
        assert (await store.profiles.read(elsewhere)).defaults == ()
        await store.profiles.set_defaults(ADA.tenant, defaults[:1])
        assert (await store.profiles.read(ADA)).defaults == defaults[:1]
        await store.profiles.set_defaults(ADA.tenant, ())
        assert await store.profiles.read(ADA) == StoredProfile()

    async def test_settings_of_a_tenant_are_its_own_until_it_is_reset(self, store: MemoryStore) -> None:
        await store.profiles.change_settings(ADA.tenant, {"custom_instructions": "简短", "depth": {"a": [1]}})
        await store.profiles.change_settings(ADA.tenant, {"depth": None, "decay": False})
        assert await store.profiles.settings(ADA.tenant) == {"custom_instructions": "简短", "decay": False}
        assert await store.profiles.settings("other") == {}
        await store.reset("other")
        assert await store.profiles.settings(ADA.tenant) != {}
        await store.reset(ADA.tenant)
        assert await store.profiles.settings(ADA.tenant) == {}

    @pytest.mark.parametrize("stranger", [BOB, Scope(agent_id="ada"), Scope(user_id="ada", tenant="other")], ids=str)
    async def test_nobody_sees_or_changes_the_profile_of_another(self, store: MemoryStore, stranger: Scope) -> None:
        await self.stored(ADA, "x")
        await store.profiles.edit(ADA, [self.edit("a")])
        mine = await self.stored_profile(store, ADA, "jazz")
        await self.stored(stranger, "x")
        assert replace(await store.profiles.read(stranger), generation=-1) == StoredProfile()
        await store.profiles.edit(stranger, [], drop=["a"])
        assert await store.profiles.keep(stranger, self.snapshot("rock"), seen=1)
        assert await store.profiles.read(ADA) == mine

    async def test_a_memory_that_is_erased_takes_what_the_profile_says_along(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x")
        await store.profiles.edit(ADA, [self.edit("a", record.id), self.edit("b"), self.edit("c", "another")])
        before = await self.stored_profile(store, ADA, "jazz")
        await store.write(ADA, [Erase(record.id)])
        after = await store.profiles.read(ADA)
        assert after.edits == (self.edit("b"), self.edit("c", "another"))
        assert before.snapshot is not None
        assert after.snapshot == replace(before.snapshot, generation=-1, entries=())
        assert after.revision > before.revision

    async def test_erasing_a_run_keeps_the_edits_but_not_the_profile(self, store: MemoryStore) -> None:
        remaining = await self.stored(ADA, "x")
        gone = await self.stored(MONDAY, "y")
        await store.profiles.edit(ADA, [self.edit("a", remaining.id), self.edit("b", gone.id), self.edit("c")])
        await self.stored_profile(store, ADA, "jazz")
        await store.erase(MONDAY)
        after = await store.profiles.read(ADA)
        assert after.edits == (self.edit("a", remaining.id), self.edit("c"))
        assert after.snapshot is not None
        assert (after.snapshot.generation, after.snapshot.entries) == (-1, ())
        assert await store.verify() == []

    async def test_erasing_a_user_erases_their_profile(self, store: MemoryStore) -> None:
        for scope in (ADA, BOB):
            await self.stored(scope, "x")
            await store.profiles.edit(scope, [self.edit("a")])
            await self.stored_profile(store, scope, "jazz")
        assert (await store.erase(ADA)).edits == 1
        assert await store.profiles.read(ADA) == StoredProfile()
        assert (await store.profiles.read(BOB)).edits == (self.edit("a"),)
        assert await store.verify() == []

    async def test_edits_of_somebody_without_memories_are_erased_as_well(self, store: MemoryStore) -> None:
        await store.profiles.edit(ADA, [self.edit("a")])
        assert (await store.erase(ADA)).edits == 1
        assert await store.profiles.read(ADA) == StoredProfile()

    async def test_a_reset_leaves_no_profile_and_no_default(self, store: MemoryStore) -> None:
        await self.stored(ADA, "x")
        await store.profiles.edit(ADA, [self.edit("a")])
        await self.stored_profile(store, ADA, "jazz")
        await store.profiles.set_defaults(ADA.tenant, [self.about("tone")])
        await store.reset(ADA.tenant)
        assert await store.profiles.read(ADA) == StoredProfile()
        assert await store.verify() == []

    async def test_a_closed_store_knows_nobody(self, store: MemoryStore) -> None:
        await store.aclose()
        with pytest.raises(StoreClosedError):
            await store.profiles.read(ADA)
        with pytest.raises(StoreClosedError):
            await store.profiles.edit(ADA, [self.edit("a")])
