"""English as it is typed: what one has not, machines and programs, and what nearly was."""

from __future__ import annotations

import pytest

from tests.unit.remember.extraction.facts import heard


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("no kids, never wanted any", "User has no kids, never wanted any"),
        ("no pets", "User has no pets"),
    ],
)
def test_what_someone_has_not_is_told_without_i(said: str, kept: str) -> None:
    assert [fact.text for fact in heard(said)] == [kept]


def test_no_pets_of_a_place_is_nobodys() -> None:
    assert heard("no pets allowed in here") == []


def test_a_machine_is_no_job() -> None:
    assert [fact.attribute for fact in heard("I own a sewing machine")] == [None]
    assert [fact.attribute for fact in heard("I own a bakery")] == ["job"]


@pytest.mark.parametrize("program", ["Bitwarden", "Notion", "Ubuntu", "ProtonMail"])
def test_a_program_is_no_home(program: str) -> None:
    assert "home" not in [fact.attribute for fact in heard(f"I moved to {program}")]


def test_a_town_is_a_home() -> None:
    assert [fact.attribute for fact in heard("I moved to Hull")] == ["home"]


def test_what_nearly_was_is_left() -> None:
    assert heard("I nearly became a vet") == []


@pytest.mark.parametrize("answer", ["rather not say", "prefer not to say", "no comment"])
def test_a_refusal_is_no_place(answer: str) -> None:
    assert heard(answer, asked="Where do you live?") == []


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("absolutely adore old maps", "User adores old maps"),
    ],
)
def test_a_clause_without_its_owner_is_the_speakers(said: str, kept: str) -> None:
    assert [fact.text for fact in heard(said)] == [kept]


def test_a_text_to_be_bettered_is_nobodys() -> None:
    assert heard("make this sound better - I enjoy working in teams") == []
