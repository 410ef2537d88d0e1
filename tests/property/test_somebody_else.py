"""What is told of somebody else, named or not, takes nothing from the speaker, and is not told of the speaker."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Final

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ebbing.domain.memory.message import Message
from ebbing.memory import AsyncMemory
from ebbing.remember.extraction.rule_extractor import extract
from ebbing.wiring.build import build, load_settings
from tests.examples import examples

SOMEBODY: Final = {
    "en": (
        "Marcus", "Hannah", "Mr. Patel", "Julia from accounting", "The bloke upstairs", "The woman who cuts my hair",
        "The people I travel with", "One of my students", "Somebody at work", "My late uncle", "My sister's husband",
        "My landlord's son", "My personal trainer", "A friend of mine", "She", "Everyone in the office",
    ),
    "zh": (
        "李娜", "张伟", "小美", "小王", "阿杰", "陈教练", "王阿姨", "同事小王", "他", "我同学的哥哥", "我妹的男朋友",
        "房东的儿子", "我合伙人", "Marcus",
    ),
}  # fmt: skip
STATEMENTS: Final = {
    "en": (
        ("I live in Denver", "{} lives in Boulder now"),
        ("I'm married", "{} is divorced"),
        ("I don't smoke", "{} smokes again"),
        ("I weigh 70 kilos", "{} weighs 60 kilos"),
        ("I drive a Fiat", "{} drives a Volvo now"),
        ("I prefer tea to coffee", "{} prefers coffee to tea"),
        ("I'm allergic to cats", "{} is no longer allergic to cats"),
        ("I work at Deloitte", "{} works at KPMG now"),
        ("I'm vegan", "{} isn't vegan anymore"),
        ("I'm 34", "{} is 41"),
        ("I speak French", "{} doesn't speak French"),
    ),
    "zh": (
        ("我对猫过敏", "{}对猫不过敏"),
        ("我对牛奶过敏", "{}对牛奶不过敏了"),
        ("我对海鲜不过敏", "{}对海鲜过敏"),
        ("我在华为上班", "{}现在在小米上班"),
        ("我最喜欢的颜色是绿色", "{}最喜欢的颜色是黄色"),
        ("我结婚了", "{}离婚了"),
        ("我吃素", "{}不吃素了"),
        ("我住在杭州", "{}搬到南京了"),
        ("我不抽烟", "{}又抽烟了"),
        ("我今年34岁", "{}今年41岁"),
        ("我是四川人", "{}是湖南人"),
    ),
}
OWN: Final = {"en": "User ", "zh": "用户"}
NOW: Final = datetime(2026, 6, 1, 12, tzinfo=UTC)


@st.composite
def told(draw: st.DrawFn) -> tuple[str, str, str]:
    language = draw(st.sampled_from(["en", "zh"]))
    own, other = draw(st.sampled_from(STATEMENTS[language]))
    return language, own, other.format(draw(st.sampled_from(SOMEBODY[language])))


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow])
@given(told())
@example(("en", "I live in Denver", "Marcus lives in Boulder now"))
@example(("en", "I prefer tea to coffee", "The guy I share an office with prefers coffee to tea"))
@example(("en", "I collect vinyl records", "My late uncle collected vinyl records, not CDs"))
@example(("zh", "我对猫过敏", "小美对猫不过敏"))
@example(("zh", "我最喜欢的颜色是绿色", "李娜最喜欢的颜色是黄色"))
@example(("zh", "我对海鲜不过敏", "小王对海鲜过敏"))
def test_what_is_told_of_somebody_else_leaves_the_speaker_alone(told: tuple[str, str, str]) -> None:
    _, own, other = told
    alone = asyncio.run(known_after(own))
    assert alone
    assert alone <= asyncio.run(known_after(own, other))
    assert alone <= asyncio.run(known_after(other, own))


@settings(max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow])
@given(told())
@example(("zh", "", "小美对海鲜过敏"))
@example(("zh", "", "小王对芒果过敏"))
def test_what_is_told_of_somebody_else_is_not_told_of_the_speaker(told: tuple[str, str, str]) -> None:
    language, _, other = told
    own = {text for text in asyncio.run(known_after(other)) if text.startswith(OWN[language])}
    assert all(text.startswith(("User said", "用户说", "用户的", "用户房东的")) for text in own)


async def known_after(*texts: str) -> set[str]:
    async with AsyncMemory(components=build(load_settings({"store": "ephemeral", "embedder": "none"}))) as memory:
        for text in texts:
            await memory.add(text, user_id="ada")
        return {item["memory"] for item in (await memory.get_all(user_id="ada"))["results"]}


BEGUN: Final = (
    "老黄痛风",
    "他痛风",
    "老黄今天住院了",
    "阿凤没来",
    "她感冒了",
    "小林有胃病",
    "但阿凤发烧了",
    "老黄咳嗽",
)
BETWEEN: Final = ("", "{}不敢给他乱补", "{}一喝就拉", "{}医生不敢乱开药", "{}从结婚到现在")
WITHOUT_SUBJECT: Final = ("乳糖不耐", "对青霉素过敏", "不能喝牛奶", "海鲜过敏", "有糖尿病", "吃素")


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(BEGUN),
    st.sampled_from([" ", "，", ","]),
    st.lists(st.sampled_from(BETWEEN), max_size=2),
    st.sampled_from(WITHOUT_SUBJECT),
)
@example("他痛风", " ", ["{}不敢给他乱补"], "乳糖不耐")
def test_a_clause_without_a_subject_behind_one_of_somebody_else_is_not_the_speakers(
    begun: str, mark: str, between: list[str], clause: str
) -> None:
    sentence = begun + "".join(part.format(mark) for part in between) + mark + clause
    assert not [fact.text for fact in extract([Message(sentence)], now=NOW)]
    own = extract([Message(f"{sentence}{mark}我对花生过敏")], now=NOW)
    assert [fact.text for fact in own] == ["用户对花生过敏"]


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("我爸妈住在上海，他们都退休了，有高血压", "用户的爸妈有高血压"),
        ("我家狗对鸡肉过敏，他怕打雷，有心脏病", "用户的狗有心脏病"),
        ("我妈妈有糖尿病，他不吃甜的，对青霉素过敏", "用户的妈妈对青霉素过敏"),
        ("我离婚了，他出轨，有两个孩子", "用户有两个孩子"),
        ("我戒烟了，他汀也停了，有高血压", "用户有高血压"),
        ("老陈说我血压高，有糖尿病", "用户有糖尿病"),
        ("小周，在杭州工作，喜欢爬山", "用户在杭州工作"),
        ("老姜不能吃，有胃病", "用户有胃病"),
    ],
)
def test_whoever_was_named_before_or_is_the_speaker_keeps_what_is_told_of_them(message: str, told: str) -> None:
    assert told in [fact.text for fact in extract([Message(message)], now=NOW)]
