"""How a store keeps, changes and lists records."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ebbing.domain.errors import ConflictError, InvalidInputError, MemoryNotFoundError, StoreClosedError
from ebbing.domain.memory.history import STORED_AS_SAID, Event
from ebbing.domain.memory.record import Kind, Layer, MemoryType, Provenance, Role
from ebbing.ports.stores.memory_store import Erase, Insert, MemoryStore
from ebbing.testing.stores.case import ADA, StoreCase

HOSTILE = (
    "我喜欢在雨天喝拿铁，不加糖。",
    "👩‍👩‍👧‍👦🏳️‍🌈 ماذا يحب؟ \u202eright to left",
    "'; DROP TABLE memory; --",
    '{"$ne": null} %s %(id)s :id ? \\x00 \ufeff',
    "line one\r\nline two\ttab",
    "很长的一段话。" * 900,
)
DAY = timedelta(days=1)

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
_NAMES = st.lists(_TEXT.filter(bool), max_size=3).map(tuple)
_TIMES = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC))  # noqa: DTZ001 (zone follows)
_SHARE = st.floats(0, 1)
_METADATA = st.dictionaries(
    _TEXT,
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _TEXT,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
        max_leaves=6,
    ),
    max_size=3,
)
_FIELDS = st.fixed_dictionaries(
    {
        "content": _TEXT,
        "created_at": _TIMES,
        "recorded_at": _TIMES,
        "kind": st.sampled_from(Kind),
        "type": st.sampled_from(MemoryType),
        "layer": st.sampled_from(Layer),
        "scope": _TEXT,
        "actor": st.none() | _TEXT,
        "role": st.none() | st.sampled_from(Role),
        "tags": _NAMES,
        "metadata": _METADATA,
        "language": st.sampled_from(["zh", "en", "und"]),
        "updated_at": st.none() | _TIMES,
        "last_accessed_at": st.none() | _TIMES,
        "valid_from": st.none() | _TIMES,
        "valid_to": st.none() | _TIMES,
        "expires_at": st.none() | _TIMES,
        "deleted_at": st.none() | _TIMES,
        "delete_reason": st.none() | _TEXT,
        "retired_at": st.none() | _TIMES,
        "mentions": st.integers(1, 1 << 30),
        "utc_offset_minutes": st.none() | st.integers(-1_439, 1_439),
        "first_said_at": st.none() | _TIMES,
        "strength": _SHARE,
        "access_count": st.integers(0, 1 << 40),
        "importance": _SHARE,
        "confidence": _SHARE,
        "provenance": st.builds(
            Provenance, _NAMES, st.none() | _TEXT, method=_TEXT, rule=st.none() | _TEXT, reason=st.none() | _TEXT
        ),
        "related_ids": _NAMES,
        "superseded_by": st.none() | _TEXT,
        "is_compressed": st.booleans(),
        "compression_sources": _NAMES,
        "abstraction_level": st.integers(0, 3),
        "version": st.integers(1, 1 << 40),
    }
)


class RecordsSuite(StoreCase):
    """Writing, reading, revising, paging, history."""

    async def test_what_was_written_is_read_back(self, store: MemoryStore) -> None:
        first, second = self.record(ADA, "likes tea"), self.record(ADA, "likes rain")
        assert await store.write(ADA, [self.insert(first), self.insert(second)]) == [first.id, second.id]
        assert await store.get(ADA, [second.id, "unknown", first.id]) == [second, first]

    async def test_nothing_to_write_is_no_error(self, store: MemoryStore) -> None:
        assert await store.write(ADA, []) == []
        assert await store.get(ADA, []) == []

    @settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
    @given(fields=_FIELDS)
    async def test_every_field_of_a_record_survives(self, store: MemoryStore, fields: dict[str, Any]) -> None:
        record = replace(self.record(ADA, ""), **fields)
        await store.write(ADA, [Insert(record, None)])
        assert await store.get(ADA, [record.id], deleted=True) == [record]

    @pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
    async def test_any_text_is_kept_as_it_is(self, store: MemoryStore, text: str) -> None:
        metadata = {"原文": {"嵌套": [text, 1, 2.5, None, True]}}
        record = await self.stored(ADA, text, metadata=metadata, actor=text[:40], tags=(text[:40],))
        assert await store.get(ADA, [record.id]) == [record]
        assert (await store.history(ADA, record.id))[0].new_memory == text
        assert await store.verify() == []

    async def test_broken_unicode_is_refused_and_nothing_written(self, store: MemoryStore) -> None:
        good, broken = self.record(ADA, "good"), self.record(ADA, "good")
        with pytest.raises(InvalidInputError):
            await store.write(ADA, [self.insert(good), Insert(replace(broken, content="half \ud83d"), None)])
        assert await self.texts(store, ADA) == []

    async def test_metadata_that_is_not_json_is_refused(self, store: MemoryStore) -> None:
        with pytest.raises(InvalidInputError):
            await store.write(
                ADA, [self.insert(self.record(ADA, "x", metadata={"when": datetime(2024, 1, 1, tzinfo=UTC)}))]
            )

    async def test_a_time_without_a_zone_is_refused(self, store: MemoryStore) -> None:
        naive = datetime(2024, 1, 1)  # noqa: DTZ001 (what is tested)
        with pytest.raises(InvalidInputError):
            await store.write(ADA, [Insert(self.record(ADA, "x", created_at=naive), None)])

    async def test_a_record_that_was_read_can_be_changed_without_changing_the_store(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x", metadata={"a": [1]})
        [read] = await store.get(ADA, [record.id])
        read.metadata["a"].append(2)
        record.metadata["a"].append(3)
        [again] = await store.get(ADA, [record.id])
        assert again.metadata == {"a": [1]}

    async def test_an_id_can_be_taken_only_once(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x")
        with pytest.raises(ConflictError):
            await store.write(ADA, [self.insert(replace(record, content="y"))])
        assert await self.texts(store, ADA) == ["x"]

    async def test_deleted_records_are_read_only_when_asked_for(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x")
        await self.delete(ADA, record)
        assert await store.get(ADA, [record.id]) == []
        assert len(await store.get(ADA, [record.id], deleted=True)) == 1
        assert await self.texts(store, ADA) == []
        assert len((await store.page(ADA, deleted=True)).records) == 1

    async def test_a_revision_replaces_the_record(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "likes tea")
        change = self.revise(record, Event.UPDATE, content="likes green tea", tags=("drink",))
        assert await store.write(ADA, [change]) == [record.id]
        assert await store.get(ADA, [record.id]) == [change.record]

    async def test_a_revision_of_an_older_version_is_refused(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x")
        await self.change(ADA, record, event=Event.UPDATE, content="y")
        with pytest.raises(ConflictError):
            await self.change(ADA, record, event=Event.UPDATE, content="z")
        assert await self.texts(store, ADA) == ["y"]

    async def test_what_is_not_there_cannot_be_changed(self, store: MemoryStore) -> None:
        record = self.record(ADA, "x")
        with pytest.raises(MemoryNotFoundError):
            await self.change(ADA, record, event=Event.UPDATE, content="y")
        with pytest.raises(MemoryNotFoundError):
            await store.write(ADA, [Erase(record.id)])

    async def test_one_refused_change_leaves_nothing_of_the_list_behind(self, store: MemoryStore) -> None:
        remaining = await self.stored(ADA, "kept")
        before = await store.shard(ADA)
        new, unknown = self.record(ADA, "new", source="m1"), self.record(ADA, "unknown")
        revised = self.revise(remaining, Event.UPDATE, content="changed")
        with pytest.raises(MemoryNotFoundError):
            await store.write(ADA, [self.insert(new), revised, Erase(unknown.id)])
        assert await self.texts(store, ADA) == ["kept"]
        assert [entry.event for entry in await store.history(ADA, remaining.id)] == [Event.ADD]
        assert (await store.shard(ADA)).generation == before.generation
        assert await store.write(ADA, [self.insert(new, once=True)]) == [new.id]
        assert await store.verify() == []

    async def test_a_list_may_change_what_it_has_just_stored(self, store: MemoryStore) -> None:
        record = self.record(ADA, "x")
        await store.write(ADA, [self.insert(record), self.revise(record, Event.UPDATE, content="y")])
        assert await self.texts(store, ADA) == ["y"]
        assert [entry.event for entry in await store.history(ADA, record.id)] == [Event.ADD, Event.UPDATE]

    async def test_the_history_tells_what_happened_in_order(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "likes tea", actor="Ada", role=Role.USER)
        at = self.clock.advance(DAY)
        update = self.revise(record, Event.UPDATE, content="likes green tea")
        await store.write(ADA, [update])
        delete = self.revise(update.record, Event.DELETE, deleted_at=at, delete_reason="asked")
        await store.write(ADA, [delete])
        await self.change(ADA, delete.record, event=Event.RESTORE, deleted_at=None)
        entries = await store.history(ADA, record.id)
        assert [(row.event, row.old_memory, row.new_memory, row.is_deleted) for row in entries] == [
            (Event.ADD, None, "likes tea", False),
            (Event.UPDATE, "likes tea", "likes green tea", False),
            (Event.DELETE, "likes green tea", None, True),
            (Event.RESTORE, "likes green tea", "likes green tea", False),
        ]
        assert {(row.memory_id, row.created_at, row.actor_id, row.role) for row in entries} == {
            (record.id, record.created_at, "Ada", "user")
        }
        assert [(row.updated_at, row.reason) for row in entries[:2]] == [(None, STORED_AS_SAID), (at, "seen anew")]
        assert len({row.id for row in entries}) == len(entries)

    async def test_bookkeeping_and_episodes_leave_no_history(self, store: MemoryStore) -> None:
        memory = await self.stored(ADA, "x")
        episode = await self.stored(ADA, "said x", kind=Kind.EPISODE)
        await self.change(ADA, memory, event=Event.NONE, access_count=1)
        assert [entry.event for entry in await store.history(ADA, memory.id)] == [Event.ADD]
        assert await store.history(ADA, episode.id) == []
        assert await store.history(ADA, "unknown") == []

    async def test_many_writers_at_once_all_get_their_turn(self, store: MemoryStore) -> None:
        records = [self.record(ADA, f"note {number}") for number in range(40)]
        async with anyio.create_task_group() as tasks:
            for record in records:
                tasks.start_soon(store.write, ADA, [self.insert(record)])
        assert sorted(await self.texts(store, ADA)) == sorted(record.content for record in records)
        assert len(set(await self.living(store, ADA))) == 40

    async def test_of_two_revisions_of_one_version_one_wins(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x")
        refused: list[str] = []

        async def revise(text: str) -> None:
            try:
                await self.change(ADA, record, event=Event.UPDATE, content=text)
            except ConflictError:
                refused.append(text)

        async with anyio.create_task_group() as tasks:
            for text in ("a", "b", "c"):
                tasks.start_soon(revise, text)
        assert len(refused) == 2
        assert set(await self.texts(store, ADA)) == {"a", "b", "c"} - set(refused)

    async def test_a_closed_store_says_that_it_is_closed(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x")
        await store.aclose()
        await store.aclose()
        for call in (store.get(ADA, [record.id]), store.shard(ADA), store.write(ADA, []), store.verify()):
            with pytest.raises(StoreClosedError):
                await call


class PagesSuite(StoreCase):
    """ListOptions records."""

    async def pages(self, store: MemoryStore, *, limit: int) -> list[str]:
        """Every text, page by page."""
        texts: list[str] = []
        cursor = None
        while True:
            page = await store.page(ADA, limit=limit, cursor=cursor)
            assert len(page.records) <= limit
            texts += [record.content for record in page.records]
            cursor = page.next_cursor
            if cursor is None:
                return texts

    async def test_a_page_shows_the_newest_first_and_then_the_last_stored(self, store: MemoryStore) -> None:
        now = self.now
        for text, created in (("old", now - DAY), ("first", now), ("oldest", now - 2 * DAY), ("second", now)):
            await self.stored(ADA, text, created_at=created)
        assert await self.texts(store, ADA) == ["second", "first", "old", "oldest"]

    @pytest.mark.parametrize("limit", [1, 2, 3, 7, 8])
    async def test_pages_show_everything_exactly_once(self, store: MemoryStore, limit: int) -> None:
        now = self.now
        for number in range(7):
            await self.stored(ADA, str(number), created_at=now - (number % 3) * DAY)
        texts = await self.pages(store, limit=limit)
        assert sorted(texts) == list("0123456")

    async def test_what_is_written_meanwhile_does_not_shift_the_pages(self, store: MemoryStore) -> None:
        records = [await self.stored(ADA, str(number)) for number in range(4)]
        page = await store.page(ADA, limit=2)
        await self.stored(ADA, "newer")
        await store.write(ADA, [Erase(records[3].id)])
        rest = await store.page(ADA, limit=2, cursor=page.next_cursor)
        assert [record.content for record in (*page.records, *rest.records)] == ["3", "2", "1", "0"]
        assert rest.next_cursor is None

    async def test_a_page_shows_the_kinds_asked_for(self, store: MemoryStore) -> None:
        await self.stored(ADA, "memory")
        await self.stored(ADA, "episode", kind=Kind.EPISODE)
        assert await self.texts(store, ADA, kinds=(Kind.MEMORY,)) == ["memory"]
        assert await self.texts(store, ADA, kinds=(Kind.EPISODE,)) == ["episode"]
        assert await self.texts(store, ADA, kinds=(Kind.MEMORY, Kind.EPISODE)) == ["episode", "memory"]

    async def test_a_page_shows_what_holds_at_a_moment(self, store: MemoryStore) -> None:
        now = self.now
        await self.stored(ADA, "holds", valid_to=now + DAY, expires_at=now + DAY)
        await self.stored(ADA, "always")
        await self.stored(ADA, "over", valid_to=now)
        await self.stored(ADA, "run out", expires_at=now)
        page = await store.page(ADA, at=now, limit=1)
        rest = await store.page(ADA, at=now, cursor=page.next_cursor)
        assert [record.content for record in (*page.records, *rest.records)] == ["always", "holds"]
        assert rest.next_cursor is None
        assert len((await store.page(ADA)).records) == 4

    @pytest.mark.parametrize("cursor", ["", "x", "eA==", "1.2", "我", "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5LjE="])
    async def test_a_cursor_from_elsewhere_is_refused(self, store: MemoryStore, cursor: str) -> None:
        await self.stored(ADA, "x")
        with pytest.raises(InvalidInputError):
            await store.page(ADA, cursor=cursor)

    async def test_a_page_of_nothing_is_refused(self, store: MemoryStore) -> None:
        with pytest.raises(InvalidInputError):
            await store.page(ADA, limit=0)

    async def test_an_unknown_owner_has_an_empty_page(self, store: MemoryStore) -> None:
        page = await store.page(ADA)
        assert page.records == ()
        assert page.next_cursor is None
