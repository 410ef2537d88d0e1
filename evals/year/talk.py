"""What is said day by day: rounds of a person and the assistant, and the questions that are put at each month's end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from evals.year.people import DAYS, Fact, Person, person
from evals.year.words import LANGUAGES

START = datetime(2025, 1, 1, tzinfo=UTC)
ROUNDS_A_DAY = 10
_IDLE = 0.07
"""Share of the days on which nothing is said."""
_KINDS = ("small", "small", "small", "task", "task", "others")
MONTH_ENDS = (31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365)


@dataclass(frozen=True, slots=True)
class Need:
    """A question inside the talk: the assistant has to know, and what it says depends on whether it does."""

    fact: Fact
    known: str
    """The assistant's reply when the memory brings the answer back."""
    unknown: str


@dataclass(frozen=True, slots=True)
class Round:
    """What a person says, and the assistant's reply."""

    at: datetime
    said: str
    reply: str
    need: Need | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question at the end of a month; right is an answer that names the value."""

    fact: Fact
    language: str
    text: str


def people(users: int, *, seed: int = 1, days: int = DAYS) -> list[Person]:
    """The first `users` people of a world."""
    return [person(number, seed=seed, days=days) for number in range(users)]


def rounds(one: Person) -> Iterator[Round]:
    """The whole year of one person, in order."""
    rng = Random(f"{one.user}/rounds/{one.speaker.rng.random()}")
    one.speaker.rng = rng
    about, needs = _by_day(one)
    for day in range(one.days):
        wanted = 0 if rng.random() < _IDLE else max(1, round(rng.gauss(ROUNDS_A_DAY / (1 - _IDLE), 3)))
        planned = [(fact, False) for fact in about[day]] + [(fact, True) for fact in needs[day]]
        filler: list[tuple[Fact | None, bool]] = [(None, False)] * max(0, wanted - len(planned))
        turns: list[tuple[Fact | None, bool]] = [*planned, *filler]
        rng.shuffle(turns)
        minutes = sorted(rng.sample(range(7 * 60, 23 * 60), len(turns)))
        for (fact, is_need), minute in zip(turns, minutes, strict=True):
            at = START + timedelta(days=day, minutes=minute)
            yield _round(one, fact, at=at, day=day, is_need=is_need)


def questions(one: Person, day: int) -> list[Asked]:
    """What is asked at the end of a day about what is known and true by then, in both languages."""
    rng = Random(f"{one.user}/questions/{day}")
    known = [fact for fact in one.facts if fact.said_on[0] < day and (fact.until is None or fact.until >= day)]
    return [
        Asked(fact, language, rng.choice(one.questions_about(fact, language)))
        for fact in known
        for language in LANGUAGES
    ]


def _by_day(one: Person) -> tuple[dict[int, list[Fact]], dict[int, list[Fact]]]:
    about: dict[int, list[Fact]] = defaultdict(list)
    needs: dict[int, list[Fact]] = defaultdict(list)
    for fact in one.facts:
        for day in fact.said_on:
            about[day].append(fact)
        for day in fact.needed_on:
            needs[day].append(fact)
    return about, needs


def _round(one: Person, fact: Fact | None, *, at: datetime, day: int, is_need: bool) -> Round:
    speaker = one.speaker
    talk = speaker.words["talk"]
    if fact is not None and is_need:
        known, unknown = speaker.rng.choice(talk["recalled"]), speaker.rng.choice(talk["unknown"])
        asked = speaker.rng.choice(one.questions_about(fact, one.language))
        return Round(at, asked, "", Need(fact, speaker.say(known, value=fact.value), unknown))
    if fact is not None:
        reply = speaker.say(speaker.rng.choice(talk["acknowledge"]), value=fact.value)
        return Round(at, _told(one, fact, day=day), reply if fact.group != "habit" else _small_reply(one))
    kind = speaker.rng.choice(_KINDS)
    if kind == "task":
        said, reply = speaker.exchange(speaker.rng.choice(talk["tasks"]))
        return Round(at, speaker.dressed(said) if speaker.rng.random() < 0.15 else said, reply)
    said = speaker.say(speaker.rng.choice(talk[kind]))
    if kind == "small" and speaker.rng.random() < 0.25:
        said = f"{said}{'' if one.language == 'zh' else ' '}{speaker.say(speaker.rng.choice(talk['small']))}"
    return Round(at, said, _small_reply(one))


def _small_reply(one: Person) -> str:
    return one.speaker.say(one.speaker.rng.choice(one.speaker.words["talk"]["small_replies"]))


def _told(one: Person, fact: Fact, *, day: int) -> str:
    """One of the ways to say it; on the day of a change the words for that."""
    speaker = one.speaker
    if fact.group == "event":
        return speaker.dressed(speaker.say(speaker.words["events"][int(fact.attribute)]["say"], value=fact.value))
    if fact.group == "habit":
        return speaker.say(speaker.rng.choice(speaker.words["habits"][fact.attribute]["say"]))
    ways = speaker.words["facts"][fact.attribute]
    if fact.old is not None and day == fact.said_on[0]:
        return speaker.dressed(speaker.say(speaker.rng.choice(ways["change"]), value=fact.value, old=fact.old))
    return speaker.dressed(speaker.say(speaker.rng.choice(ways["say"]), value=fact.value))
