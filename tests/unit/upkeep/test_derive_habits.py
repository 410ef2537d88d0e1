"""Abstraction: single occasions become a behaviour, a kind of behaviour, a habit, with a count that rises in place."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ebbing.domain.forgetting.policy import UpkeepPolicy
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import Layer, MemoryRecord, MemoryType, Role
from ebbing.domain.memory.scope import Scope
from ebbing.ports.stores.memory_store import Erase
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.upkeep.habits.derive_habits import abstract
from ebbing.upkeep.merging.summarize import compress
from tests.unit.upkeep.house import ADA, DAY, START, House

pytestmark = pytest.mark.anyio
SOON = START + timedelta(days=5)
LATER = START + timedelta(days=60)
NOTHING = {"abstracted": 0, "raised": 0, "merged": 0}


@pytest.fixture
def house() -> House:
    return House(embedder=FakeEmbedder(64))


async def said(house: House, *texts: str, days: tuple[int, ...] = (0, 2, 4), **fields: Any) -> list[MemoryRecord]:
    return [await house.said(text, day=day, **fields) for text, day in zip(texts, days, strict=True)]


async def told(house: House) -> list[MemoryRecord]:
    return [one for one in await house.active() if one.abstraction_level]


async def run(house: House, *, now: Any = SOON, **options: Any) -> dict[str, int]:
    return (await abstract(house.deps, ADA, now=now, **options)).counts


@pytest.mark.parametrize(
    ("texts", "wording"),
    [
        (("今天买了咖啡", "我买了一杯咖啡", "又买了咖啡"), "用户经常买咖啡 (3 次)"),
        (("I bought a coffee today", "I bought coffee", "Bought coffee again"), "User often buys coffee (3 times)"),
    ],
)
async def test_what_was_done_on_three_days_is_told_by_one_memory_with_a_count(
    house: House, texts: tuple[str, ...], wording: str
) -> None:
    events = await said(house, *texts, importance=0.3)
    assert await run(house) == {"abstracted": 1, "raised": 0, "merged": 0}
    [habit] = await told(house)
    assert habit.content == wording
    assert (habit.abstraction_level, habit.tags, habit.mentions) == (1, ("abstraction_level_1",), 3)
    assert (habit.type, habit.layer) == (MemoryType.SEMANTIC, Layer.LONG_TERM)
    assert (habit.first_said_at, habit.created_at) == (START, START + 4 * DAY)
    assert habit.compression_sources == tuple(one.id for one in events)
    assert len(await house.active()) == 4, "what is new stays beside it"
    assert await house.store.verify() == []


async def test_twice_or_three_times_on_one_day_is_not_often(house: House) -> None:
    await said(house, "买了咖啡", "又买了咖啡", "买了一杯咖啡", days=(0, 0, 2))
    assert await run(house) == NOTHING
    await said(house, "买了咖啡", days=(300,))
    assert await run(house, now=START + 301 * DAY) == NOTHING, "too far apart"


async def test_a_second_run_adds_nothing_and_a_new_occasion_raises_the_count_in_place(house: House) -> None:
    await said(house, "买了咖啡", "买了一杯咖啡", "又买了咖啡")
    await run(house)
    [before] = await told(house)
    assert await run(house) == NOTHING
    await house.said("我买了咖啡", day=5)
    assert await run(house) == {"abstracted": 0, "raised": 1, "merged": 0}
    [after] = await told(house)
    assert (after.id, after.content, after.mentions) == (before.id, "用户经常买咖啡 (4 次)", 4)
    assert await run(house) == NOTHING
    assert [entry.event for entry in await house.store.history(ADA, after.id)] == [Event.ADD, Event.UPDATE]


async def test_an_occasion_that_says_nothing_else_steps_behind_the_habit_once_it_is_a_week_old(house: House) -> None:
    events = await said(house, "买了咖啡", "在公司楼下买了咖啡", "又买了咖啡", days=(0, 2, 9))
    assert await run(house, now=START + 10 * DAY) == {"abstracted": 1, "raised": 0, "merged": 1}
    assert [one.content for one in await house.active()] == [
        "在公司楼下买了咖啡",
        "又买了咖啡",
        "用户经常买咖啡 (3 次)",
    ]
    assert await run(house, now=START + 30 * DAY) == {"abstracted": 0, "raised": 0, "merged": 1}
    assert await run(house, now=LATER) == NOTHING
    [habit] = await told(house)
    behind = await house.store.get(ADA, [events[0].id])
    assert (behind[0].superseded_by, habit.mentions) == (habit.id, 3)
    await house.said("买了咖啡", day=61)
    await run(house, now=START + 62 * DAY)
    assert (await told(house))[0].mentions == 4
    await house.store.write(ADA, [Erase(habit.id)])
    assert [one.content for one in await house.active()] == ["在公司楼下买了咖啡", "买了咖啡"]


async def test_what_is_pinned_stays_beside_the_habit(house: House) -> None:
    await said(house, "买了咖啡", "买了一杯咖啡", "又买了咖啡", tags=("pinned",))
    assert (await run(house, now=LATER))["merged"] == 0


async def test_things_of_one_kind_make_a_kind_of_behaviour(house: House) -> None:
    await said(house, "买了拿铁", "买了一杯美式", "又买了拿铁")
    await run(house)
    [habit] = await told(house)
    assert (habit.content, habit.abstraction_level) == ("用户经常买咖啡：拿铁、美式 (3 次)", 2)
    assert habit.tags == ("abstraction_level_2",)


async def test_the_level_rises_in_place_when_other_things_of_the_kind_or_more_weeks_come(house: House) -> None:
    await said(house, "I bought a latte", "I bought a latte today", "Bought a latte again")
    await run(house)
    [first] = await told(house)
    assert (first.content, first.abstraction_level) == ("User often buys latte (3 times)", 1)
    await house.said("I bought a mocha", day=7)
    await run(house)
    assert [one.content for one in await told(house)] == ["User often buys coffee: latte, mocha (4 times)"]
    await said(house, "I bought a latte", "I bought a mocha", days=(14, 16))
    await run(house, now=START + 17 * DAY)
    [last] = await told(house)
    assert (last.id, last.abstraction_level) == (first.id, 3)
    assert (
        last.content == "User has a habit of drinking coffee, mostly on Mondays and Wednesdays (6 times since 2026-03)"
    )
    assert await run(house, now=START + 17 * DAY) == NOTHING


async def test_a_level_can_be_asked_for(house: House) -> None:
    await said(house, "买了拿铁", "买了一杯拿铁", "又买了拿铁")
    await run(house, level=3)
    [habit] = await told(house)
    assert (habit.content, habit.abstraction_level) == ("用户有喝咖啡的习惯 (2026-03 起 3 次)", 3)
    assert await run(house, level=1) == NOTHING, "it does not fall again"


async def test_on_the_first_level_different_things_stay_apart(house: House) -> None:
    await said(house, "买了拿铁", "买了一杯美式", "又买了拿铁")
    assert await run(house, level=1) == NOTHING


async def test_a_shared_frame_without_shared_content_is_no_behaviour(house: House) -> None:
    await said(house, "今天买了咖啡", "今天买了苹果", "今天买了衣服")
    assert await run(house) == NOTHING


@pytest.mark.parametrize(
    "apart",
    [{"role": Role.ASSISTANT}, {"actor": "Bob"}, {"scope": "session:one"}, {"type": MemoryType.FACT},
     {"belongs_to": Scope(user_id="ada", agent_id="coach")}, {"tags": ("quarantined",)}, {"trust": "document"}],
    ids=str,
)  # fmt: skip
async def test_only_what_one_person_did_and_may_be_used_in_one_place_is_counted_together(
    house: House, apart: dict[str, Any]
) -> None:
    await said(house, "买了咖啡", "又买了咖啡", days=(0, 2))
    await house.said("买了一杯咖啡", day=4, **apart)
    assert await run(house) == NOTHING


async def test_a_dry_run_tells_and_writes_nothing(house: House) -> None:
    await said(house, "买了咖啡", "买了一杯咖啡", "又买了咖啡")
    report = await abstract(house.deps, ADA, now=LATER, dry_run=True)
    assert report.counts == {"abstracted": 1, "raised": 0, "merged": 3}
    assert [one.action for one in report.changes] == ["abstract", "merge", "merge", "merge"]
    assert "咖啡" not in report.changes[0].why
    assert len(await house.active()) == 3


async def test_repeats_that_were_merged_before_are_counted_by_their_days(house: House) -> None:
    await said(house, "I bought coffee.", "I bought coffee!", "I bought coffee")
    await compress(house.deps, ADA, now=SOON)
    assert len(await house.active()) == 1
    await run(house)
    assert [one.mentions for one in await told(house)] == [3]
    await house.said("I bought coffee", day=5)
    await compress(house.deps, ADA, now=SOON + DAY)
    assert await run(house, now=SOON + DAY) == {"abstracted": 0, "raised": 1, "merged": 0}
    assert [one.content for one in await told(house)] == ["User often buys coffee (4 times)"]


async def test_a_source_that_is_gone_stays_counted(house: House) -> None:
    events = await said(house, "买了咖啡", "买了一杯咖啡", "又买了咖啡")
    await run(house)
    await house.store.write(ADA, [Erase(events[0].id)])
    await house.said("买了咖啡", day=5)
    await run(house)
    assert [one.mentions for one in await told(house)] == [4]


async def test_a_habit_that_tells_very_many_is_told_by_the_next_one() -> None:
    house = House(policy=UpkeepPolicy(concrete_days=0))
    for day in range(399):
        await house.said("买了咖啡", day=day)
    await run(house, now=START + 400 * DAY)
    [first] = await told(house)
    for day in range(399, 405):
        await house.said("买了咖啡", day=day)
    await run(house, now=START + 406 * DAY)
    [second] = await told(house)
    assert (second.mentions, first.id in second.compression_sources) == (405, True)
    assert await house.active() == [second]
    await house.said("买了咖啡", day=407)
    await run(house, now=START + 408 * DAY)
    assert [(one.id, one.mentions) for one in await told(house)] == [(second.id, 406)]
