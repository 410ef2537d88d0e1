"""Merging what repeats: one record tells what several say, and nothing of it is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ebbing.domain.forgetting.policy import UpkeepPolicy
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import Kind, Layer, MemoryRecord, MemoryType, Provenance, Role
from ebbing.domain.memory.scope import Scope
from ebbing.ports.stores.memory_store import Erase
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.upkeep.merging.merge_duplicates import merge_repeats
from ebbing.upkeep.merging.merge_records import merge_cluster
from tests.unit.upkeep.house import ADA, NOW, START, House

pytestmark = pytest.mark.anyio
DAY = timedelta(days=1)


@pytest.fixture(params=["vectors", "words"])
def house(request: pytest.FixtureRequest) -> House:
    return House(embedder=FakeEmbedder(256) if request.param == "vectors" else None)


async def texts(house: House) -> list[str]:
    return [record.content for record in await house.active()]


async def test_what_was_said_three_times_is_told_once_with_count_and_span(house: House) -> None:
    said = [
        await house.said("我妈妈是做护士的。", day=0, importance=0.4),
        await house.said("我妈妈她是做护士的呢。", day=3, importance=0.9, access_count=2),
        await house.said("我妈妈是护士。", day=9, importance=0.1, access_count=1),
    ]
    counts = await house.merge()
    [told] = await house.active()
    assert told.content == "我妈妈是护士。"
    assert (told.mentions, told.first_said_at, told.created_at) == (3, START, START + 9 * DAY)
    assert (told.importance, told.access_count, told.layer) == (0.9, 3, Layer.LONG_TERM)
    assert told.is_compressed
    assert told.compression_sources == tuple(one.id for one in said)
    assert counts["merged"] == 3
    assert counts["saved_bytes"] == sum(len(one.content.encode()) for one in said) - len(told.content.encode())


async def test_the_sources_stay_as_they_were_behind_the_one_that_tells_them(house: House) -> None:
    said = [await house.said("I love green tea.", day=day, metadata={"n": day}) for day in range(2)]
    await house.merge()
    [told] = await house.active()
    for before, after in zip(said, await house.store.get(ADA, [one.id for one in said]), strict=True):
        assert after == replace(before, version=2, retired_at=NOW, superseded_by=told.id)
        assert [entry.event for entry in await house.store.history(ADA, before.id)] == [Event.ADD, Event.MERGE]
    assert await house.store.verify() == []


async def test_a_new_telling_raises_the_count_in_place(house: House) -> None:
    for day in range(2):
        await house.said("I love green tea.", day=day)
    await house.merge()
    [before] = await house.active()
    await house.said("I really love green tea!", day=40)
    counts = await house.merge(now=NOW + DAY)
    [after] = await house.active()
    assert (after.id, after.content) == (before.id, before.content)
    assert (after.mentions, after.created_at) == (3, START + 40 * DAY)
    assert counts["merged"] == 1


async def test_a_shorter_telling_gives_its_words_to_the_one_that_tells(house: House) -> None:
    for day in range(2):
        await house.said("I really love green tea, I really do!", day=day)
    await house.merge()
    [before] = await house.active()
    await house.said("I love green tea", day=40)
    await house.merge(now=NOW + DAY)
    [after] = await house.active()
    assert (after.id, after.content) == (before.id, "I love green tea")
    assert [told.event for told in await house.store.history(ADA, after.id)] == [Event.ADD, Event.UPDATE]


async def test_a_second_run_finds_nothing_left(house: House) -> None:
    for day in range(4):
        await house.said("我家的狗叫小白。", day=day)
    await house.merge()
    before = await house.active()
    assert await house.merge() == {"merged": 0, "clusters": 0, "saved_bytes": 0}
    assert await house.merge(now=NOW + 300 * DAY) == {"merged": 0, "clusters": 0, "saved_bytes": 0}
    assert await house.active() == before


async def test_a_dry_run_tells_what_it_would_do_and_does_nothing(house: House) -> None:
    said = [await house.said("我家的狗叫小白。", day=day) for day in (0, 4)]
    report = await merge_repeats(house.deps, ADA, now=NOW, dry_run=True)
    assert [(one.memory_id, one.action) for one in report.changes] == [(one.id, "merge") for one in said]
    assert "2 times, from 2026-03-02 to 2026-03-06" in report.changes[0].why
    assert "小白" not in report.changes[0].why
    assert await house.active() == said
    assert (await house.merge())["merged"] == 2


@pytest.mark.parametrize(
    "pair",
    [
        ("我表弟身高169厘米。", "我表哥身高169厘米。"),
        ("我喜欢喝茶。", "我不喜欢喝茶。"),
        ("我叔叔是护士长。", "我叔叔是做护士的。"),
        ("My sister lives in Rome", "My brother lives in Rome"),
        ("The gym costs 30 a month", "The gym costs 40 a month"),
        ("Do you like tea?", "Do you like tea?"),
        ("好的", "好的"),
    ],
)
async def test_what_differs_or_depends_on_the_moment_stays_apart(house: House, pair: tuple[str, str]) -> None:
    for day, text in enumerate(pair):
        await house.said(text, day=day)
    assert (await house.merge())["merged"] == 0
    assert await texts(house) == list(pair)


async def test_a_word_for_a_day_that_means_another_day_makes_another_statement(house: House) -> None:
    for day in (0, 1):
        await house.said("I met Tom for lunch yesterday.", day=day)
    assert (await house.merge())["merged"] == 0
    await house.said("I met Tom for lunch yesterday.", day=1)
    await house.merge()
    assert sorted(one.mentions for one in await house.active()) == [1, 2]


async def test_a_day_named_by_a_word_is_written_out_where_the_word_would_move_with_the_time(house: House) -> None:
    early, late = await house.said("会议在明天上午举行。"), await house.said("会议在2026年3月3日的上午举行呢。", day=5)
    told = merge_cluster([early, late], early, new_id="new", now=NOW).record
    assert (told.content, told.created_at) == ("会议在明天上午（2026-03-03）举行。", late.created_at)


async def test_where_that_takes_too_much_room_the_time_stays_that_of_the_words(house: House) -> None:
    early, late = await house.said("明天开会"), await house.said("3号开会", day=5)
    told = merge_cluster([early, late], early, new_id="new", now=NOW).record
    assert (told.content, told.created_at) == ("明天开会", early.created_at)


@pytest.mark.parametrize(
    "apart",
    [
        {"scope": "session:one"},
        {"actor": "Bob"},
        {"role": Role.ASSISTANT},
        {"kind": Kind.EPISODE},
        {"type": MemoryType.FACT},
        {"trust": "document"},
        {"belongs_to": Scope(user_id="ada", agent_id="coach")},
        {"tags": ("quarantined",)},
        {"valid_to": START},
        {"expires_at": START},
    ],
    ids=str,
)
async def test_records_are_merged_only_where_nothing_else_hangs_on_the_difference(
    house: House, apart: dict[str, Any]
) -> None:
    await house.said("I love green tea.")
    await house.said("I love green tea.", day=1, **apart)
    assert (await house.merge())["merged"] == 0


async def test_nothing_of_another_owner_is_touched(house: House) -> None:
    bob = Scope(user_id="bob")
    for day in range(3):
        await house.said("I love green tea.", day=day)
        await house.said("I love green tea.", day=day, belongs_to=bob)
    await house.merge()
    assert len(await house.active(bob)) == 3


async def test_tellings_of_several_sessions_are_told_in_the_latest(house: House) -> None:
    for day, run in enumerate(["monday", "tuesday"]):
        await house.said("I love green tea.", day=day, belongs_to=Scope(user_id="ada", run_id=run))
    await house.merge()
    [told] = await house.active()
    assert told.belongs_to.run_id == "tuesday"


async def test_the_messages_behind_all_tellings_are_named(house: House) -> None:
    for day in range(150):
        await house.said("I love green tea.", day=day, provenance=Provenance(source_ids=(f"m{day}",)))
    await house.merge()
    [told] = await house.active()
    assert (told.provenance.source_ids[0], told.provenance.source_ids[-1]) == ("m0", "m149")
    assert len(told.provenance.source_ids) == 100
    assert told.mentions == 150


async def test_a_record_that_tells_very_many_is_told_by_the_next_one(house: House) -> None:
    for day in range(180):
        await house.said("I love green tea.", day=day)
    await house.merge()
    [first] = await house.active()
    for day in range(180, 220):
        await house.said("I love green tea.", day=day)
    await house.merge(now=NOW + 300 * DAY)
    [second] = await house.active()
    assert (second.mentions, first.id in second.compression_sources) == (220, True)
    await house.store.write(ADA, [Erase(second.id)])
    assert await house.store.page(ADA, deleted=True, limit=1_000) == await house.store.page(ADA, limit=1_000)
    assert await house.active() == []


LONG = (
    "松下空气净化器用起来真不错，净化的效果特别棒，屋里空气一下就清新了，呼吸都舒服多了。而且它运行的时候几乎听不到声音，完全不耽误工作和睡觉。就是有一点，体积大了点，小房间放它可能会有点占地方。",
    "松下空气净化器效果真心不错，净化空气特快，感觉呼吸都舒服多了。而且用它的时候特别安静，不影响睡觉也不打扰工作。就是有一点，体积大了点，小房间放起来可能会占地方。",
    "松下冰箱用起来真不错，制冷的效果特别棒，菜放一个星期还是新鲜的。而且它运行的时候几乎听不到声音，完全不耽误睡觉。就是有一点，价格贵了点，学生可能买不起，得攒上好几个月的钱。",
)


async def test_long_texts_that_tell_the_same_in_other_words_are_merged_by_what_they_share() -> None:
    house = House(embedder=FakeEmbedder(256), policy=UpkeepPolicy(merge_similarity=0.5))
    for day, text in enumerate(LONG):
        await house.said(text, day=day)
    await house.merge()
    assert sorted(await texts(house)) == sorted([LONG[1], LONG[2]])


async def test_how_many_records_it_takes_is_a_choice() -> None:
    house = House(policy=UpkeepPolicy(merge_min_records=3))
    for day in range(2):
        await house.said("I love green tea.", day=day)
    assert (await house.merge())["merged"] == 0
    await house.said("I love green tea.", day=2)
    assert (await house.merge())["merged"] == 3


async def test_bytes_never_grow_and_every_mention_is_kept(house: House) -> None:
    said = [
        "我爱喝咖啡。",
        "我特别爱喝咖啡呢！",
        "我爱喝咖啡，也爱喝茶。",
        "我不爱喝咖啡。",
        "I like tea",
        "I like tea!",
    ]
    for day, text in enumerate(said):
        await house.said(text, day=day)
    before = sum(len(text.encode()) for text in said)
    counts = await house.merge()
    active: Sequence[MemoryRecord] = await house.active()
    after = sum(len(one.content.encode()) for one in active)
    assert before - after == counts["saved_bytes"] > 0
    assert sum(one.mentions for one in active) == len(said)
