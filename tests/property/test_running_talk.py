"""In a running talk with the assistant only what holds for long is told, and what harms for life always."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.message import Message
from ebbing.language.text.quotation import quoted_words
from ebbing.remember.extraction.rule_extractor import Conversation, extract
from ebbing.remember.extraction.running_talk import MIN_TURNS
from ebbing.sync import Memory
from ebbing.wiring.build import build, load_settings

NOW = datetime(2026, 5, 6, 10, tzinfo=UTC)
NAMES = ("Mia", "林阳", None)
LASTS = (
    "I'm allergic to peanuts",
    "I'm a vegetarian",
    "my sister is allergic to latex",
    "I work at Siemens as a welder",
    "我对青霉素过敏",
    "我妈高血压",
    "我是小学老师",
    "我吃不了花生",
    "One thing, I'm dyslexic so I can't read big blocks",
)
GRAVE = (
    "lol I'm allergic to peanuts",
    "haha my sister has asthma",
    "😂 I'm the one with the tree nut allergy",
    "哈哈 我对青霉素过敏",
    "笑死 我女儿乳糖不耐",
    "I'm allergic to peanuts, we fly on Friday",
)
PASSES = (
    "I'm flying to Tokyo next Friday",
    "I started a course in September, wednesdays 7 till 9",
    "my take home is about 5200",
    "I've been hurrying for six months",
    "I've lost a shoe",
    "I'm not american",
    "I like the dog",
    "talk to me so i don't eat the biscuits",
    "I hate these suppliers",
    "我房租4200",
    "我每周二晚上八点打球",
    "我在学游泳课",
    "so yes im vegan now too obviously",
    "under 90 kilos by christmas. I'm 96 now",
    "我才28啊",
    "我这阵子胃炎",
)
ONCE = (
    "don't give me statistics",
    "don't say normal in that tone",
    "keep it short today",
    "不要水果的",
    "别说漏嘴",
    "今天别给我写长",
    "以后也随便发吧",
    "不用给我发单词了",
)
STANDING = (
    "no bullet points ever",
    "from now on give me grams, not cups",
    'don\'t tell me "great question"',
    "以后回答简短点",
    "以后叫我老周",
    "别发表情",
)
JOKES = (
    ("my son is a policeman", "lol my son is a policeman 😂"),
    ("my son is a policeman", "haha my son is a policeman"),
    ("我儿子是警察", "我儿子是警察哈哈"),
    ("我是修电梯的", "错！我是修电梯的😎"),
    ("我儿子是警察", "😂 我儿子是警察"),
)


def in_talk(text: str, name: str | None = "Mia") -> list[Fact]:
    """The facts of one message of a running talk, without what may only end something known."""
    facts = extract([Message(text, name=name)], now=NOW, conversation=Conversation(in_talk=True))
    return [fact for fact in facts if not fact.tentative]


@given(st.sampled_from(LASTS), st.sampled_from(NAMES))
def test_what_holds_for_long_is_told(said: str, name: str | None) -> None:
    assert in_talk(said, name)


@given(st.sampled_from(GRAVE), st.sampled_from(NAMES))
def test_what_harms_for_life_is_told_however_it_is_said(said: str, name: str | None) -> None:
    assert in_talk(said, name)


@given(st.sampled_from(PASSES), st.sampled_from(NAMES))
def test_what_passes_stays_a_message(said: str, name: str | None) -> None:
    assert in_talk(said, name) == []


@given(st.sampled_from((*LASTS, *PASSES)), st.sampled_from(PASSES), st.sampled_from(NAMES))
def test_nothing_is_quoted_in_a_talk(said: str, more: str, name: str | None) -> None:
    assert not [fact for fact in in_talk(f"{said}. {more}", name) if quoted_words(fact.text) is not None]


@given(st.sampled_from(ONCE), st.sampled_from(NAMES))
def test_what_is_asked_for_once_is_no_rule(said: str, name: str | None) -> None:
    assert in_talk(said, name) == []


@given(st.sampled_from(STANDING), st.sampled_from(NAMES))
def test_a_wish_that_holds_on_is_a_rule(said: str, name: str | None) -> None:
    assert in_talk(said, name)


@pytest.mark.parametrize(("earnest", "joke"), JOKES)
def test_what_is_said_with_a_laugh_is_no_fact(earnest: str, joke: str) -> None:
    assert in_talk(earnest)
    assert in_talk(joke) == []


def test_what_others_call_somebody_is_no_wish() -> None:
    assert in_talk("部门八个人，三个95后，叫我方老师，我说叫老方") == []


@pytest.mark.parametrize("said", ["We adopted a dog named Biscuit last weekend.", "我六月六号要去杭州出差三天。"])
def test_what_is_written_in_whole_sentences_is_told_with_its_date(said: str) -> None:
    assert in_talk(said, None)
    assert in_talk(said.lower().rstrip(".。"), None) == []


@pytest.mark.parametrize("turns", [0, MIN_TURNS])
def test_a_talk_runs_from_the_third_answer_of_the_assistant_on(turns: int) -> None:
    with Memory(components=build(load_settings({"store": "ephemeral", "embedder": "none"}))) as memory:
        for turn in range(turns):
            memory.add(
                [{"role": "user", "content": f"hm {turn}"}, {"role": "assistant", "content": "yes?"}], user_id="u"
            )
        answer = memory.add("I'm flying to Tokyo next Friday, I'm allergic to peanuts", user_id="u")
        told = [result["memory"] for result in answer["results"] if result["event"] == "ADD"]
    assert any("peanuts" in text for text in told)
    assert any("Tokyo" in text for text in told) is (turns < MIN_TURNS)


def test_what_somebody_chose_to_keep_is_told_in_a_talk_too() -> None:
    with Memory(components=build(load_settings({"store": "ephemeral", "embedder": "none"}))) as memory:
        memory.add([{"role": "assistant", "content": f"yes {turn}?"} for turn in range(MIN_TURNS)], user_id="u")
        answer = memory.add("I'm flying to Tokyo next Friday", user_id="u", mode="statement")
    assert any("Tokyo" in result["memory"] for result in answer["results"])
