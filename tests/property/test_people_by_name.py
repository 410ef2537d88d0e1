"""Who is told of by a name, by a pronoun or as an unknown relation is that person, and never the speaker."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ebbing.memory import AsyncMemory
from ebbing.wiring.build import build, load_settings
from tests.examples import examples

KIN: Final = {
    "en": ("daughter", "son", "flatmate", "boss", "sister", "son-in-law", "daughter-in-law", "dog", "nanny"),
    "zh": ("女儿", "儿子", "妹妹", "室友", "同事", "狗", "老公", "表妹"),
}
NAMES: Final = {
    "en": ("Ella", "Max", "Chris", "Jess", "Lucas", "Greta", "Austin"),
    "zh": ("小美", "暖暖", "乐乐", "阿杰", "李静", "Lucy"),
}
FACTS: Final = {
    "en": ("is allergic to nuts", "hates garlic", "lives in Cardiff"),
    "zh": ("对花生过敏", "怕狗", "喜欢画画"),
}
UNLISTED: Final = ("干妈", "太婆", "表妹夫", "客户", "学生", "堂嫂", "舅公", "大姑子", "护工", "队友")
LATER: Final = ("不吃辣", "对花生过敏", "有高血压", "怕狗", "在上海工作", "是广东人")
ASKED: Final = {
    "en": (
        ("Does {} have any allergies?", "nuts"),
        ("What does {} like to drink?", "green tea"),
        ("Does {} have any pets?", "a cat"),
        ("What's {}'s favourite colour?", "blue"),
        ("Where does {} live?", "Leeds"),
    ),
    "zh": (("{}喜欢什么口味？", "草莓"), ("{}有什么爱好？", "钓鱼"), ("{}有忌口吗？", "花生"), ("{}怕什么？", "狗")),
}
PRONOUN: Final = {"en": ("he", "she"), "zh": ("他", "她")}
SAID_OF_ME: Final = {
    "en": (("I'm allergic to penicillin", "User is allergic to penicillin"), ("I'm a pilot", "User is a pilot")),
    "zh": (("我对青霉素过敏", "用户对青霉素过敏"), ("我是飞行员", "用户是飞行员")),
}
NOT_ME: Final = {
    "en": (
        "oh wait, that was my {}, not me", "no wait, that was my {}", "not me, my {}",
        "wait no that's my {} lol, not me", "sorry, I meant my {}, not me", "it was actually my {}, not me",
    ),
    "zh": ("说错了，是我{}，不是我", "不对，是我{}", "打错了，是我{}", "不是我，是我{}"),
}  # fmt: skip
RELATIVES: Final = {"en": ("brother", "mum", "boss", "flatmate"), "zh": ("弟弟", "妈", "老板", "室友")}
OWN: Final = {"en": "User ", "zh": "用户"}
QUOTED: Final = ("User said", "用户说", "用户的")

NOW: Final = datetime(2026, 11, 20, 12, tzinfo=UTC)

many = settings(max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow])


@st.composite
def introduced(draw: st.DrawFn) -> tuple[str, str, str]:
    language = draw(st.sampled_from(["en", "zh"]))
    kin, name, fact = (draw(st.sampled_from(words[language])) for words in (KIN, NAMES, FACTS))
    if language == "en":
        return f"my {kin} is called {name}", f"{name} {fact}", f"User's {kin} {name} {fact}"
    return f"我{kin}叫{name}", f"{name}{fact}", f"用户的{kin}{name}{fact}"


@many
@given(introduced())
@example(("我女儿叫小美", "小美对花生过敏", "用户的女儿小美对花生过敏"))
@example(("my boss is called Chris", "Chris hates garlic", "User's boss Chris hates garlic"))
def test_whoever_was_introduced_is_known_by_name(told: tuple[str, str, str]) -> None:
    first, later, wanted = told
    assert wanted in asyncio.run(known_after(f"{first}。{later}" if "我" in first else f"{first}. {later}"))
    assert wanted in asyncio.run(known_after(first, later, at_once=True))


@pytest.mark.parametrize(
    ("first", "later", "wanted"),
    [
        ("我女儿叫小美", "小美对花生过敏", "用户的女儿小美对花生过敏"),
        ("我家狗叫豆豆", "豆豆对鸡肉过敏", "用户的狗豆豆对鸡肉过敏"),
        ("my daughter is called Ella", "Ella can't have nuts", "User's daughter Ella cannot have nuts"),
    ],
)
def test_a_name_is_known_months_later_and_a_pronoun_is_not(first: str, later: str, wanted: str) -> None:
    small_talk = [f"what is {number} and 3?" for number in range(6)]
    assert wanted in asyncio.run(known_after(first, *small_talk, later, days_apart=20))
    pronoun = {"豆豆": "它", "小美": "她", "Ella": "She"}
    for name, instead in pronoun.items():
        later = later.replace(name, instead)
    assert len(asyncio.run(known_after(first, *small_talk, later, days_apart=20))) == 1


def test_of_two_people_of_one_name_nobody_is_meant() -> None:
    known = asyncio.run(
        known_after("my brother is called Tom", "my boss is called Tom", "Tom hates garlic", days_apart=9)
    )
    assert not any("garlic" in text and text.startswith("User's") for text in known)


@pytest.mark.parametrize("text", ["妞妞过敏 起一身疹子", "朵朵花生过敏", "豆豆对鸡肉过敏", "小宝对芒果过敏"])
def test_the_allergy_of_somebody_with_a_name_is_not_the_speakers(text: str) -> None:
    assert all(known.startswith(QUOTED) for known in asyncio.run(known_after(text)))


@pytest.mark.parametrize("text", ["小麦过敏", "我对小麦过敏", "花生过敏"])
def test_an_allergy_to_what_is_spelled_like_a_name_is_the_speakers(text: str) -> None:
    assert any(known.startswith("用户") and "过敏" in known for known in asyncio.run(known_after(text)))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("my flatmate is called Austin. He is a chef", "User's flatmate is a chef"),
        ("my boss Linda is strict. She doesn't drink coffee", "User's boss Linda does not drink coffee"),
        ("my brother Chris lives in Hull. He has asthma", "User's brother Chris has asthma"),
        ("my son-in-law is a chef. He hates garlic", "User's son-in-law hates garlic"),
        ("我女儿叫小美。她对花生过敏", "用户的女儿对花生过敏"),
        ("我儿子叫乐乐，他怕狗", "用户的儿子怕狗"),
    ],
)
def test_a_name_does_not_make_a_second_person_of_one_and_the_same(text: str, wanted: str) -> None:
    assert wanted in asyncio.run(known_after(text))


@many
@given(st.sampled_from(UNLISTED), st.sampled_from(LATER), st.sampled_from(LATER))
@example("干妈", "怕狗", "对花生过敏")
@example("客户", "是广东人", "不吃辣")
def test_a_relation_that_no_list_names_is_not_the_speaker(kin: str, first: str, later: str) -> None:
    known = asyncio.run(known_after(f"我{kin}{first}，{later}"))
    assert all(text.startswith(QUOTED) for text in known)


@many
@given(st.data())
def test_an_answer_about_somebody_else_is_no_fact_of_the_speaker(data: st.DataObject) -> None:
    language = data.draw(st.sampled_from(["en", "zh"]))
    question, answer = data.draw(st.sampled_from(ASKED[language]))
    who = data.draw(st.sampled_from([*(name for name in NAMES[language] if name != "李静"), *PRONOUN[language]]))
    known = asyncio.run(known_after(answer, asked=question.format(who)))
    assert not [text for text in known if text.startswith(OWN[language]) and not text.startswith(QUOTED)]


@many
@given(st.data())
def test_what_was_said_of_the_wrong_person_is_told_of_the_right_one(data: st.DataObject) -> None:
    language = data.draw(st.sampled_from(["en", "zh"]))
    statement, wrong = data.draw(st.sampled_from(SAID_OF_ME[language]))
    mended = data.draw(st.sampled_from(NOT_ME[language])).format(data.draw(st.sampled_from(RELATIVES[language])))
    for at_once in (True, False):
        known = asyncio.run(known_after(statement, mended, at_once=at_once))
        assert wrong not in known
        assert any(text.startswith(("User's ", "用户的")) for text in known)


@pytest.mark.parametrize("remark", ["that was great, not me", "that was fun", "not me, no", "不是我，谢谢", "是我的错"])
def test_a_remark_moves_nothing(remark: str) -> None:
    statement, fact = SAID_OF_ME["zh" if "我" in remark else "en"][0]
    assert fact in asyncio.run(known_after(statement, remark))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("my mum and dad are vegetarian", {"User's mum is vegetarian", "User's dad is vegetarian"}),
        (
            "my wife and daughter can't eat gluten",
            {"User's wife cannot eat gluten", "User's daughter cannot eat gluten"},
        ),
        ("我爸跟我妈都对花生过敏", {"用户的爸对花生过敏", "用户的妈对花生过敏"}),
    ],
)
def test_what_is_said_of_two_is_told_of_each(text: str, wanted: set[str]) -> None:
    assert asyncio.run(known_after(text)) == wanted


@pytest.mark.parametrize("text", ["got a dog. name's Rex", "we've got a lodger. name's Ralph"])
def test_a_name_that_follows_somebody_else_is_theirs(text: str) -> None:
    assert not [known for known in asyncio.run(known_after(text)) if known.startswith("User's name")]


@pytest.mark.parametrize(
    ("called", "does"),
    [
        ("我老公叫陈默", "陈默辞职了"),
        ("我妹妹叫小雨", "小雨离职了"),
        ("我女儿叫小美", "小美不学钢琴了"),
        ("my daughter is called Ella", "Ella quit swimming"),
        ("my husband is called Tom", "Tom quit his job"),
    ],
)
def test_what_somebody_does_leaves_them_their_name(called: str, does: str) -> None:
    alone = asyncio.run(known_after(called))
    assert alone <= asyncio.run(known_after(called, does))
    assert alone <= asyncio.run(known_after(called, does, at_once=True))


@pytest.mark.parametrize(
    ("called", "gone"), [("our dog is called Rex", "Rex ran away"), ("my cat is called Miso", "Miso died")]
)
def test_a_pet_that_is_gone_is_no_longer_had(called: str, gone: str) -> None:
    assert asyncio.run(known_after(called)).isdisjoint(asyncio.run(known_after(called, gone)))


@pytest.mark.parametrize(
    ("called", "over"),
    [
        ("我女朋友叫沈棠", "我跟沈棠分手了"),
        ("My best friend is Carla", "Carla and I aren't friends anymore"),
        ("My doctor is Dr. Evans", "My doctor is Dr. Kim now, Dr. Evans retired"),
    ],
)
def test_who_is_no_longer_in_their_life_is_no_longer_told_of_as_such(called: str, over: str) -> None:
    assert asyncio.run(known_after(called)).isdisjoint(asyncio.run(known_after(called, over)))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("my son Leo's got asthma", "User's son Leo has asthma"),
        ("my wife's coeliac", "User's wife is coeliac"),
        ("I'm lactose intolerant just so you know", "User is lactose intolerant"),
        ("I can't do dairy", "User cannot do dairy"),
        ("我就是不爱吃香菜", "用户不爱吃香菜"),
        ("我女儿叫朵朵，她鸡蛋过敏，蛋糕要买无蛋的", "用户的女儿鸡蛋过敏"),
    ],
)
def test_a_word_more_loses_nothing(text: str, wanted: str) -> None:
    assert wanted in asyncio.run(known_after(text))


@pytest.mark.parametrize("text", ["带的实习生叫江南。人挺机灵，广东人，不吃辣", "堂弟要来找工作。住我这儿，学会计的"])
def test_who_is_told_of_without_a_name_is_not_the_speaker(text: str) -> None:
    assert all(known.startswith(QUOTED) or "实习生" in known for known in asyncio.run(known_after(text)))


@pytest.mark.parametrize("ward", ["协和", "市人民医院", "华西", "急诊病房"])
def test_a_hospital_is_no_home(ward: str) -> None:
    known = asyncio.run(known_after("我爸住在天津", f"我爸膝盖做了手术，住在{ward}"))
    assert "用户的爸住在天津" in known


async def known_after(*texts: str, at_once: bool = False, asked: str = "", days_apart: int = 0) -> set[str]:
    async with AsyncMemory(components=build(load_settings({"store": "ephemeral", "embedder": "none"}))) as memory:
        messages = [{"role": "assistant", "content": asked}] if asked else []
        for number, text in enumerate(texts):
            at = NOW - timedelta(days=days_apart * (len(texts) - number))
            messages.append({"role": "user", "content": text, "timestamp": at.isoformat()})
        for part in [messages] if at_once or asked else [[message] for message in messages]:
            await memory.add(part, user_id="ada")
        return {item["memory"] for item in (await memory.get_all(user_id="ada"))["results"]}
