"""Limits, likings, standings and wishes as they are said in plain words."""

from __future__ import annotations

import pytest

from tests.unit.remember.extraction.facts import heard, only


@pytest.mark.parametrize(
    ("said", "text", "kind"),
    [
        ("I'm banned from flying until spring", "User is banned from flying until spring", "constraint"),
        ("I can only sleep on my left side", "User can only sleep on their left side", "constraint"),
        ("I have to carry an inhaler", "User has to carry an inhaler", "constraint"),
        ("my kids won't eat fish", "User's kids will not eat fish", "constraint"),
        ("I'm happiest in a canoe", "User is happiest in a canoe", "preference"),
        ("I find knitting soothing", "User finds knitting soothing", "preference"),
        ("I love anything with cardamom in it", "User loves anything with cardamom", "preference"),
        ("rowing is the only sport I enjoy", "User likes rowing, the only sport", "preference"),
        ("Everton till I die", "User supports Everton", "preference"),
        ("I only wear linen these days", "User only wears linen these days", "preference"),
        ("I'm employed by the water board", "User is employed by the water board", "fact"),
        ("I'm on a fixed-term contract", "User is on a fixed-term contract", "fact"),
        ("I work Wednesdays to Sundays", "User works Wednesdays to Sundays", "fact"),
        ("I'm 30 weeks along", "User is 30 weeks along", "fact"),
    ],
)
def test_a_plain_wording_is_kept_as_its_kind(said: str, text: str, kind: str) -> None:
    fact = only(said)
    assert (fact.text, fact.type) == (text, kind)


@pytest.mark.parametrize(
    "said",
    [
        "round every price to whole euros as a rule",
        "quiz me at the end of every chapter",
        "Treat me as a beginner in law",
        "if I paste a menu, tell me which dishes have nuts",
        "spell my name with two Ls",
    ],
)
def test_a_wish_for_every_time_is_procedural(said: str) -> None:
    assert [fact.type for fact in heard(said)] == ["procedural"]


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("suggest a holiday, bearing in mind I use a wheelchair", "User uses a wheelchair"),
        ("Being left-handed I need a different pair of scissors", "User is left-handed"),
    ],
)
def test_a_circumstance_is_read_beside_what_it_is_told_for(said: str, text: str) -> None:
    assert text in [fact.text for fact in heard(said)]


@pytest.mark.parametrize(
    "said", ["quiz me on this chapter", "I can see one of them only", "If I ask my boss, he says no"]
)
def test_what_is_for_once_is_no_wish_and_no_limit(said: str) -> None:
    assert heard(said) == []


def test_a_verb_behind_the_subject_that_was_left_out_begins_no_sentence() -> None:
    assert only("Love Thai food").text == "User loves Thai food"
