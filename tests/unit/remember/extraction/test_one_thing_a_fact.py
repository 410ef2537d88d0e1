"""A list is taken apart before it gets an attribute, names count, and a lunar day is no range of days."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.remember.extraction.facts import heard

ROLES = ("plumber", "nurse", "teacher", "chef", "software engineer")
PEOPLE = ("two kids", "a son", "three sisters", "a wife", "one daughter")
PETS = ("a beagle", "two cats", "a dog", "a parrot", "three hens")
KINDS = {**dict.fromkeys(ROLES, "am"), **dict.fromkeys(PEOPLE, "family"), **dict.fromkeys(PETS, "pet")}


@given(st.sampled_from(ROLES), st.sampled_from(PEOPLE), st.sampled_from(PETS), st.sampled_from(("", "I'm a ")))
def test_things_of_different_kinds_share_no_fact(role: str, people: str, pet: str, head: str) -> None:
    facts = heard(f"{head}{role}, {people} and {pet}")
    assert len(facts) == 3, [fact.text for fact in facts]
    for fact in facts:
        assert len({kind for words, kind in KINDS.items() if f" {words}" in fact.text}) == 1, fact.text
        assert fact.attribute != "job" or fact.value == role


@pytest.mark.parametrize(
    ("note", "texts"),
    [
        ("User likes jazz.", ["User likes jazz"]),
        ("用户喜欢爵士乐。", ["用户喜欢爵士乐"]),
        ("用户的生日是五月初七", ["用户的生日是五月初七"]),
        ("我的生日是五月初七", ["用户的生日是五月初七"]),
        ("用户反馈说登录太慢了", []),
        ("6 kids, one bounce house, zero plan", []),
    ],
)
def test_a_note_in_the_third_person_is_read_as_the_user_would_say_it(note: str, texts: list[str]) -> None:
    assert [fact.text for fact in heard(note)] == texts
