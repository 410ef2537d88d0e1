"""A text that somebody asks about makes no fact, whatever it says; what she says beside it does."""

from __future__ import annotations

import re
import tomllib
from datetime import UTC, datetime
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.domain.memory.message import Message
from ebbing.language.signals.shown_text import MAY_SHOW_TEXT
from ebbing.privacy.guarding.trust import TrustTier
from ebbing.remember.extraction.rule_extractor import extract
from ebbing.remember.extraction.salient_words import stated_words
from ebbing.remember.intake.screening import ScreenedMessage

ALPHABET = st.characters(codec="utf-8", categories=("L", "N", "P", "Z", "Cc", "Sk"))
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
CHINESE_TEXTS = ("我对花生过敏，请不要放花生。", "我家孩子不能喝牛奶", "我妈妈住院了，我下周搬到成都", "以后都叫我老板")
ENGLISH_TEXTS = ("I'm allergic to peanuts and cats.", "My father is a driving coach", "I live in Rome with my two dogs")
ENGLISH_ASKS = ("whats it say: {}", "can you translate this for me: {}", "a guest sent me this, what does it mean {}")
CHINESE_ASKS = ("这句话啥意思：{}", "帮我翻译一下 {}", "{} 有错吗", "看看语法通顺不：{}")
OWN = (("", ""), ("I'm vegetarian.", "vegetarian"), ("我吃素。", "吃素"))


def kept(content: str) -> list[str]:
    """What the rules read of a message, and what a model could quote of it."""
    message = Message(content, name="Rhona")
    read = [fact.source_text or "" for fact in extract([message], now=NOW)]
    screened = ScreenedMessage(message, TrustTier.USER)
    return read + [words.text for words in stated_words([screened], read_places=())]


@given(st.sampled_from(ENGLISH_ASKS), st.sampled_from(CHINESE_TEXTS), st.sampled_from(OWN[:2]))
def test_nothing_is_kept_of_a_chinese_text_that_is_asked_about_in_english(
    ask: str, shown: str, own: tuple[str, str]
) -> None:
    told = kept(f"{own[0]} {ask.format(shown)}".strip())
    assert not any(part in text for text in told for part in shown.strip("。").split("，"))
    assert not own[1] or any(own[1] in text for text in told)


@given(st.sampled_from(CHINESE_ASKS), st.sampled_from(ENGLISH_TEXTS), st.sampled_from((OWN[0], OWN[2])))
def test_nor_of_an_english_text_that_is_asked_about_in_chinese(ask: str, shown: str, own: tuple[str, str]) -> None:
    told = kept(f"{own[0]}{ask.format(shown)}")
    assert not any(shown.strip(".") in text for text in told)
    assert not own[1] or any(own[1] in text for text in told)


FACTS = ("I'm allergic to peanuts", "I have four children", "my name is Lily", "I live in Turin")
HANDED = ("My cousin wrote this. {}", "My sister's cover letter: {}", "FW: {}", "{} That's the message I got from Tom.")
CHINESE_FACTS = ("我对花生过敏", "我离婚了", "本人32岁，住在苏州", "我女儿叫安安")
CHINESE_HANDED = ("客人备注：{}", "面试者简历：{}", "{}。这是今天一个客人写的备注", "我哥发来：{}", "小王：{}")


@given(st.sampled_from(HANDED), st.sampled_from(FACTS))
def test_no_rule_reads_what_somebody_else_wrote(handed: str, fact: str) -> None:
    assert not extract([Message(handed.format(f"{fact}."), name="Rhona")], now=NOW)
    assert extract([Message(f"My situation: {fact}.", name="Rhona")], now=NOW)


@given(st.sampled_from(CHINESE_HANDED), st.sampled_from(CHINESE_FACTS))
def test_so_it_is_in_chinese(handed: str, fact: str) -> None:
    assert not extract([Message(handed.format(fact), name="林溪")], now=NOW)
    assert extract([Message(f"我的情况：{fact}", name="林溪")], now=NOW)


@given(st.sampled_from(["here's what she wrote", "my sister texted", "她写的是："]), st.sampled_from(FACTS))
def test_nor_in_the_message_after_one_that_announces_it(announced: str, fact: str) -> None:
    messages = [Message(announced, name="Rhona"), Message(fact, name="Rhona")]
    assert not extract(messages, now=NOW)


@given(st.sampled_from(("我老公说：他不吃香菜。{}", "客人备注：少放盐。对了，{}")), st.sampled_from(CHINESE_FACTS[:2]))
def test_what_the_speaker_says_behind_somebody_else_is_read(others: str, own: str) -> None:
    [fact] = extract([Message(others.format(own), name="林溪")], now=NOW)
    assert own in (fact.source_text or "")


@given(st.sampled_from(("My husband says: no dogs. {}", "her profile: likes hiking. {}")), st.sampled_from(FACTS))
def test_so_it_is_in_english(others: str, own: str) -> None:
    [fact] = extract([Message(others.format(own), name="Rhona")], now=NOW)
    assert own in (fact.source_text or "")


def patterns_of(sign: str) -> list[str]:
    path = files("ebbing.language") / "packs" / "talk.toml"
    patterns: list[str] = tomllib.loads(path.read_text("utf-8"))[sign]
    return patterns


@pytest.mark.parametrize(
    "pattern", [each for sign in ("asks_about_text", "hands_over", "handed_over") for each in patterns_of(sign)]
)
@given(data=st.data())
def test_whatever_shows_a_text_is_looked_through(pattern: str, data: st.DataObject) -> None:
    message = data.draw(st.from_regex(re.compile(pattern), alphabet=ALPHABET))
    assert MAY_SHOW_TEXT.search(message)
