"""Summaries of what happened, and what a language model may write in the place of several texts."""

from __future__ import annotations

from typing import Any

import pytest

from ebbing.domain.errors import ModelUnavailableError
from ebbing.domain.forgetting.policy import UpkeepPolicy
from ebbing.domain.memory.record import MemoryRecord, MemoryType, Provenance, Role
from ebbing.domain.memory.scope import Scope
from ebbing.language.wording.paraphrase import gist_of
from ebbing.testing.models.chat_model import ScriptedChatModel
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.upkeep.merging.merge_duplicates import merge_repeats
from ebbing.upkeep.merging.rewrite import is_grounded, keeps_numbers
from ebbing.upkeep.merging.summarize import compress, summarise
from tests.unit.upkeep.house import ADA, NOW, House

pytestmark = pytest.mark.anyio
CITIES = "苏州 无锡 常州 南京 扬州 镇江 泰州 南通 盐城 徐州 宿迁".split()
THINGS = "仓库 支付 地图 日志 搜索 推荐 登录 报表 消息 画图 翻译".split()
TRIPS = [f"用户在{city}参加了第{number}次跑步比赛" for number, city in enumerate(CITIES)]
WORK = [f"用户和同事讨论了{thing}项目的进度" for thing in THINGS]


async def eventful(house: House, *, count: int = 22, **fields: Any) -> list[MemoryRecord]:
    texts = [text for pair in zip(TRIPS, WORK, strict=True) for text in pair][:count]
    return [
        await house.said(text, day=day, provenance=Provenance(source_ids=(f"m{day}",)), language="zh", **fields)
        for day, text in enumerate(texts)
    ]


async def summaries(house: House) -> list[MemoryRecord]:
    return [one for one in await house.active() if "summary" in one.tags]


@pytest.fixture(params=["vectors", "words"])
def house(request: pytest.FixtureRequest) -> House:
    return House(embedder=FakeEmbedder(256) if request.param == "vectors" else None)


async def test_more_than_twenty_memories_of_what_happened_are_summed_up_with_their_days(house: House) -> None:
    said = await eventful(house)
    report = await summarise(house.deps, ADA, now=NOW)
    assert report.counts == {"summarized": 1}
    [told] = await summaries(house)
    parts = told.content.split("；")
    assert len(parts) == 4
    assert parts == sorted(parts), "in the order of time"
    by_day = {f"{one.created_at:%Y-%m-%d} {one.content}" for one in said}
    assert set(parts) <= by_day
    assert any("比赛" in part for part in parts)
    assert any("项目" in part for part in parts)
    assert told.compression_sources == tuple(one.id for one in said)
    assert (told.type, told.first_said_at, told.created_at) == (
        MemoryType.SEMANTIC, said[0].created_at, said[-1].created_at,
    )  # fmt: skip
    assert len(told.provenance.source_ids) == 4
    assert len(await house.active()) == len(said) + 1
    assert await house.store.verify() == []


async def test_twenty_are_not_enough_and_a_second_run_adds_nothing(house: House) -> None:
    await eventful(house, count=20)
    assert (await summarise(house.deps, ADA, now=NOW)).counts == {"summarized": 0}
    await house.said("用户去苏州看了展览", day=30)
    assert (await summarise(house.deps, ADA, now=NOW)).counts == {"summarized": 1}
    assert (await summarise(house.deps, ADA, now=NOW)).counts == {"summarized": 0}
    await house.said("用户去无锡吃了小笼包", day=31)
    assert (await summarise(house.deps, ADA, now=NOW)).counts == {"summarized": 0}
    assert len(await summaries(house)) == 1


async def test_many_memories_make_several_summaries_of_about_one_size(house: House) -> None:
    for day in range(250):
        await house.said(f"用户第{day}天记了一条关于题目{day * 7}的笔记", day=day)
    await summarise(house.deps, ADA, now=NOW)
    assert [len(one.compression_sources) for one in await summaries(house)] == [125, 125]


async def test_what_the_assistant_said_and_what_others_own_is_not_summed_up(house: House) -> None:
    await eventful(house, role=Role.ASSISTANT)
    await eventful(house, belongs_to=Scope(user_id="bob"))
    await eventful(house, tags=("quarantined",))
    assert (await summarise(house.deps, ADA, now=NOW)).counts == {"summarized": 0}


async def test_what_rests_on_another_kind_of_word_is_summed_up_apart(house: House) -> None:
    await eventful(house, trust="user")
    await eventful(house, trust="document")
    await summarise(house.deps, ADA, now=NOW)
    told = await summaries(house)
    assert sorted((one.trust or "", len(one.compression_sources)) for one in told) == [("document", 22), ("user", 22)]


async def test_a_dry_run_writes_no_summary(house: House) -> None:
    await eventful(house)
    report = await compress(house.deps, ADA, now=NOW, dry_run=True)
    assert report.counts["summarized"] == 1
    assert await summaries(house) == []


def with_model(*answers: Any) -> tuple[House, ScriptedChatModel]:
    model = ScriptedChatModel(*answers)
    return House(asking=model), model


async def test_a_language_model_words_the_summary_from_dated_notes() -> None:
    told = "2026-03-02起用户在苏州、无锡等地参加跑步比赛，并和同事讨论了仓库、支付等项目的进度。"
    house, model = with_model({"text": told})
    await eventful(house)
    await summarise(house.deps, ADA, now=NOW)
    [summary] = await summaries(house)
    assert summary.content == told
    assert summary.provenance.rule == "scripted review.zh.1"
    [prompt] = model.prompts
    assert '"date": "2026-03-02", "text": "用户在苏州' in prompt[1].content


@pytest.mark.parametrize(
    "bad",
    [
        {"text": "2026-03-02起用户在巴黎、伦敦、柏林开了三家咖啡馆，生意兴隆。"},
        {"text": "用户参加了99次跑步比赛，和同事讨论了项目的进度。"},
        {"text": "用户在苏州参加跑步比赛。" * 40},
        {"text": ""},
        {"text": ["a"]},
        {"wrong": 1},
        ModelUnavailableError("down"),
    ],
)
async def test_what_no_note_says_is_not_taken(bad: Any) -> None:
    house, _ = with_model(bad)
    await eventful(house)
    await summarise(house.deps, ADA, now=NOW)
    [summary] = await summaries(house)
    assert summary.content.startswith("2026-03-")
    assert summary.provenance.rule is None


PHONE = (
    "我的手机用起来真流畅，性能特别强，处理工作上的复杂任务没有问题。拍照也挺清楚，能拍出很多细节。就是手机有点沉，不过总的来说我还是挺喜欢的。",
    "我的手机用起来特别流畅，性能真强，处理工作上的复杂任务没有问题。拍照也很清楚，能拍出不少细节。就是手机有点重，不过总的来说我挺喜欢的。",
    "我的手机用起来很流畅，性能强，处理工作上的复杂任务都没有问题。拍照也清楚，能拍出很多细节。就是手机稍微有点沉，不过总的来说还是喜欢的。",
)


async def merged_phone(answer: Any) -> MemoryRecord:
    model = ScriptedChatModel(answer)
    house = House(embedder=FakeEmbedder(256), asking=model, policy=UpkeepPolicy(merge_similarity=0.5))
    for day, text in enumerate(PHONE):
        await house.said(text, day=day)
    await merge_repeats(house.deps, ADA, now=NOW)
    [told] = await house.active()
    assert await house.store.verify() == []
    return told


async def test_what_was_said_at_length_three_times_is_worded_shortly_by_a_model() -> None:
    told = await merged_phone({"text": "我的手机流畅，性能强，处理任务没有问题，拍照清楚，就是有点沉，总的来说喜欢。"})
    assert told.content == "我的手机流畅，性能强，处理任务没有问题，拍照清楚，就是有点沉，总的来说喜欢。"
    assert (told.provenance.method, told.provenance.rule) == ("merge", "scripted merge.zh.1")
    assert told.mentions == 3


@pytest.mark.parametrize(
    "bad", ["我的手机值5000元，很流畅。", "我的手机不流畅，拍照不清楚。", "天气真好", PHONE[0] + PHONE[1]]
)
async def test_a_wording_that_says_something_else_or_too_much_is_not_taken(bad: str) -> None:
    assert (await merged_phone({"text": bad})).content in PHONE


def test_a_text_is_grounded_only_with_known_numbers_and_names() -> None:
    notes = [gist_of("I met Anna in Leeds in 2024."), gist_of("Anna lives in Leeds.")]
    assert is_grounded("We met Anna, she lives in Leeds (2024).", notes)
    assert not is_grounded("We met Anna, she lives in York.", notes)
    assert not is_grounded("We met Anna in Leeds in 2025.", notes)
    assert not is_grounded("", notes)


def test_a_wording_keeps_what_all_notes_agree_on() -> None:
    notes = [gist_of("I never drink 2 coffees."), gist_of("I never drink 2 coffees in a row.")]
    assert keeps_numbers("I never drink 2 coffees.", notes)
    assert not keeps_numbers("I drink 2 coffees.", notes)
    assert not keeps_numbers("I never drink coffees.", notes)
