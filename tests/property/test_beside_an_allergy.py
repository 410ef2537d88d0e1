"""Whatever is said behind an allergy, the allergy stays a limit, and what is said behind it stays out of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import MemoryType
from ebbing.language.text.quotation import quoted_words
from ebbing.remember.extraction.rule_extractor import extract

NOW: Final = datetime(2026, 5, 6, 10, tzinfo=UTC)
SINGLE: Final = Path(__file__).parents[2] / "training/data/single"
ALLERGIES: Final = {"zh": ("我对青霉素过敏，", "青霉素"), "en": ("I'm allergic to penicillin, ", "penicillin")}


def tails(language: str) -> list[str]:
    """Return short messages of people who did not know the rules, without a comma."""
    messages = [
        json.loads(line) for path in sorted(SINGLE.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()
    ]
    longest = 14 if language == "zh" else 40
    texts = (message["text"] for message in messages if message["lang"] == language)
    return [text for text in texts if len(text) <= longest and not any(mark in text for mark in ",，。.!！?？")]


def facts(language: str, tail: str) -> list[Fact]:
    return extract([Message(ALLERGIES[language][0] + tail)], now=NOW)


@pytest.mark.parametrize("language", ALLERGIES)
def test_an_allergy_is_a_limit_whatever_is_said_behind_it(language: str) -> None:
    @given(st.sampled_from(tails(language)))
    def stays(tail: str) -> None:
        told = (fact for fact in facts(language, tail) if quoted_words(fact.text) is None)
        named = [fact for fact in told if ALLERGIES[language][1] in fact.text]
        assert all(fact.type is MemoryType.CONSTRAINT for fact in named), named

    stays()


@pytest.mark.parametrize("tail", ["下周三搬家", "别推荐海鲜", "帮我订个餐", "上周刚换了工作", "周末去爬山"])
def test_what_has_nothing_to_do_with_it_is_apart(tail: str) -> None:
    [allergy] = [fact for fact in facts("zh", tail) if "青霉素" in fact.text]
    assert (allergy.text, allergy.type) == ("用户对青霉素过敏", MemoryType.CONSTRAINT)


def test_another_thing_that_is_not_tolerated_goes_along() -> None:
    [allergy] = facts("zh", "头孢也是")
    assert (allergy.text, allergy.type) == ("用户对青霉素过敏，头孢也是", MemoryType.CONSTRAINT)
