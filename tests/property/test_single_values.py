"""An attribute that has one value at a time never has two current ones, whatever is said in whatever order."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Final

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ebbing.domain.memory.record import NEEDS_REVIEW, MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.language.claims.change_patterns import changes
from ebbing.memory import AsyncMemory
from ebbing.wiring.build import build, load_settings
from tests.examples import examples

NAMES: Final = (None, "周航", "林小满", "Will Day")
STATEMENTS: Final = (
    *(
        "I'm 30",
        "I'm 31 now",
        "31 now, yikes",
        "turned 32 last week",
        "我今年三十岁",
        "我31了",
        "我已经三十二岁了",
        "八岁",
    ),
    *(
        "I'm a vegetarian",
        "I'm vegan now",
        "not vegetarian anymore",
        "I eat meat again",
        "我是素食主义者",
        "我不吃素了",
    ),
    *("我又开始吃肉了", "我吃素", "I'm married", "I got divorced", "I'm single", "my divorce came through", "我结婚了"),
    *("我离婚了", "我单身", "我和老婆离婚了", "I live in Portland", "I moved to Denver", "I live in Berlin now"),
    *("我住在杭州", "我搬到上海了", "我已经搬去成都了", "moved to Bitwarden", "I work as a nurse", "I'm a plumber"),
    *("plumber, two kids and a beagle", "I got a new job as a teacher", "I'm a software engineer at Acme", "我是护士"),
    *(
        "I also work as a DJ",
        "我现在是老师",
        "我在一家公司做产品经理",
        "我转行做程序员了",
        "我还兼职做司机",
        "I work at Google",
    ),
    *("I just joined Intel", "I also work for Acme", "我在腾讯上班", "我跳槽到字节了", "My name is Jon", "我叫李雷"),
    *("my name is John actually", "我改名叫李明了", "My birthday is May 12", "我的生日是5月12号", "I weigh 80 kg"),
    *("down to 75 kg", "我70公斤", "我瘦到65公斤了", "my rent is 1400", "rent went up to 1500", "我房租四千", "12斤"),
    *("房租涨到四千五了", "I have two kids", "I have a son named Max", "a daughter named Eva", "我有两个孩子"),
    *("I wake up at 6", "I wake up at 7 now", "My favorite color is blue", "my favourite color is red now"),
    *("我最喜欢蓝色", "我现在最喜欢红色"),
)


async def current_values(statements: list[str], *, name: str | None) -> dict[str, list[MemoryRecord]]:
    """What each attribute of one value holds after the statements."""
    components = build(load_settings({"store": "ephemeral", "embedder": "none"}))
    async with AsyncMemory(components=components) as memory:
        for text in statements:
            message = {"role": "user", "content": text} | ({"name": name} if name else {})
            await memory.add([message], user_id="ada")
        records = (await components.store.page(Scope(user_id="ada"), limit=500)).records
    values: defaultdict[str, list[MemoryRecord]] = defaultdict(list)
    for record in records:
        if record.attribute and record.valid_to is None and NEEDS_REVIEW not in record.tags:
            values[record.attribute].append(record)
    soft = changes().soft
    return {name: held for name, held in values.items() if soft.isdisjoint((name, name.rpartition(".")[2]))}


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow])
@example(statements=["我是素食主义者", "我不吃素了"], name="林小满")
@example(statements=["I'm 30", "31 now, yikes"], name=None)
@example(statements=["plumber, two kids and a beagle", "I work at Google", "我转行做程序员了"], name=None)
@example(statements=["I also work as a DJ", "I have two kids", "plumber, two kids and a beagle"], name=None)
@given(statements=st.lists(st.sampled_from(STATEMENTS), min_size=2, max_size=9), name=st.sampled_from(NAMES))
def test_no_attribute_has_two_current_values(statements: list[str], name: str | None) -> None:
    held = asyncio.run(current_values(statements, name=name))
    assert {name: [one.content for one in records] for name, records in held.items() if len(records) > 1} == {}


def test_a_new_age_leaves_the_old_one_no_longer_current() -> None:
    async def texts() -> list[str]:
        components = build(load_settings({"store": "ephemeral", "embedder": "none"}))
        async with AsyncMemory(components=components) as memory:
            await memory.add("I'm 30", user_id="ada")
            await memory.add("31 now, yikes", user_id="ada")
            return [one["memory"] for one in (await memory.get_all(user_id="ada"))["results"] if "valid_to" not in one]

    assert asyncio.run(texts()) == ["User is 31"]


def test_a_second_child_with_a_name_is_kept_beside_the_first() -> None:
    async def texts() -> list[str]:
        components = build(load_settings({"store": "ephemeral", "embedder": "none"}))
        async with AsyncMemory(components=components) as memory:
            await memory.add("I have a son named Max", user_id="ada")
            await memory.add("I have a daughter named Eva", user_id="ada")
            return [one["memory"] for one in (await memory.get_all(user_id="ada"))["results"]]

    assert asyncio.run(texts()) == ["User has a daughter named Eva", "User has a son named Max"]


def test_an_edit_by_hand_gives_no_second_value() -> None:
    async def homes() -> list[str]:
        components = build(load_settings({"store": "ephemeral", "embedder": "none"}))
        async with AsyncMemory(components=components) as memory:
            await memory.add("I live in Portland", user_id="ada")
            [other] = (await memory.add("I like jazz", user_id="ada"))["results"]
            await memory.update(other["id"], text="User lives in Berlin", user_id="ada")
            records = (await components.store.page(Scope(user_id="ada"), limit=10)).records
        return [record.content for record in records if record.attribute == "home"]

    assert asyncio.run(homes()) == ["User lives in Portland"]
