"""English memories read as whole sentences about somebody, with nothing left dangling."""

from __future__ import annotations

import pytest

from tests.unit.remember.extraction.facts import heard, only


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("Based in Napier, NZ", "User is based in Napier, NZ"),
        ("Vegan since 2010", "User is vegan since 2010"),
        ("Irish, living in Leeds", "User is Irish, living in Leeds"),
        ("self employed joiner here", "User is a self employed joiner"),
        ("accountant with a firm in Truro", "User is an accountant with a firm in Truro"),
        ("primary school teacher from Hull", "User is a primary school teacher from Hull"),
        ("single mum of two", "User is a single mum of two"),
        ("Sundays are for long walks with the dog", "User's Sundays are for long walks with the dog"),
    ],
)
def test_a_clause_without_a_subject_becomes_a_whole_sentence(said: str, text: str) -> None:
    assert only(said).text == text


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("I'm a midwife though", "User is a midwife"),
        ("I'm left handed by the way", "User is left handed"),
        ("season ticket holder at Burnley, for my sins", "User is a season ticket holder at Burnley"),
        ("I'm an only child, as it happens", "User is an only child"),
    ],
)
def test_words_that_say_nothing_do_not_end_a_memory(said: str, text: str) -> None:
    assert only(said).text == text


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("no emojis please, ever", "User's rule: no emojis, ever"),
        ("please reply to me in Welsh from now on", "User's rule: reply to them in Welsh from now on"),
        ("Always cite your sources when you give me numbers",
         "User's rule: always cite your sources when you give them numbers"),
    ],
)  # fmt: skip
def test_what_the_assistant_is_told_to_do_is_worded_as_a_rule(said: str, text: str) -> None:
    assert only(said).text == text


@pytest.mark.parametrize(
    ("said", "text", "kind"),
    [
        ("hello there, Hamza here", "User's name is Hamza", "fact"),
        ("hi im dele, 31, i drive a bread van", "User's name is dele", "fact"),
        ("everyone calls me Bea, short for Beatrice", "User's wish: call them Bea", "procedural"),
        ("second year at Bangor doing zoology", "User is second year at Bangor doing zoology", "fact"),
        ("I don't work Thursdays", "User does not work Thursdays", "fact"),
        ("can't manage stairs since the operation", "User cannot manage stairs since the operation", "fact"),
        ("heights are a no go for me", "User avoids heights", "constraint"),
        ("it has to be halal for me", "User only eats halal food", "constraint"),
        ("always an aisle seat for me", "User always prefers an aisle seat", "preference"),
        ("Emacs all the way", "User prefers Emacs", "preference"),
        ("Gardening keeps me sane", "Gardening keeps User sane", "preference"),
        ("I can't stand liver it tastes of metal", "User cannot stand liver", "preference"),
    ],
)
def test_everyday_ways_to_say_it_are_read(said: str, text: str, kind: str) -> None:
    facts = heard(said)
    assert (facts[0].text, facts[0].type) == (text, kind)


@pytest.mark.parametrize(
    "said",
    [
        "assume I own a small bakery, draft me a business plan",
        "For this game I'm King Arthur and you're Merlin",
        "my brother-in-law reckons the moon landing was faked",
        "my colleague's cousin's wife runs a bakery in Ghent",
        "my neighbour's builder charges 200 a day",
        "play twenty questions with me",
        "I don't get step 3",
        "Same here",
    ],
)
def test_games_hypotheses_and_strangers_are_not_remembered(said: str) -> None:
    assert heard(said) == []


@pytest.mark.parametrize(
    ("said", "text", "kind"),
    [
        ("yoga every morning before work", "User has yoga every morning before work", "fact"),
        ("spiders terrify me", "User is scared of spiders", "fact"),
        ("dodgy back since the accident", "User has a dodgy back since the accident", "fact"),
        ("our ginger tom is called Tigger", "User's ginger tom is called Tigger", "fact"),
        ("mum uses a walking frame now", "User's mum uses a walking frame now", "fact"),
        ("my French is pretty rusty", "User's French is pretty rusty", "fact"),
        ("temperatures in Celsius please, always", "User's rule: always give temperatures in Celsius", "procedural"),
        ("your answers are too long, keep them under 100 words from now on",
         "User's rule: keep your answers under 100 words from now on", "procedural"),
    ],
)  # fmt: skip
def test_what_is_said_in_passing_is_told_in_full(said: str, text: str, kind: str) -> None:
    fact = only(said)
    assert (fact.text, fact.type) == (text, kind)


@pytest.mark.parametrize(
    "said",
    [
        "In a perfect world I'd work three days a week",
        "as my old teacher used to say, practice makes perfect",
        "Who wrote Middlemarch? I can never remember",
        "I need ideas for a 30th birthday party",
        "I've left my glasses upstairs",
        "can't sleep",
    ],
)
def test_wishes_sayings_and_moments_are_left(said: str) -> None:
    assert heard(said) == []


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("Since I retired I've been volunteering at the library",
         "User has been volunteering at the library since they retired"),
        ("since 2019 I've lived in Hull", "User has lived in Hull since 2019"),
        ("since my accident I can't drive", "User cannot drive since their accident"),
        ("On my days off I bake bread", "User bakes bread on their days off"),
        ("When I was a kid I lived in Malta", "User lived in Malta when they were a kid"),
        ("My wife and I run a coffee shop in Margate", "User and their wife run a coffee shop in Margate"),
        ("I've applied for a job at the British Library, fingers crossed",
         "User has applied for a job at the British Library"),
        ("The doctor told me to cut down on salt", "User has to cut down on salt"),
        ("I'm Deaf and lip-read", "User is Deaf and lip-read"),
    ],
)  # fmt: skip
def test_when_and_who_are_told_in_the_third_person(said: str, text: str) -> None:
    assert text in [fact.text for fact in heard(said)]


@pytest.mark.parametrize(
    ("said", "texts"),
    [
        ("i hv 2 cats n a dog", ["User has 2 cats and a dog"]),
        ("im vegan btw so no eggs", ["User is vegan so no eggs"]),
        ("28F from Dublin", ["User is 28", "User is from Dublin"]),
        ("Name: Kofi Mensah. Age: 41. Job: bus driver.",
         ["User's name is Kofi Mensah", "User is 41", "User works as a bus driver"]),
        ("They/them pronouns please", ["User's pronouns are They/them"]),
        ("I'd describe myself as an introvert", ["User is an introvert"]),
        ("As someone with ADHD I need short steps", ["User has ADHD"]),
        ("just found out im having a girl", ["User is having a girl"]),
    ],
)  # fmt: skip
def test_hurried_typing_and_forms_are_read(said: str, texts: list[str]) -> None:
    assert [fact.text for fact in heard(said)] == texts


@pytest.mark.parametrize(
    ("said", "text", "kind"),
    [
        ("There's nothing I love more than a car boot sale", "User loves a car boot sale", "preference"),
        ("I'd like to become a midwife", "User hopes to become a midwife", "episodic"),
        ("update: I got the job", "User got the job", "episodic"),
        ("Just to let you know I no longer work at Barclays", "User no longer works at Barclays", "fact"),
        ("I've gone part time", "User has gone part time", "fact"),
        ("My postcode is LS6", "User's postcode is LS6", "fact"),
        ("correction, my daughter is 8 not 7", "User's daughter is 8 not 7", "fact"),
    ],
)
def test_news_and_hopes_are_read(said: str, text: str, kind: str) -> None:
    fact = only(said)
    assert (fact.text, fact.type) == (text, kind)
