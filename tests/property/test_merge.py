"""What merging and counting promise, whatever was said."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ebbing.domain.memory.record import MemoryRecord
from ebbing.language.wording.paraphrase import comparable, gist_of, holds, news
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.upkeep.habits.derive_habits import abstract
from ebbing.upkeep.merging.cluster import SHARED_NEWS
from ebbing.upkeep.merging.merge_duplicates import merge_repeats
from ebbing.upkeep.merging.summarize import compress
from tests.examples import examples
from tests.unit.upkeep.house import ADA, NOW, House

WHO = st.sampled_from(["我", "我妈妈", "我爸爸", "我的同事", "I", "My sister", "My boss Anna"])
DOES = st.sampled_from(["喜欢", "特别爱", "不喜欢", "买了", "likes", "really likes", "does not like", "bought"])
WHAT = st.sampled_from(["咖啡", "一杯拿铁", "绿茶", "3本书", "coffee", "two books", "green tea", "green tea with milk"])
ENDS = st.sampled_from(["", "。", "呢。", "!", " 昨天", " on Monday", "，还有别的。"])
SENTENCE = st.builds(
    lambda *parts: "".join(f"{part} " if part.isascii() else part for part in parts), WHO, DOES, WHAT, ENDS
)
TEXT = SENTENCE | st.text(max_size=12).filter(str.strip)
LOG = st.lists(st.tuples(TEXT, st.integers(0, 40)), min_size=1, max_size=14)


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


async def filled(log: list[tuple[str, int]], *, vectors: bool) -> tuple[House, list[MemoryRecord]]:
    house = House(embedder=FakeEmbedder(64) if vectors else None)
    return house, [await house.said(text.strip(), day=day) for text, day in log]


def size(records: list[MemoryRecord]) -> int:
    return sum(len(one.content.encode()) for one in records)


@settings(max_examples=examples(60))
@given(log=LOG, vectors=st.booleans())
def test_merging_loses_no_mention_and_no_record_and_grows_no_text(log: list[tuple[str, int]], vectors: bool) -> None:
    async def check() -> None:
        house, said = await filled(log, vectors=vectors)
        counts = await house.merge()
        active = await house.active()
        assert sum(one.mentions for one in active) == len(said)
        assert size(said) - size(active) == counts["saved_bytes"] >= 0
        tellers = {one.id: one for one in active}
        for before, after in zip(said, await house.store.get(ADA, [one.id for one in said]), strict=True):
            assert (after.content, after.created_at) == (before.content, before.created_at)
            assert after.retired_at is None or after.superseded_by in tellers
        assert await house.store.verify() == []

    run(check())


@settings(max_examples=examples(60))
@given(log=LOG, vectors=st.booleans())
def test_what_tells_says_what_its_sources_said(log: list[tuple[str, int]], vectors: bool) -> None:
    async def check() -> None:
        house, said = await filled(log, vectors=vectors)
        await house.merge()
        tellers = {one.id: one for one in await house.active()}
        for record in await house.store.get(ADA, [one.id for one in said]):
            if record.retired_at is None:
                continue
            whole, part = gist_of(tellers[record.superseded_by or ""].content), gist_of(record.content)
            equal = tellers[record.superseded_by or ""].hash == record.hash
            assert equal or (comparable(whole, part) and (holds(whole, part) or news(part, whole) <= SHARED_NEWS))

    run(check())


@settings(max_examples=examples(40))
@given(first=LOG, second=LOG, vectors=st.booleans())
def test_a_second_run_finds_nothing_whenever_it_comes(
    first: list[tuple[str, int]], second: list[tuple[str, int]], vectors: bool
) -> None:
    async def check() -> None:
        house, _ = await filled(first, vectors=vectors)
        for log in ([], second):
            for text, day in log:
                await house.said(text.strip(), day=41 + day)
            for step in (compress, abstract):
                await step(house.deps, ADA, now=NOW)
            before = await house.active()
            for step in (compress, abstract):
                again = await step(house.deps, ADA, now=NOW)
                assert not any(again.counts.values())
                assert again.changes == []
            assert await house.active() == before
            assert await house.store.verify() == []

    run(check())


@settings(max_examples=examples(40))
@given(log=LOG)
def test_a_dry_run_tells_just_what_is_then_done(log: list[tuple[str, int]]) -> None:
    async def check() -> None:
        house, _ = await filled(log, vectors=True)
        for step in (merge_repeats, abstract):
            told = await step(house.deps, ADA, now=NOW + timedelta(days=1), dry_run=True)
            done = await step(house.deps, ADA, now=NOW + timedelta(days=1))
            assert told.counts == done.counts

    run(check())
