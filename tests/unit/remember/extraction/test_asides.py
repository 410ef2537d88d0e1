"""What stands in brackets belongs to the word before it, and the sentence goes on behind it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ebbing.domain.memory.message import Message
from ebbing.remember.extraction.rule_extractor import extract


def facts(said: str) -> list[str]:
    return [fact.text for fact in extract([Message(said)], now=datetime(2026, 5, 6, tzinfo=UTC))]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("my daughter Mia (6) loves dinosaurs", "User's daughter Mia (6) loves dinosaurs"),
        ("I have two kids, Arjun (7) and Meera (4)", "User has two kids, Arjun (7) and Meera (4)"),
        ("Two kids, Arjun (7) and Meera (4)", "User has two kids, Arjun (7) and Meera (4)"),
        ("I take metformin (500 mg) twice a day", "User takes metformin (500 mg) twice a day"),
        ("I work at Nokia (the Espoo office) as a tester", "User works at Nokia (the Espoo office) as a tester"),
        ("我有两个孩子（大的8岁，小的3岁）", "用户有两个孩子(大的8岁,小的3岁)"),
        ("我老公（程序员）在杭州上班", "用户的老公(程序员)在杭州上班"),
    ],
)
def test_what_stands_in_brackets_stays_where_it_stood(said: str, told: str) -> None:
    assert facts(said) == [told]


def test_the_trade_of_a_husband_in_brackets_is_not_the_speakers() -> None:
    assert not any("User is" in fact for fact in facts("My husband (an electrician) works in Hull"))


def test_a_clause_in_brackets_is_a_sentence_of_its_own() -> None:
    found = facts("Suggest a dinner for two (I'm vegetarian)")
    assert found == ["User is vegetarian"]


def test_brackets_that_nothing_stands_before_or_that_never_close_change_nothing() -> None:
    assert facts("I live in Leeds (and") == ["User lives in Leeds"]
    assert facts("(I live in Leeds)") == ["User lives in Leeds"]
