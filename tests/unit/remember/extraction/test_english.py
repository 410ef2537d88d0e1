"""English sentences become facts in the third person."""

from __future__ import annotations

import pytest

from ebbing.domain.memory.record import MemoryType
from tests.unit.remember.extraction.facts import heard, only

F, P, C, E, R = (
    MemoryType.FACT,
    MemoryType.PREFERENCE,
    MemoryType.CONSTRAINT,
    MemoryType.EPISODIC,
    MemoryType.PROCEDURAL,
)


@pytest.mark.parametrize(
    ("said", "told", "kind"),
    [
        ("I'm allergic to peanuts.", "User is allergic to peanuts", C),
        ("My name is Rachel", "User's name is Rachel", F),
        ("im 27 years old btw", "User is 27 years old", F),
        ("I live in a tiny apartment in Queens", "User lives in a tiny apartment in Queens", F),
        ("I've got two cats", "User has two cats", F),
        ("I teach third grade", "User teaches third grade", F),
        ("I study physics at MIT", "User studies physics at MIT", F),
        ("I really love hiking with my dog", "User loves hiking with their dog", P),
        ("I can't stand country music", "User cannot stand country music", P),
        ("Sushi is my favorite food", "Sushi is User's favorite food", P),
        ("My sister's a nurse", "User's sister is a nurse", F),
        ("I don't eat pork", "User does not eat pork", C),
        ("I have type 2 diabetes", "User has type 2 diabetes", F),
        ("I go to the gym three times a week", "User goes to the gym three times a week", F),
        ("I want to learn how to play the drums", "User wants to learn how to play the drums", E),
        ("From now on, always answer in Chinese", "User's rule: from now on, always answer in Chinese", R),
        ("Please don't recommend horror movies", "User's rule: do not recommend horror movies", C),
        ("We have a cabin by the lake", "User has a cabin by the lake", F),
    ],
)
def test_a_sentence_becomes_a_fact_in_the_third_person(said: str, told: str, kind: MemoryType) -> None:
    fact = only(said)
    assert fact.text == told
    assert fact.type is kind


@pytest.mark.parametrize(
    ("asked", "rule"),
    [
        ("can you always answer in metric please", "always answer in metric"),
        ("actually can you stop using emojis", "stop using emojis"),
        ("ok so can u stop saying great question", "stop saying great question"),
        ("hiya, can you stop using emojis", "stop using emojis"),
        ("please can you reply in welsh from now on", "reply in welsh from now on"),
    ],
)
def test_a_wish_how_to_be_answered_is_one_also_as_a_question(asked: str, rule: str) -> None:
    assert only(asked).text == f"User's rule: {rule}"


@pytest.mark.parametrize(
    "wish",
    [
        "stop patronising me",
        "don't patronize me",
        "stop formatting everything in tables",
        "stop beginning every answer with Sure",
        "never moralise at me",
    ],
)
def test_a_wish_is_one_in_any_form_of_its_verb(wish: str) -> None:
    assert [fact.type in {C, R} for fact in heard(wish)] == [True]


@pytest.mark.parametrize(
    "said",
    [
        "never used one of these before",
        "never mentioned the wedding",
        "can you call me a cab",
        "will you always be this slow",
        "can you stop the timer",
    ],
)
def test_what_is_past_or_for_once_is_no_wish(said: str) -> None:
    assert heard(said) == []


@pytest.mark.parametrize(
    ("said", "attribute", "value"),
    [
        ("I'm Tom", "name", "Tom"),
        ("I live in Porto with my dog", "home", "Porto"),
        ("I moved from Denver to Portland", "home", "Portland"),
        ("I work at Siemens as an engineer", "employer", "Siemens"),
        ("I'm a pediatric nurse at St. Mary's", "job", "pediatric nurse"),
        ("my birthday's June 3", "birthday", "June 3"),
        ("I'm originally from Vietnam", "hometown", "Vietnam"),
        ("My cell number is 555-0142", "phone", "555-0142"),
        ("My sister lives in Boston", "sister.home", "Boston"),
        ("My mum is from Chile", "mother.hometown", "Chile"),
        ("My favourite colour is teal", "favourite.color", "teal"),
        ("I'm married with three kids", "marital_status", "married"),
    ],
)
def test_a_single_valued_attribute_carries_its_value(said: str, attribute: str, value: str) -> None:
    fact = only(said)
    assert (fact.attribute, fact.value) == (attribute, value)


def test_a_friend_among_many_gives_no_attribute() -> None:
    assert only("My friend lives in Boston").attribute is None


def test_being_a_beginner_is_not_a_job() -> None:
    assert only("I'm a beginner at math").attribute is None


def test_likes_and_dislikes_carry_polarity_and_object() -> None:
    liked, disliked = heard("I like tea but I don't like coffee")
    assert (liked.polarity, liked.object) == (1, "tea")
    assert (disliked.polarity, disliked.object) == (-1, "coffee")
    assert "dislike" in disliked.tags


def test_what_ended_is_told_and_marked() -> None:
    fact = only("I no longer live in Chicago")
    assert fact.ended
    assert fact.text == "User no longer lives in Chicago"


def test_a_correction_is_marked_as_one() -> None:
    assert only("Actually, I moved to Berlin").corrects


@pytest.mark.parametrize("said", ["Maybe I'm allergic to gluten", "I think I live near you", "I might quit my job"])
def test_what_the_speaker_doubts_stays_under_the_write_threshold(said: str) -> None:
    assert all(fact.confidence < 0.7 and fact.hedged for fact in heard(said))


def test_each_clause_gives_its_own_fact() -> None:
    texts = [fact.text for fact in heard("I'm Marco, I live near Turin and work as a chef, but I hate cooking at home")]
    assert texts == [
        "User's name is Marco",
        "User lives near Turin",
        "User works as a chef",
        "User hates cooking at home",
    ]


def test_a_list_stays_one_fact() -> None:
    fact = only("I enjoy painting, playing piano and tea tasting. Do you have any recommendations?")
    assert fact.text == "User enjoys painting, playing piano and tea tasting"


def test_a_reason_inside_a_question_is_stated() -> None:
    assert only("What should I cook given that I'm vegetarian?").text == "User is vegetarian"


def test_she_is_the_relation_named_before() -> None:
    assert [fact.text for fact in heard("My sister Anna is 12. She loves drawing.")] == [
        "User's sister Anna is 12",
        "User's sister Anna loves drawing",
    ]


def test_a_plan_gets_its_date() -> None:
    fact = only("I'm flying to Denver tomorrow")
    assert fact.text == "User is flying to Denver tomorrow (2026-05-07)"
    assert fact.happens_from is not None
    assert fact.happens_to is not None
    assert fact.happens_from.date().isoformat() == "2026-05-07"
    assert fact.happens_to.date().isoformat() == "2026-05-08"


@pytest.mark.parametrize(
    ("asked", "answered", "told"),
    [
        ("Do you have any pets?", "Yes, two cats", "User has two cats"),
        ("Do you like spicy food?", "No, not really", "User does not like spicy food"),
        ("What's your name?", "Sophie", "User's name is Sophie"),
        ("How old are you?", "29", "User is 29"),
        ("Nice! And where do you live?", "In Manchester", "User lives in Manchester"),
    ],
)
def test_a_short_answer_is_read_with_its_question(asked: str, answered: str, told: str) -> None:
    assert only(answered, asked=asked).text.replace("in In", "in") == told


def test_a_named_speaker_is_the_subject() -> None:
    assert only("I love my cat", name="Caroline").text == "Caroline loves their cat"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "Hi! I'm Tom Becker, 34, a nurse at St. Mary's in Leeds.",
            ["User's name is Tom Becker", "User is 34", "User is a nurse at St. Mary's in Leeds"],
        ),
        (
            "I'm Sara, 29, from Porto, currently living in Berlin",
            ["User's name is Sara", "User is 29", "User is from Porto", "User is currently living in Berlin"],
        ),
        ("Hey, Dave here, 52, a plumber", ["User's name is Dave", "User is 52", "User is a plumber"]),
        ("I'm Joe, dad of two", ["User's name is Joe", "User is dad of two"]),
        ("My name is Anna Li and I'm a teacher", ["User's name is Anna Li", "User is a teacher"]),
        ("I'm a big fan of jazz", ["User is a big fan of jazz"]),
        ("Hi, I'm Susan, nice to meet you", ["User's name is Susan"]),
        ("Learning Korean on Duolingo", ["User is learning Korean on Duolingo"]),
    ],
)
def test_an_introduction_is_told_fact_by_fact(said: str, told: list[str]) -> None:
    assert [fact.text for fact in heard(said)] == told
