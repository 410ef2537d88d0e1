"""How one rule of a time grammar reads a text, and how a set of rules finds the expressions in it.

A rule is a pattern, a function that reads a match, and the words with which it can begin. One walk over the text looks
for such words; where one stands, its few rules are tried and the longest reading counts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import lru_cache, partial
from importlib.resources import files
from typing import Any, Final, Literal, NamedTuple

from ebbing.language.dates.calendar import Direction, Period, TimeOfDay, date, day, nearest

_SENTENCE_END: Final = re.compile(r"[.!?;。!?;\n]")
_CLAUSE_END: Final = re.compile(r"[,，、:：]|\b(?:and|but|so|then|while)\b|然后|但")
FIRST_YEAR, LAST_YEAR = 1000, 3000
"""No date outside these years is read, so that no later step can leave the calendar."""
MOST_FOUND: Final = 200
"""Expressions read in one text; a list of dates longer than that is no sentence."""
DOUBTFUL_YEAR: Final = timedelta(days=92)
"""A date without a year that is nearer than this is meant more often than one that its tense asks for. One that is
further away is placed by a tense alone: "due on 12 December", said in May, is no day of last year."""
DOUBTFUL_DAY: Final = timedelta(days=10)
"""A day of a month that is not named is placed by a tense alone where it is further away."""
CUES_LOOKED_AT: Final = 160
"""Characters on either side of a date in which its tense is looked for."""


Guess = Literal["", "week", "month", "year", "extent"]
"""What of a date is guessed: the week of a bare weekday, the month of a bare day, the year, or how far it reaches."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What an expression means: a period, and how it came to it."""

    period: Period
    explicit: bool = False
    """The text names the date itself, year included: it means the same at any `now`."""
    yearless: bool = False
    """The text names the date but for its year."""
    doubtful: bool = False
    """Its tense and its distance disagree about the year ("pushed to April 9th", said in March), or neither tells."""
    guess: Guess = ""
    """What of it the text does not name."""
    bare_clock: bool = False
    """Its clock time names no half of the day."""
    in_year: Callable[[int], Period] | None = field(default=None, compare=False)
    """When it falls in another year, for a feast that the moon moves; raises `ValueError` where no table reaches."""


@dataclass(frozen=True, slots=True)
class Token:
    """A reading and where it stands: `text[begin:finish]`."""

    begin: int
    finish: int
    value: Reading | TimeOfDay


@dataclass(slots=True)
class DateContext:
    """A text and the moment it was said. Not frozen, since every search makes one."""

    text: str
    folded: str
    """The same characters in lower case and simplified, each at its place."""
    now: datetime
    lean: Direction = "none"
    """Which way a date looks that neither its words nor the tense of its sentence place; `none`: the nearest."""

    def yearly(self, period: Callable[[datetime, int], Period], direction: Direction) -> Reading:
        """What falls once a year, in the year that the direction or else the distance suggests."""
        years = years_around(self, period)
        reading = self.unmarked(years, direction)
        closest = nearest(years, self.now, direction="none")
        is_close = abs(closest.start - self.now) < DOUBTFUL_YEAR
        is_placed = direction != "none" or self.lean != "none"
        doubtful = (closest != reading.period) if is_close else not is_placed
        return replace(reading, in_year=partial(period, self.now), doubtful=doubtful, guess="year")

    def unmarked(self, periods: Iterable[Period], direction: Direction) -> Reading:
        """One of several periods that the text does not tell apart: the tense decides, else the distance."""
        way = self.lean if direction == "none" else direction
        return Reading(nearest(periods, self.now, direction=way), yearless=True)

    def lone_day(self, days: Sequence[Period], direction: Direction) -> Reading:
        """A day of a month that is not named, doubtful where the tense asks for another one than the nearest, and where
        without a tense the one before and the one after are about as near."""
        period = self.unmarked(days, direction).period
        is_placed = direction != "none" or self.lean != "none"
        is_far = not is_placed and abs(period.start - self.now) > DOUBTFUL_DAY
        is_other = period != nearest(days, self.now, direction="none")
        return Reading(period, doubtful=is_far or is_other, guess="month")


Read = Callable[["re.Match[str]", DateContext], Reading | TimeOfDay | None]


class Rule(NamedTuple):
    """One shape of time expression. `heads`: the words or characters it can begin with; "0" stands for figures."""

    pattern: str
    read: Read
    heads: Iterable[str]


class Grammar:
    """The rules of one language. `head` finds where an expression may begin, `glance` whatever looks like its head."""

    def __init__(self, head: re.Pattern[str], rules: Iterable[Rule], *, glance: Callable[[str], Iterable[str]]) -> None:
        self._head, self._glance = head, glance
        self._by_head: dict[str, list[tuple[re.Pattern[str], Read]]] = {}
        for rule in rules:
            compiled = re.compile(rule.pattern)
            for item in dict.fromkeys(rule.heads):
                self._by_head.setdefault(item, []).append((compiled, rule.read))
        self._heads = frozenset("0123456789").union(self._by_head)

    def tokens(self, context: DateContext) -> list[Token]:
        """The expressions of a text, in order, without overlap; no more than `MOST_FOUND`."""
        # Most questions name no time: a glance takes a third of the time of the walk.
        return [*self._walk(context)] if self.may_find(context.folded) else []

    def may_find(self, folded: str) -> bool:
        """Whether anything in the text looks like the head of an expression."""
        return not self._heads.isdisjoint(self._glance(folded))

    def _walk(self, context: DateContext) -> Iterator[Token]:
        finish, count = 0, 0
        for head in self._head.finditer(context.folded):
            word = head[0]
            rules = self._by_head.get("0" if "0" <= word[0] <= "9" else word)
            if rules is None or head.start() < finish:
                continue
            token = _longest(rules, context, begin=head.start())
            if token:
                yield token
                finish, count = token.finish, count + 1
            if count >= MOST_FOUND:
                return


def _longest(rules: list[tuple[re.Pattern[str], Read]], context: DateContext, *, begin: int) -> Token | None:
    matches = [(match, read) for pattern, read in rules if (match := pattern.match(context.folded, begin))]
    if len(matches) > 1:
        matches.sort(key=lambda pair: -pair[0].end())
    for match, read in matches:
        try:
            value = read(match, context)
        except (ValueError, OverflowError):  # the 30th of February, or a year that no calendar holds
            continue
        if value is not None and _is_near(value):
            return Token(begin, match.end(), value)
    return None


def _is_near(value: Reading | TimeOfDay) -> bool:
    if isinstance(value, TimeOfDay):
        return True
    return value.period.start.year >= FIRST_YEAR and value.period.end.year <= LAST_YEAR


@lru_cache(maxsize=1)
def pack() -> Mapping[str, Any]:
    """The words of `packs/dates.toml`."""
    return tomllib.loads((files("ebbing.language") / "packs" / "dates.toml").read_text("utf-8"))


@dataclass(frozen=True)
class Tense:
    """The words that say whether a sentence looks back or ahead."""

    cues: re.Pattern[str]

    def at(self, context: DateContext, begin: int, *, finish: int, in_clause: bool = False) -> Direction:
        """Which way the nearest cue in the same sentence, or clause, points; `none` if there is none."""
        before = _SENTENCE_END.split(context.folded[max(0, begin - CUES_LOOKED_AT) : begin])[-1]
        after = _SENTENCE_END.split(context.folded[finish : finish + CUES_LOOKED_AT], maxsplit=1)[0]
        best: tuple[int, Direction] = (CUES_LOOKED_AT * 3, "none")
        for cue in self.cues.finditer(before):
            best = min(best, (_distance(before[cue.end() :]), _pointing(cue)))
        first = self.cues.search(after)
        if first:
            best = min(best, (_distance(after[: first.start()]), _pointing(first)))
        return "none" if in_clause and best[0] >= CUES_LOOKED_AT else best[1]


def _distance(between: str) -> int:
    """Characters to a cue; one beyond the clause is further away than any within it."""
    return len(between) + (CUES_LOOKED_AT if _CLAUSE_END.search(between) else 0)


def _pointing(cue: re.Match[str]) -> Direction:
    return "past" if cue.lastgroup == "past" else "future"


class Holiday(NamedTuple):
    """A feast and how it falls in a year."""

    on: tuple[str, ...] = ()
    nth: tuple[int, ...] = ()
    moon: str = ""
    shift: int = 0
    days: int = 1

    def period(self, at: datetime, year: int) -> Period:
        """When it falls in a year, in the zone of `at`. Raises `ValueError` where no table reaches."""
        if self.nth:
            month, weekday, which = self.nth
            first = date(at, year=year, month=month, day=1).start
            if which < 0:
                last = day(date(at, year=year, month=month + 1, day=1).start, -1).start
                return day(last, -((last.weekday() - weekday) % 7) + 7 * (which + 1))
            return day(first, (weekday - first.weekday()) % 7 + 7 * (which - 1))
        if self.moon:
            begun = day(_moon_day(self.moon, at, year=year), self.shift)
            return begun if self.days == 1 else Period(begun.start, day(begun.start, self.days - 1).end, "range")
        ends = [date(at, year=year, month=int(on[:2]), day=int(on[3:])) for on in self.on]
        return replace(ends[0], end=ends[1].end, grain="range") if len(ends) > 1 else ends[0]


def _moon_day(table: str, at: datetime, *, year: int) -> datetime:
    moon = pack()["moon"]
    days = moon[table].split()
    index = year - moon["first_year"]
    if not 0 <= index < len(days):
        raise ValueError("no table of the moon for this year")
    return date(at, year=year, month=int(days[index][:2]), day=int(days[index][2:])).start


@lru_cache(maxsize=1)
def holidays() -> Mapping[str, Holiday]:
    """Every feast by each of its names."""
    return {
        name: Holiday(
            on=tuple(entry.get("on", "").split()),
            nth=tuple(entry.get("nth", ())),
            **{key: entry[key] for key in ("moon", "shift", "days") if key in entry},
        )
        for entry in pack()["holiday"]
        for name in entry["names"].split("|")
    }


def years_around(context: DateContext, period: Callable[[datetime, int], Period]) -> list[Period]:
    """What falls once a year, in the years around now: at least one that is over and one that is yet to begin.

    Two years each way will do, but for the 29th of February. Raises `ValueError` if no year has it.
    """
    for reach in (2, 8, 12):
        periods = []
        for number in range(context.now.year - reach, context.now.year + reach + 1):
            try:
                periods.append(period(context.now, number))
            except ValueError:  # no such day in this year
                continue
        if any(item.end <= context.now for item in periods) and any(item.start > context.now for item in periods):
            return periods
    raise ValueError("no year has such a day")
