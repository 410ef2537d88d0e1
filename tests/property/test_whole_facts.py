"""A fact is a whole statement of somebody who is surely meant; else none is made."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.language.text.quotation import quoted_words
from ebbing.remember.extraction.rule_extractor import extract

NOW = datetime(2026, 5, 6, 10, tzinfo=UTC)
WOMEN = ("sister", "mum", "wife", "daughter", "aunt", "grandmother")
MEN = ("brother", "dad", "husband", "son", "uncle", "grandfather")
STATES = (
    *("is allergic to peanuts", "lives in Boston", "works as a nurse", "has diabetes", "is vegan", "is 34"),
    *("has two kids", "hates flying", "plays the cello"),
)
SAID = ("{she} {state}", "Oh, and {she} {state}", "{she} {state}, by the way")
WOMEN_ZH = ("妈", "姐姐", "老婆", "女儿", "闺蜜", "婆婆")
STATES_ZH = ("对花生过敏", "住在上海", "是护士", "有糖尿病", "吃素", "今年三十四岁", "有两个孩子")
ELDERS_ZH = ("姐姐", "奶奶", "外婆", "爸爸", "弟弟", "爷爷", "妹妹", "舅舅")
NEWCOMERS_ZH = ("我们组来了个新人", "我认识了一位大爷", "我请了个月嫂", "我们店来了个小伙", "我遇到一个老同学")
TO_ME_ZH = ("专门半夜踩我键盘", "赔我一个月", "给我打打气", "天天催我", "半夜给我买药")
POINTERS = ("these", "those", "that", "this one", "the other one", "it")
VERBS = ("like", "read", "use", "eat", "hate", "own", "prefer", "never wear", "always order", "am allergic to")
POINTERS_ZH = ("这个", "那个", "它", "这种", "那样的", "这些")
VERBS_ZH = ("喜欢", "不吃", "讨厌", "每天都用", "最爱")
BROKEN_ZH = ("我会", "我看了一下", "我问了", "我最烦", "我写过一次", "我昨天买的", "我儿子会", "我上周办的", "我说过")


def _facts(*messages: str | Message) -> list[str]:
    """What is told in the third person; a quotation tells nothing of anybody."""
    turns = [message if isinstance(message, Message) else Message(message) for message in messages]
    return [fact.text for fact in extract(turns, now=NOW) if quoted_words(fact.text) is None]


@given(
    st.lists(st.sampled_from(WOMEN), min_size=2, max_size=3, unique=True)
    | st.lists(st.sampled_from(MEN), min_size=2, max_size=3, unique=True),
    st.sampled_from(STATES),
    st.sampled_from(SAID),
    st.booleans(),
)
def test_a_pronoun_that_two_people_fit_makes_no_fact(kin: list[str], state: str, said: str, apart: bool) -> None:
    she = "She" if kin[0] in WOMEN else "He"
    before = "I had lunch with " + " and ".join(f"my {each}" for each in kin) + "."
    after = said.format(she=she, state=state)
    facts = _facts(before, after) if apart else _facts(f"{before} {after}.")
    assert not [text for text in facts if state.split(maxsplit=1)[1] in text], facts


@given(st.sampled_from(WOMEN), st.sampled_from(MEN), st.sampled_from(STATES))
def test_a_pronoun_that_one_of_them_fits_is_told_of_nobody_else(woman: str, man: str, state: str) -> None:
    facts = _facts(f"I had lunch with my {woman} and my {man}. She {state}.")
    told = [text for text in facts if state.split(maxsplit=1)[1] in text]
    assert all(text.startswith(f"User's {woman}") for text in told), facts


@given(st.sampled_from(WOMEN), st.sampled_from(STATES))
def test_a_pronoun_with_one_person_in_reach_is_understood(woman: str, state: str) -> None:
    message = f"My {woman} came to stay. She {state}."
    last = extract([Message(message)], now=NOW)[-1].text
    assert last.startswith(f"User's {woman}") or quoted_words(last) == message


@given(st.lists(st.sampled_from(WOMEN_ZH), min_size=2, max_size=2, unique=True), st.sampled_from(STATES_ZH))
def test_a_chinese_pronoun_that_two_people_fit_makes_no_fact(kin: list[str], state: str) -> None:
    facts = _facts(f"昨天我{kin[0]}和我{kin[1]}都来了。她{state}。")
    assert not [text for text in facts if state in text], facts


@given(st.sampled_from(ELDERS_ZH), st.sampled_from(STATES_ZH))
def test_an_elder_or_sibling_without_an_owner_is_not_surely_the_speakers(elder: str, state: str) -> None:
    assert not [text for text in _facts(f"{elder}{state}") if elder in text]
    assert [text for text in _facts(f"我{elder}{state}") if text.startswith("用户的")]


@given(st.sampled_from(NEWCOMERS_ZH), st.sampled_from(STATES_ZH))
def test_a_clause_after_a_newcomer_is_not_said_of_the_speaker(newcomer: str, state: str) -> None:
    facts = _facts(f"{newcomer}，{state}")
    assert not [text for text in facts if text.startswith(f"用户{state}")], facts


@given(st.sampled_from(("我养了只猫", "我在公司", "我今年三十")), st.sampled_from(TO_ME_ZH))
def test_a_clause_with_me_for_an_object_has_another_subject(before: str, clause: str) -> None:
    facts = _facts(f"{before}，{clause}") + _facts(clause)
    rest = clause.replace("我", "")
    assert not [text for text in facts if rest in text.replace("用户", "")], facts


@given(st.sampled_from(VERBS), st.sampled_from(POINTERS))
def test_what_points_outside_the_sentence_is_no_fact(verb: str, pointer: str) -> None:
    assert not _facts(f"I {verb} {pointer}")


@given(st.sampled_from(VERBS_ZH), st.sampled_from(POINTERS_ZH))
def test_what_points_outside_a_chinese_sentence_is_no_fact(verb: str, pointer: str) -> None:
    assert not _facts(f"我{verb}{pointer}")


@given(st.sampled_from(BROKEN_ZH))
def test_a_verb_without_its_object_is_no_fact(said: str) -> None:
    assert not _facts(said)


@given(st.sampled_from(("en", "zh")), st.sampled_from(("Mia", "Tom", "小满", "阿卓")))
def test_what_is_said_of_the_listener_is_no_fact(language: str, listener: str) -> None:
    said = (
        ("I told you about Rome", "I love you", "I owe you 20 euros")
        if language == "en"
        else ("我欠你二十块", "我想你了")
    )
    for text in said:
        facts = _facts(Message("Hi", Role.USER, name=listener), Message(text, Role.USER, name="Sam"))
        assert not [fact for fact in facts if re.search("assistant|助手", fact)], facts


@given(
    st.sampled_from(("never suggest", "don't ever cook", "always warn me about", "stop giving me", "never buy me")),
    st.sampled_from(("that stuff", "those things", "this kind of thing", "that crap", "these kinds of links")),
    st.sampled_from(("", " to me", " again", " please")),
)
def test_an_order_about_what_was_spoken_of_is_no_standing_wish(verb: str, pointer: str, tail: str) -> None:
    assert not _facts(f"took co-codamol and was sick. {verb} {pointer}{tail}. paracetamol is fine")


@given(
    st.sampled_from(("11 years as a sailor", "two kids later", "20 years in this job")),
    st.sampled_from(("and", "but", "so")),
    st.sampled_from(("i still hate forms", "so is my sister", "I still love tea", "i'm still scared of heights")),
)
def test_no_fact_ends_with_the_word_that_joined_its_parts(first: str, joint: str, last: str) -> None:
    assert not [fact for fact in _facts(f"{first} {joint} {last}") if re.search(r"\b(?:and|but|so|so is)$", fact)]


@pytest.mark.parametrize(
    "text",
    [
        *("never tell me that things will be fine", "always use algorithms that sort stably"),
        *("never start a sentence with and", "never begin a reply with so", "never put sugar in my recipes"),
    ],
)
def test_a_standing_wish_may_speak_of_such_words(text: str) -> None:
    assert _facts(text)
