"""Of people with names only who somebody is, is told; a taste and a wish where the assistant hears it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.language.text.quotation import quoted_words
from ebbing.remember.extraction.rule_extractor import extract

NOW = datetime(2026, 5, 6, 10, tzinfo=UTC)
NAMES = ("Mia", "Odalys", "林阳", "阿杜")
LASTS = (
    "I'm allergic to peanuts",
    "I'm a vegetarian",
    "I'm coeliac",
    "my sister is allergic to latex",
    "I work at Siemens as a welder",
    "我对青霉素过敏",
    "我妈高血压",
    "我是小学老师",
    "我吃不了花生",
)
PASSES = (
    "I'm flying to Tokyo next Friday",
    "I won a raffle",
    "I play padel on Thursdays",
    "I own earplugs",
    "I've been up since six",
    "we lost the dog",
    "我明天去深圳",
    "我每周三加班",
    "我拿到offer了",
    "我今天想剪头发",
)
TASTES = ("I love slugs", "I hate suppliers", "我最爱半夜擦键盘了", "我喜欢番禺")
ONE_OFF = ("don't tell the brigadier", "别放虾", "别煽情", "不准喝酒", "don't wait up")
FILLERS = ("", "lol ", "ok so ", "哈哈 ", "对了 ")
ASSISTANT = Message("noted", Role.ASSISTANT)


def among(text: str, *after: Message, name: str = "Mia", before: str = "who brings the cake?") -> list[Fact]:
    """The facts of one message that answers somebody else's, without what may only end something known."""
    said = [Message(before, name="Theo"), Message(text, name=name), *after]
    return [fact for fact in extract(said, now=NOW) if fact.source == 1 and not fact.tentative]


@given(st.sampled_from(LASTS), st.sampled_from(NAMES))
def test_who_somebody_is_is_told_of_anybody(said: str, name: str) -> None:
    assert among(said, name=name)


@given(st.sampled_from(FILLERS), st.sampled_from(PASSES), st.sampled_from(NAMES), st.booleans())
def test_what_passes_stays_a_message(filler: str, said: str, name: str, heard: bool) -> None:
    assert among(f"{filler}{said}", *[ASSISTANT] * heard, name=name) == []


@given(st.sampled_from((*LASTS, *PASSES, *TASTES, *ONE_OFF)), st.sampled_from(PASSES), st.sampled_from(NAMES))
def test_nobody_with_a_name_is_quoted(said: str, more: str, name: str) -> None:
    assert not [fact for fact in among(f"{said}. {more}", name=name) if quoted_words(fact.text) is not None]


@given(st.sampled_from((*TASTES, *ONE_OFF)), st.sampled_from(NAMES))
def test_a_taste_or_a_wish_among_people_may_be_a_joke(said: str, name: str) -> None:
    assert among(said, Message("haha", name="Theo"), name=name) == []


@pytest.mark.parametrize("said", ["I love rhubarb", "我特别喜欢爬山"])
def test_a_taste_that_the_assistant_hears_is_told(said: str) -> None:
    assert among(said, ASSISTANT)
    assert extract([Message(said, name="Mia")], now=NOW)


@given(st.sampled_from(ONE_OFF))
def test_an_order_without_a_word_that_it_holds_on_is_no_rule(said: str) -> None:
    assert among(said, ASSISTANT) == []


@pytest.mark.parametrize("said", ["以后菜谱都给我克数", "from now on give me grams, not cups"])
def test_an_order_that_holds_on_is_a_rule_where_the_assistant_hears_it(said: str) -> None:
    assert extract([Message(said, name="Mia"), ASSISTANT], now=NOW)
    assert among(said, Message("haha", name="Theo")) == []


@given(st.sampled_from(("drink", "smoke", "gamble")), st.sampled_from((". ", ". (", " - ")))
def test_what_is_taken_back_is_not_told(verb: str, joint: str) -> None:
    said = f"I don't {verb}{joint}I {verb}"
    assert not [fact for fact in extract([Message(said)], now=NOW) if "not" in fact.text]
    assert not [fact for fact in among(said) if "not" in fact.text]


@given(st.sampled_from(LASTS), st.sampled_from(NAMES))
def test_who_goes_by_a_name_has_no_other(said: str, name: str) -> None:
    for text in ("I'm Inspector Fell", "我是秦始皇", "我叫小李子"):
        assert not [fact for fact in among(f"{text}. {said}", name=name) if fact.attribute == "name"]
