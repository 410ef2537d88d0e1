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


@pytest.mark.parametrize(
    ("said", "texts"),
    [
        ("我老婆生了，是个女孩，叫安安", ["用户的老婆生了个女孩叫安安"]),
        ("我生了，是个女孩", ["用户生了个女孩"]),
        ("我打胰岛素，每天两次，每次8个单位", ["用户打胰岛素"]),
        ("我一直在吃阿司匹林，每天一片", ["用户一直在吃阿司匹林"]),
        ("我每天跑两次步", ["用户每天跑两次步"]),
    ],
)
def test_a_clause_without_a_subject_tells_nothing_of_the_speaker_by_itself(said: str, texts: list[str]) -> None:
    assert [fact.text for fact in heard(said)] == texts


@pytest.mark.parametrize(
    ("said", "texts"),
    [
        ("My doc replaced the ibuprofen with metamizole", []),
        ("How do you say “my husband is allergic to shrimp”? I live in Leeds.", ["User lives in Leeds"]),
        ("What does gluten mean? My daughter has celiac disease.", ["User's daughter has celiac disease"]),
        ("how do you say I'm pregnant in French", []),
        ("I have dyslexia. Please proofread everything I send you.", ["User has dyslexia"]),
    ],
)
def test_a_question_about_words_takes_no_fact_beside_it(said: str, texts: list[str]) -> None:
    assert [fact.text for fact in heard(said)] == texts
