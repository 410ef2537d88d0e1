"""Who the people are: what is true of them and from when until when, what they do every week, what happens to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import exp
from random import Random
from typing import Any

from evals.year.words import LANGUAGES, Speaker, attributes, words

DAYS = 365
_EVENTS_A_WEEK = 1.2


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that is true of a person for some time, and the days on which it is spoken of."""

    id: str
    group: str
    """`identity`, `allergy`, `health`, `family`, `home`, `job`, `preference`, `belongings`, `goals`; `habit` for what
    is done every week, `event` for what happens once."""
    attribute: str
    value: str
    said_on: tuple[int, ...]
    """Days, from 0; the first is the day from which it is known."""
    until: int | None = None
    """Day from which it is no longer true; None if it lasts."""
    old: str | None = None
    """The value that it takes the place of."""
    needed_on: tuple[int, ...] = ()
    """Days on which the person needs it again and asks."""

    @property
    def is_lasting(self) -> bool:
        """Still true at the end, and more than a single happening or a custom."""
        return self.until is None and self.group not in {"event", "habit"}


@dataclass
class Person:
    """One invented user."""

    user: str
    language: str
    taken: list[frozenset[str]] = field(default_factory=list)
    """Content words of the values that mean something about this person."""
    facts: list[Fact] = field(default_factory=list)
    days: int = DAYS
    seed: int = 1

    def speaker(self, what: str) -> Speaker:
        """This person's voice, with chances of its own for everything that is drawn with it."""
        return Speaker(self.language, Random(f"{self.seed}/{self.user}/{what}"), self.taken)

    def questions_in_talk(self, fact: Fact) -> list[str]:
        """Ways in which the person asks for a fact. Exams put it in other words, where there are several."""
        asked = self._questions(fact, self.language)
        return asked[:-1] or asked

    def question_of_exam(self, fact: Fact, language: str) -> str:
        """How a fact is asked for at a month's end."""
        return self._questions(fact, language)[-1]

    def _questions(self, fact: Fact, language: str) -> list[str]:
        if fact.group == "event":
            return [words(language)["events"][int(fact.attribute)]["ask"]]
        kind = "habits" if fact.group == "habit" else "facts"
        asked: list[str] = words(language)[kind][fact.attribute]["ask"]
        return asked


def person(number: int, *, seed: int, days: int = DAYS) -> Person:
    """User `number` of the world `seed`; even numbers speak Chinese, odd ones English."""
    language = LANGUAGES[number % 2]
    item = Person(f"year-{number:02d}-{language}", language, days=days, seed=seed)
    speaker = item.speaker("facts")
    for name, attribute in attributes().items():
        if speaker.rng.random() < attribute["chance"]:
            item.facts += _facts_of(item, name, attribute=attribute, speaker=speaker)
    for name in speaker.rng.sample(sorted(words(language)["habits"]), 3):
        item.facts.append(_habit(item, name, rng=speaker.rng))
    item.facts += _events(item, speaker)
    return item


def _facts_of(one: Person, name: str, *, attribute: Mapping[str, Any], speaker: Speaker) -> Iterator[Fact]:
    """The fact, and where it changes in the course of the year the one that follows it."""
    rng, values = speaker.rng, words(one.language)["facts"][name]["values"]
    value = speaker.take(values)
    if value is None:
        return
    first = _first_day(rng, one.days)
    changed = None
    if rng.random() < attribute.get("changes", 0.0) and first + 30 < one.days - 45:
        changed = rng.randrange(first + 30, one.days - 45)
    following = speaker.take(values) if changed is not None else None
    until = changed if following is not None else None
    yield Fact(
        f"{one.user}/{name}",
        attribute["group"],
        name,
        value,
        _said(rng, first, until=until or one.days, mean=attribute["repeats"] * (0.6 if until else 1.0)),
        until,
        None,
        _needed(rng, first, until=until or one.days, mean=attribute["asked"]),
    )
    if until is not None and following is not None:
        yield Fact(
            f"{one.user}/{name}/2",
            attribute["group"],
            name,
            following,
            _said(rng, until, until=one.days, mean=attribute["repeats"] * 0.6),
            None,
            value,
            _needed(rng, until, until=one.days, mean=attribute["asked"] * 0.6),
        )


def _first_day(rng: Random, days: int) -> int:
    """Most of what is to know is told in the first weeks, some of it late."""
    if rng.random() < 0.15:
        return rng.randrange(days // 6, days * 4 // 5)
    return min(int(rng.expovariate(15 / days)), days // 2)


def _said(rng: Random, first: int, *, until: int, mean: float) -> tuple[int, ...]:
    later = [rng.randrange(first, until) for _ in range(_poisson(rng, mean))] if until > first else []
    return (first, *sorted(later))


def _needed(rng: Random, first: int, *, until: int, mean: float) -> tuple[int, ...]:
    """Half of the needs follow within weeks, the others at any time."""
    days = []
    for _ in range(_poisson(rng, mean)):
        after = 1 + (rng.expovariate(1 / 12) if rng.random() < 0.5 else rng.random() * (until - first))
        days.append(first + int(after))
    return tuple(sorted(day for day in days if day < until))


def _habit(one: Person, name: str, *, rng: Random) -> Fact:
    """Done on the same days of every week; spoken of on most of them."""
    weekdays = rng.sample(range(7), rng.choice((1, 2, 3, 3, 4)))
    begins = rng.randrange(0, 40)
    days = [day for day in range(begins, one.days) if day % 7 in weekdays and rng.random() < 0.6]
    value = words(one.language)["habits"][name]["value"]
    return Fact(f"{one.user}/{name}", "habit", name, value, tuple(days or [begins]))


def _events(one: Person, speaker: Speaker) -> Iterator[Fact]:
    """What happens once. No two of one kind within seven weeks, so that a question means one of them."""
    rng = speaker.rng
    kinds = words(one.language)["events"]
    last: dict[int, int] = {}
    for number, day in enumerate(_event_days(rng, one.days)):
        free = [kind for kind in range(len(kinds)) if day - last.get(kind, -99) > 49]
        if not free:
            continue
        kind = rng.choice(free)
        last[kind] = day
        value = rng.choice([value for value in kinds[kind]["values"] if not speaker.names_taken(value)])
        yield Fact(f"{one.user}/event-{number}", "event", str(kind), value, (day,), min(day + 45, one.days))


def _event_days(rng: Random, days: int) -> list[int]:
    return sorted(rng.randrange(days) for _ in range(round(_EVENTS_A_WEEK * days / 7)))


def _poisson(rng: Random, mean: float) -> int:
    """A draw from the Poisson distribution, by Knuth's product of uniform numbers."""
    limit, product, count = exp(-mean), rng.random(), 0
    while product > limit:
        product *= rng.random()
        count += 1
    return count
