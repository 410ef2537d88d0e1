"""What is said day by day: rounds of a person and the assistant, and the questions that are put at each month's end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from evals.year.people import Fact, Person
from evals.year.words import LANGUAGES, Speaker

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
    about: Fact | None = None
    """What the person tells in it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question at the end of a month; right is an answer that names the value."""

    fact: Fact
    language: str
    text: str


def rounds(one: Person) -> Iterator[Round]:
    """The whole year of one person, in order."""
    speaker = one.speaker("rounds")
    rng = speaker.rng
    about, needs = _by_day(one)
    for day in range(one.days):
        expected = 0 if rng.random() < _IDLE else max(1, round(rng.gauss(ROUNDS_A_DAY / (1 - _IDLE), 3)))
        planned = [(fact, False) for fact in about[day]] + [(fact, True) for fact in needs[day]]
        filler: list[tuple[Fact | None, bool]] = [(None, False)] * max(0, expected - len(planned))
        turns: list[tuple[Fact | None, bool]] = [*planned, *filler]
        rng.shuffle(turns)
        minutes = sorted(rng.sample(range(7 * 60, 23 * 60), len(turns)))
        for (fact, is_need), minute in zip(turns, minutes, strict=True):
            at = START + timedelta(days=day, minutes=minute)
            yield (
                _asking(one, fact, at=at, speaker=speaker)
                if fact is not None and is_need
                else _telling(fact, speaker, at=at, day=day)
                if fact is not None
                else _chat(speaker, at)
            )


def questions(one: Person, day: int) -> list[Asked]:
    """What is asked at the end of a day about what is known and true by then, in both languages."""
    known = [fact for fact in one.facts if fact.said_on[0] < day and (fact.until is None or fact.until >= day)]
    return [Asked(fact, language, one.question_of_exam(fact, language)) for fact in known for language in LANGUAGES]


def _by_day(one: Person) -> tuple[dict[int, list[Fact]], dict[int, list[Fact]]]:
    about: dict[int, list[Fact]] = defaultdict(list)
    needs: dict[int, list[Fact]] = defaultdict(list)
    for fact in one.facts:
        for day in fact.said_on:
            about[day].append(fact)
        for day in fact.needed_on:
            needs[day].append(fact)
    return about, needs


def _asking(one: Person, fact: Fact, *, at: datetime, speaker: Speaker) -> Round:
    talk, rng = speaker.words["talk"], speaker.rng
    known = speaker.say(rng.choice(talk["recalled"]), value=fact.value)
    need = Need(fact, known, rng.choice(talk["unknown"]))
    return Round(at, rng.choice(one.questions_in_talk(fact)), "", need)


def _telling(fact: Fact, speaker: Speaker, *, at: datetime, day: int) -> Round:
    """What is so, often in the middle of something else."""
    talk, rng = speaker.words["talk"], speaker.rng
    said = _wording(fact, speaker, day=day)
    if fact.group == "habit":
        return Round(at, said, speaker.say(rng.choice(talk["small_replies"])), about=fact)
    said = speaker.dressed(said)
    if rng.random() < 0.3:
        said = speaker.joined(speaker.say(rng.choice(talk["small"])), said)
    return Round(at, said, speaker.say(rng.choice(talk["acknowledge"]), value=fact.value), about=fact)


def _wording(fact: Fact, speaker: Speaker, *, day: int) -> str:
    """One of the ways to say it; on the day of a change the words for that."""
    rng, words = speaker.rng, speaker.words
    if fact.group == "event":
        return speaker.say(words["events"][int(fact.attribute)]["say"], value=fact.value)
    if fact.group == "habit":
        return speaker.say(rng.choice(words["habits"][fact.attribute]["say"]))
    ways = words["facts"][fact.attribute]
    if fact.old is not None and day == fact.said_on[0]:
        return speaker.say(rng.choice(ways["change"]), value=fact.value, old=fact.old)
    return speaker.say(rng.choice(ways["say"]), value=fact.value)


def _chat(speaker: Speaker, at: datetime) -> Round:
    """Small talk, tasks, and what other people do."""
    talk, rng = speaker.words["talk"], speaker.rng
    kind = rng.choice(_KINDS)
    if kind == "task":
        said, reply = speaker.exchange(rng.choice(talk["tasks"]))
        return Round(at, speaker.dressed(said) if rng.random() < 0.15 else said, reply)
    said = speaker.say(rng.choice(talk[kind]))
    if kind == "small" and rng.random() < 0.25:
        said = speaker.joined(said, speaker.say(rng.choice(talk["small"])))
    return Round(at, said, speaker.say(rng.choice(talk["small_replies"])))
