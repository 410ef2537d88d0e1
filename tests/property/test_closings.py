"""What is said in passing ends nothing but what it speaks of, whoever the speaker is and whatever else is known."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ebbing.memory import AsyncMemory
from ebbing.wiring.build import build, load_settings
from tests.examples import examples

NAMES: Final = (None, "周航", "林小满", "陈没事", "搬到", "Will Day", "Anna", "小李（工作号）")
FACTS: Final[Mapping[str, Mapping[str, str]]] = {
    "zh": {
        "allergy": "我对花生过敏",
        "medicine": "我每天吃降压药",
        "illness": "我妈有高血压",
        "job": "我在一家物流公司做产品经理",
        "home": "我住在杭州滨江",
        "partner": "我女朋友叫林晓",
        "cat": "我养了一只猫叫团子",
        "dog": "我家有条狗叫阿福",
        "piano": "我在学钢琴",
        "running": "我每周三晚上跑步",
        "trip": "我打算十月去日本玩",
        "coriander": "我不吃香菜",
        "coffee": "我喜欢喝美式",
        "car": "我开一辆比亚迪",
        "birthday": "我的生日是5月12号",
        "exam": "我在准备考研",
        "sister": "我妹妹在北京上大学",
        "game": "我喜欢玩王者荣耀",
        "age": "我今年三十岁",
        "diet": "我是素食主义者",
        "interview": "我下周二有个面试",
        "rent": "我房租每个月四千",
    },
    "en": {
        "allergy": "I'm allergic to peanuts",
        "medicine": "I take lisinopril every morning",
        "illness": "My mom has high blood pressure",
        "job": "I work as a nurse at Mercy Hospital",
        "home": "I live in Portland",
        "partner": "My girlfriend is called Anna",
        "cat": "I have a cat named Miso",
        "dog": "My dog Rex is a beagle",
        "piano": "I'm learning the piano",
        "running": "I go running every Wednesday",
        "trip": "I'm planning a trip to Japan in October",
        "coriander": "I hate cilantro",
        "coffee": "I love black coffee",
        "car": "I drive a Honda Civic",
        "birthday": "My birthday is May 12",
        "exam": "I'm studying for the bar exam",
        "sister": "My sister lives in Boston",
        "game": "I like playing chess",
        "age": "I'm 30 years old",
        "diet": "I'm a vegetarian",
        "interview": "I have an interview next Tuesday",
        "rent": "My rent is 1400 a month",
    },
}
"""Facts of a person, by what they tell."""
TAILS: Final[Mapping[str, Mapping[str, frozenset[str]]]] = {
    "zh": {
        **dict.fromkeys(
            "没事了|算了|都过去了|搞定了|好了好了|没了|不吃了|终于结束了|不用了|放弃了|书都送人了|已经退了|"
            "人没了|复查没事了|饭吃完了|电影看完了|教程看到第三章了|八岁|八岁了，老太太了|12斤|9月25|"
            "现在是新的|我跟他说了别放虾|手机丢了|会议取消了|快递退掉了|头发剪了|说到底还是我的问题|"
            "那个项目黄了|我奶奶去世了|下雨了，不出门了|药吃完了|吃完药了|感冒好了|脚好了|牙不疼了|"
            "我现在在上海出差|刚到北京|回来了|他们公司倒闭了|我同事辞职了|我朋友分手了|我爸的车卖了|"
            "隔壁的狗死了|我不是说你|不是这个意思|女朋友回老家了|停了|我把它卖了|他不来了|团子八岁了|"
            "林晓换工作了|我妈出院了|我儿子八岁|现在改吃外卖了|新的在上海|我新同事是医生|以后不加班了|"
            "我换了个新手机|还清了|那就周三吧|最近开始游泳|还没|不怕|别放花生|周航走了|林小满没事了|"
            "我在学画画，教程看到第三章了|我养了一只猫，叫团子，八岁".split("|"),
            frozenset(),
        ),
        "早不弹了": frozenset({"piano"}),
        "我已经搬到上海了": frozenset({"home", "rent"}),
        "不去了": frozenset({"trip", "interview", "exam"}),
        "我换工作了": frozenset({"job"}),
        "我辞职了": frozenset({"job"}),
        "分手了": frozenset({"partner"}),
        "猫送人了": frozenset({"cat"}),
        "团子昨天没了": frozenset({"cat"}),
        "早不考了": frozenset({"exam"}),
        "我31了": frozenset({"age"}),
        "我不吃素了": frozenset({"diet"}),
        "不玩了睡觉": frozenset({"game"}),
        "改成周五了": frozenset({"interview"}),
        "今天太累了不跑了": frozenset({"running"}),
        "再也不喝了": frozenset({"coffee"}),
    },
    "en": {
        **dict.fromkeys(
            "never mind|done with that|forget it|it's over|all good now|not anymore|it's gone|"
            "finally finished|the cat is fine now|gave the books away|returned it|got rid of it|"
            "Returned from Dublin|two days. vet switched the thyroid dose last week|my neighbor's dog died|"
            "my coworker quit|my friend broke up with her boyfriend|started swimming|"
            "I started swimming on Wednesdays|moved to Bitwarden|switched to the new one|"
            "the other team is 12 people|my phone died|finished the book|I'm done|I'm so over this week|"
            "the meeting is cancelled|8 years old|eight pounds|no more coffee for me today|ran out of meds|"
            "took my pills|the cold is gone|my foot healed|I'm in Denver for work this week|"
            "just landed in Boston|back home|paid it off|she left|he's not coming|Rex is 9|Anna got a new job|"
            "mom is out of hospital|my son is 8|my new colleague is a doctor|no more overtime|got a new phone|"
            "let's make it Wednesday|not yet|no worries|I don't mean you|the trip to Portland was great|"
            "the flight is cancelled|I'm a mess today|changed my mind|dropped the class|sold it|"
            "stopped by the store|quit the gym|it's not raining anymore|I no longer care|cleared up|"
            "that's settled|Will Day quit".split("|"),
            frozenset(),
        ),
        "I moved to Denver": frozenset({"home", "rent"}),
        "cancelled": frozenset({"interview", "trip"}),
        "I quit": frozenset({"job"}),
        "we broke up": frozenset({"partner"}),
        "Anna left": frozenset({"partner"}),
        "I got a new job at Intel": frozenset({"job"}),
        "31 now, yikes": frozenset({"age"}),
        "turned 31": frozenset({"age"}),
        "not vegetarian anymore": frozenset({"diet"}),
        "I eat meat again": frozenset({"diet"}),
        "Rex died": frozenset({"dog"}),
        "sold the car": frozenset({"car"}),
        "paid off the car": frozenset({"car"}),
        "interview went well": frozenset({"interview"}),
        "no interview after all": frozenset({"interview"}),
        "I don't live there anymore": frozenset({"home"}),
    },
}
"""What is said later, with the facts that it may end: it need not."""


async def closed_after(facts: Mapping[str, str], tail: str, *, name: str | None) -> set[str]:
    """The facts that are closed once the tail is said, by what they tell."""
    settings_ = load_settings({"store": "ephemeral", "embedder": "none"})
    async with AsyncMemory(components=build(settings_)) as memory:
        topics: dict[str, str] = {}
        for topic, text in facts.items():
            for result in await said(memory, text, name=name):
                topics.setdefault(result["id"], topic)
        return {topics[one] for result in await said(memory, tail, name=name) for one in result.get("superseded", ())}


async def said(memory: AsyncMemory, text: str, *, name: str | None) -> Sequence[Mapping[str, Any]]:
    message = {"role": "user", "content": text} | ({"name": name} if name else {})
    results: list[dict[str, Any]] = (await memory.add([message], user_id="ada"))["results"]
    return results


@st.composite
def _lives(draw: st.DrawFn) -> tuple[dict[str, str], str, frozenset[str]]:
    """Eight to fifteen facts of a person, something said later, and what that may end."""
    language = draw(st.sampled_from(sorted(FACTS)))
    topics = draw(st.lists(st.sampled_from(sorted(FACTS[language])), min_size=8, max_size=15, unique=True))
    tail = draw(st.sampled_from(sorted(TAILS[language])))
    return {topic: FACTS[language][topic] for topic in topics}, tail, TAILS[language][tail]


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow])
@example(life=(dict(FACTS["zh"]), "早不弹了", frozenset({"piano"})), name="周航")
@example(life=(dict(FACTS["zh"]), "我已经搬到上海了", frozenset({"home", "rent"})), name="周航")
@example(life=(dict(FACTS["zh"]), "没事了", frozenset()), name="林小满")
@example(life=({"cat": FACTS["en"]["cat"]}, "he's not coming", frozenset()), name=None)
@example(life=({"cat": FACTS["en"]["cat"]}, "it's gone", frozenset()), name=None)
@example(life=({"sister": FACTS["en"]["sister"]}, "she left", frozenset()), name=None)
@example(life=({"job": FACTS["en"]["job"]}, "Will Day quit", frozenset()), name="Will Day")
@given(life=_lives(), name=st.sampled_from(NAMES))
def test_a_tail_ends_nothing_but_what_it_speaks_of(
    life: tuple[dict[str, str], str, frozenset[str]], name: str | None
) -> None:
    facts, tail, may_end = life
    assert asyncio.run(closed_after(facts, tail, name=name)) <= may_end


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.too_slow])
@given(life=_lives(), name=st.sampled_from([name for name in NAMES if name]))
def test_the_name_of_the_speaker_changes_nothing_that_is_closed(
    life: tuple[dict[str, str], str, frozenset[str]], name: str
) -> None:
    facts, tail, _ = life

    async def both() -> tuple[set[str], set[str]]:
        return await closed_after(facts, tail, name=name), await closed_after(facts, tail, name=None)

    named, nameless = asyncio.run(both())
    assert named == nameless


@pytest.mark.slow
@pytest.mark.parametrize("language", sorted(FACTS))
@pytest.mark.parametrize("name", [None, "周航"])
def test_no_tail_of_all_ends_what_it_does_not_speak_of(language: str, name: str | None) -> None:
    async def wrongly() -> dict[str, set[str]]:
        facts, tails = FACTS[language], TAILS[language]
        found = {tail: await closed_after(facts, tail, name=name) - may for tail, may in tails.items()}
        return {tail: wrong for tail, wrong in found.items() if wrong}

    assert asyncio.run(wrongly()) == {}
