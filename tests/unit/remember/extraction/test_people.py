"""One's people: by pronoun, by name, in answers to questions about them, and where "there" is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ebbing import Memory
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.remember.extraction.rule_extractor import extract
from tests.unit.remember.extraction.facts import NOW, heard, only


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path, embedder="none") as opened:
        yield opened


def texts(said: str, *, asked: str | None = None) -> list[str]:
    return [fact.text for fact in heard(said, asked=asked)]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("My sister's a vet. She's 30", ["User's sister is a vet", "User's sister is 30"]),
        ("My mum lives in Cork. He is a plumber", ["User's mum lives in Cork"]),
        ("My sister bought a house. It is in Bath", ["User's sister bought a house"]),
        ("My son Arjun loves dinosaurs. Arjun has asthma",
         ["User's son Arjun loves dinosaurs", "User's son Arjun has asthma"]),
        ("My brother's called Luke. Luke is a vet in Hull",
         ["User's brother is called Luke", "User's brother Luke is a vet in Hull"]),
        ("my mum has dementia and I'm her carer", ["User's mum has dementia", "User is their mum's carer"]),
        ("my dad is 80 and I visit him every Sunday", ["User's dad is 80", "User visits their dad every Sunday"]),
    ],
)  # fmt: skip
def test_a_pronoun_or_a_name_stands_for_the_one_whom_it_fits(said: str, told: list[str]) -> None:
    assert texts(said) == told


def test_somebody_told_of_in_one_message_is_known_in_the_next() -> None:
    talk = [
        Message("My son Theo loves trains"),
        Message("How sweet!", Role.ASSISTANT),
        Message("He's allergic to eggs"),
    ]
    assert [fact.text for fact in extract(talk, now=NOW)] == [
        "User's son Theo loves trains",
        "User's son Theo is allergic to eggs",
    ]


@pytest.mark.parametrize(
    ("asked", "said", "told"),
    [
        ("How old is your daughter?", "7", ["User's daughter is 7"]),
        ("How old is your daughter?", "she's seven", ["User's daughter is seven"]),
        ("What does your wife do?", "a nurse", ["User's wife is a nurse"]),
        ("Where do your parents live?", "Goa", ["User's parents live in Goa"]),
        ("What's your dog called?", "Biscuit", ["User's dog is called Biscuit"]),
        ("What is he into?", "trains and space", []),
        ("What does she do?", "a nurse", []),
    ],
)
def test_an_answer_about_somebody_else_is_not_about_the_speaker(asked: str, said: str, told: list[str]) -> None:
    assert texts(said, asked=asked) == told


@pytest.mark.parametrize(
    ("asked", "said", "told"),
    [
        ("Sure, how tall are you?", "5 foot 2", "User is 5 foot 2"),
        ("How old are you, if I may ask?", "just turned fifty", "User turned fifty"),
        ("Do you have any dietary needs?", "nothing with nuts please", "User cannot have nuts"),
        ("Who do you live with?", "my gran", "User lives with their gran"),
        ("Which football team do you support?", "Everton for my sins", "User supports Everton"),
        ("Do you prefer tea or coffee?", "tea, always", "User prefers tea, always"),
        ("What's your job?", "accountant", "User works as an accountant"),
        ("When's your wedding?", "14 September", "User's wedding is on 14 September"),
        ("Any holidays planned?", "yes Rome in October", "User is going to Rome in October (October 2026)"),
    ],
)
def test_a_short_answer_is_told_with_its_question(asked: str, said: str, told: str) -> None:
    assert only(said, asked=asked).text == told


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Do you have any allergies?", "why do you ask"),
        ("Who is the main character of the story?", "Sarah, a baker from Devon"),
        ("Sure, what would you like translated?", "I have been living in London for ten years"),
    ],
)
def test_a_question_back_or_the_stuff_of_a_task_is_no_answer(asked: str, said: str) -> None:
    assert texts(said, asked=asked) == []


def test_there_is_where_was_spoken_of() -> None:
    assert texts("my mum lives there", asked="It is 9:40 pm in Manila.") == ["User's mum lives in Manila"]
    assert texts("I'm moving to Oslo in May, my sister works there") == ["User is moving to Oslo in May (May 2026)"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("My daughter Mia plays the cello, lessons are on Tuesdays with Mr Hobbs",
         "User's daughter Mia plays the cello, lessons are on Tuesdays with Mr Hobbs"),
    ],
)  # fmt: skip
def test_when_and_where_stay_with_what_they_are_about(said: str, told: str) -> None:
    assert only(said).text == told


def test_somebody_known_by_name_from_before_is_known_again(memory: Memory) -> None:
    memory.add("My son Arjun loves dinosaurs", user_id="ann")
    found = memory.add("Arjun turned 8", user_id="ann")["results"]
    assert [item["memory"] for item in found] == ["User's son Arjun turned 8"]


def test_a_name_that_nobody_told_of_is_left(memory: Memory) -> None:
    memory.add("My son Arjun loves dinosaurs", user_id="ann")
    assert memory.add("Paris is lovely in spring. Tom works at Shell", user_id="ann")["results"] == []


def test_somebody_whom_a_question_names_is_known_to_what_follows() -> None:
    assert texts("what's a good gift for my sister? she's a nurse") == ["User's sister is a nurse"]
    assert texts("We've got a collie called Meg. She's terrified of thunder")[1:] == [
        "User's collie Meg is terrified of thunder"
    ]


def test_nothing_is_remembered_of_a_game_of_roles() -> None:
    talk = [
        Message("act as a customer in my shop"),
        Message("Hello, I'm looking for a present for my wife.", Role.ASSISTANT),
        Message("Welcome, we have lovely scarves from Italy, I have run this shop for ten years"),
    ]
    assert extract(talk, now=NOW) == []


@pytest.mark.parametrize(
    ("asked", "said", "told"),
    [
        ("Do you have any medical conditions?", "type 2 diabetes", "User has type 2 diabetes"),
        ("How many siblings do you have?", "three brothers", "User has three brothers"),
        ("Do you speak any other languages?", "a bit of Polish", "User speaks a bit of Polish"),
        ("Is there any food you hate?", "white chocolate", "User hates white chocolate"),
        ("When is your interview?", "this Friday at 2", "User's interview is this Friday (2026-05-08) at 2"),
    ],
)
def test_an_answer_without_a_verb_borrows_that_of_the_question(asked: str, said: str, told: str) -> None:
    assert only(said, asked=asked).text == told
