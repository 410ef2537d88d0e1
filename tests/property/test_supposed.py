"""What is only supposed makes no fact, nor does a sentence that goes on with it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.domain.memory.message import Message
from ebbing.remember.extraction.rule_extractor import extract

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
SUPPOSED = ("if we'd moved to Lisbon we'd be tanned", "I wish I was rich", "imagine I had taken that job")
ENGLISH_ENDS = ("divorced, i think", "married", "a vet by now", "living in Rome")
CHINESE_SUPPOSED = ("要是当初去了上海我早有房了", "如果中了彩票我就辞职")
CHINESE_ENDS = ("离了婚", "住在上海", "当了医生", "养了两只狗")


def texts_of(message: str) -> list[str]:
    return [fact.text for fact in extract([Message(message, name="Rhona")], now=NOW) if not fact.tentative]


def told(message: str) -> list[str]:
    """The facts of a message that are told in other words than its own."""
    return [text for text in texts_of(message) if "“" not in text]


@given(st.sampled_from(SUPPOSED), st.sampled_from(["and", "or", "And", "but"]), st.sampled_from(ENGLISH_ENDS))
def test_a_sentence_that_goes_on_with_what_is_supposed_makes_no_fact(head: str, link: str, end: str) -> None:
    last_word = end.partition(",")[0].split()[-1]
    assert not any(last_word in text for text in told(f"{head}. {link} {end}"))


@given(st.sampled_from(CHINESE_SUPPOSED), st.sampled_from(["还", "也", "又", "然后"]), st.sampled_from(CHINESE_ENDS))
def test_so_it_is_in_chinese(head: str, link: str, end: str) -> None:
    assert not any(end in text for text in told(f"{head}。{link}{end}"))


@pytest.mark.parametrize(
    ("message", "fact"),
    [
        ("if i had a dog i'd be happier. and i'm vegan btw", "Rhona is vegan"),
        ("if you ask me it's late. I'm allergic to peanuts.", "Rhona is allergic to peanuts"),
        ("要是能睡个好觉就好了。我对花生过敏。", "Rhona对花生过敏"),
        ("If you need me call. And our daughter is allergic to nuts.", "Rhona's daughter is allergic to nuts"),
        ("我主要是对花生过敏。也对虾过敏。", "Rhona对虾过敏"),
        ("如果方便请记一下,我对花生过敏。也对虾过敏。", "Rhona对虾过敏"),
        ("我主要是做后端开发的。还养了两只猫。", "Rhona养了两只猫"),
    ],
)
def test_a_sentence_with_its_own_subject_is_read(message: str, fact: str) -> None:
    assert fact in texts_of(message)
