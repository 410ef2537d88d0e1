"""English time expressions.

Choices: "last Friday" is the latest Friday
before today, "next Friday" the Friday of next week, "Friday" the nearest one in the tense of its sentence. "Three weeks
ago" is a whole calendar week, "two months ago" a whole month.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Final

from ebbing.language import dates_calendar as calendar
from ebbing.language import dates_figures
from ebbing.language.dates_calendar import Direction, Period, TimeOfDay
from ebbing.language.dates_rules import Grammar, Reading, Rule, Said, Tense, holidays, pack, years_around

_WORDS: Final = pack()["en"]
_MONTH: Final = _WORDS["month_pattern"]
_WEEKDAY: Final = _WORDS["weekday_pattern"]
_SEASON: Final = "|".join(_WORDS["seasons"])
_UNIT: Final = "minute|min|hour|day|week|weekend|month|quarter|year|decade"
_WORD_NUMBER: Final = "|".join((*_WORDS["numbers"].split()[1:], *_WORDS["tens"]))
_NUMBER: Final = (
    rf"\d{{1,4}}(?:\.5)?|(?:{'|'.join(_WORDS['tens'])})-(?:one|two|three|four|five|six|seven|eight|nine)|{_WORD_NUMBER}"
)
_COUNT: Final = (
    rf"(?P<n>{_NUMBER}|(?:a\s+)?couple(?:\s+of)?|(?:a\s+|the\s+)?few|several|half\s+an?|an?)"
    rf"(?P<half>\s+and\s+a\s+half)?\s+(?P<unit>{_UNIT})s?\b(?P<half_after>\s+and\s+a\s+half)?"
)
_YEAR: Final = r"(?:,?\s+(?:of\s+)?(?P<y>(?:1[89]|20)\d\d)(?![\d:])|,?\s+(?:of\s+)?(?P<ry>last|this|next)\s+year\b)?"
_ORDINAL: Final = "|".join(_WORDS["ordinals"])
_BEFORE: Final = re.compile(
    r"(?P<plain>\b(?:in|since|during|until|till|before|after|of|between|early|late|mid|mid-|end\sof|around|throughout"
    r"|and|through|for|on)\s(?:the\s)?)$"
)
_DEFINITE: Final = re.compile(r"\b(?:in|over|within|during|for|throughout)\sthe\s$")


@lru_cache(maxsize=1)
def tense() -> Tense:
    """The words that tell whether a sentence looks back or ahead."""
    return Tense(re.compile(rf"\b(?P<past>{_WORDS['past']})\b|(?:\b|(?='))(?P<future>{_WORDS['future']})\b"))


@lru_cache(maxsize=1)
def grammar() -> Grammar:
    """All rules of English."""
    return Grammar(dates_figures.START, tuple(_rules()))


def _tense(match: re.Match[str], said: Said) -> Direction:
    return tense().at(said, match.start(), match.end())


def _before(match: re.Match[str], said: Said, pattern: re.Pattern[str]) -> bool:
    return bool(pattern.search(said.folded[max(0, match.start() - 16) : match.start()]))


def _month_number(name: str) -> int:
    return int(_WORDS["months"].index(name[:3])) + 1


def _ordinal_number(word: str) -> int:
    return int(_WORDS["ordinals"].index(word)) + 1


_SHIFT: Final = {"last": -1, "previous": -1, "past": -1, "this past": -1, "this": 0, "current": 0}
_LOOKS: Final = {"last": "past", "previous": "past", "past": "past", "this past": "past"}


def _shift(word: str) -> int:
    return _SHIFT.get(word, 1)


# ── days and months by name ──────────────────────────────────────────────────────────────────────────────────────────


def _in_year(match: re.Match[str], said: Said, period: Callable[[datetime, int], Period]) -> Reading:
    """What falls once a year, in the year that the match names, else in the one that the tense asks for."""
    if match["y"]:
        return Reading(period(said.now, int(match["y"])), explicit=True)
    if match["ry"]:
        return Reading(period(said.now, said.now.year + _shift(match["ry"])))
    return said.yearly(period, _tense(match, said))


def _day_of_month(match: re.Match[str], said: Said) -> Reading | None:
    name, day, last = match["mon"], int(match["d"]), match["d2"]
    sure = match["y"] or match["ry"] or match["th"] or last
    if not sure and name in {"may", "march", "mar", "sat"} and not said.text[match.start("mon")].isupper():
        return None

    def period(at: datetime, year: int) -> Period:
        first = calendar.date(at, year=year, month=_month_number(name), day=day)
        if not last:
            return first
        until = calendar.date(at, year=year, month=_month_number(name), day=int(last))
        if until.start <= first.start:
            raise ValueError("days run backwards")
        return Period(first.start, until.end, "range")

    return _in_year(match, said, period)


def _month_of_year(match: re.Match[str], said: Said) -> Reading | None:
    name = match["mon"]
    if not (match["y"] or match["ry"]) and not _names_a_month(match, said):
        return None
    return _in_year(match, said, lambda at, year: _month(at, year, name))


def _month(at: datetime, year: int, name: str) -> Period:
    return calendar.month(calendar.date(at, year=year, month=_month_number(name), day=1).start)


def _names_a_month(match: re.Match[str], said: Said) -> bool:
    """A lone month name counts if nothing else is called so, or if it is written and introduced like a month."""
    if match["mon"] in _WORDS["plain_months"]:
        return True
    introduced = _before(match, said, _BEFORE)
    return introduced and (said.text[match.start("mon")].isupper() or said.text.islower())


def _relative_month(match: re.Match[str], said: Said) -> Reading:
    name, word = match["mon"], match["rel"]
    if word == "this":
        return Reading(_month(said.now, said.now.year, name))
    every = [one for one in years_around(said, lambda at, year: _month(at, year, name))]
    if _shift(word) < 0:
        return Reading([one for one in every if one.end <= said.now][-1])
    return Reading(next(one for one in every if one.start > said.now))


def _month_to_month(match: re.Match[str], said: Said) -> Reading | None:
    if match["and"] and not _before(match, said, re.compile(r"\bbetween\s$")):
        return None

    def period(at: datetime, year: int) -> Period:
        until = _month(at, year, match["mon"])
        begun = _month(at, int(match["y1"]) if match["y1"] else year, match["m1"])
        if begun.start > until.start:
            begun = _month(at, year - 1, match["m1"])
        return Period(begun.start, until.end, "range")

    return _in_year(match, said, period)


def _decade(match: re.Match[str], said: Said) -> Reading:
    tens = int(match["tens"])
    century = int(match["century"]) if match["century"] else (20 if tens <= 20 else 19)
    return Reading(calendar.decade(calendar.in_year(said.now, century * 100 + tens)), explicit=True)


def _lone_day(match: re.Match[str], said: Said) -> Reading:
    months = [calendar.month(said.now, shift) for shift in (-1, 0, 1)]
    if match["rel"]:
        months = [calendar.month(said.now, _shift(match["rel"]))]
    number = int(match["d"])
    days = [calendar.day(one.start, number - 1) for one in months if number <= (one.end - one.start).days]
    if match["rel"]:
        return Reading(days[0])
    found = said.unmarked(days, _tense(match, said))
    return Reading(found.period)


def _part_of_month(match: re.Match[str], said: Said) -> Reading | None:
    """The first week of June, the last Friday of the month."""
    which, what = match["ord"], match["what"]

    def period(at: datetime, year: int) -> Period:
        return _nth(_month(at, year, match["mon"]), which, what)

    if match["mon"]:
        return _in_year(match, said, period)
    return Reading(_nth(calendar.month(said.now, _shift(match["rel"] or "this")), which, what))


def _nth(month: Period, which: str, what: str) -> Period:
    last = which == "last"
    count = 1 if last else _ordinal_number(which)
    if what == "week":
        days = (month.end - month.start).days
        first = days - 7 if last else min(7 * (count - 1), days - 2)
        return Period(month.start + first * calendar.DAY, month.start + min(first + 7, days) * calendar.DAY, "week")
    if what == "day":
        return calendar.day(month.end, -1) if last else calendar.day(month.start, count - 1)
    number = 5 if what == "weekend" else int(_WORDS["weekdays"].index(what[:3]))
    if last:
        found = calendar.weekday_before(month.end, number)
    else:
        found = calendar.day(calendar.weekday_after(month.start - calendar.DAY, number).start, 7 * (count - 1))
    if found.start >= month.end:
        raise ValueError("no fifth one in this month")
    return Period(found.start, found.start + 2 * calendar.DAY, "range") if what == "weekend" else found


def _quarter_or_half(match: re.Match[str], said: Said) -> Reading:
    year = int(match["y"]) if match["y"] else said.now.year + _shift(match["ry"] or "this")
    at = calendar.in_year(said.now, year)
    if match["q"]:
        found = calendar.quarter(at, int(match["q"]) - 1)
    else:
        found = calendar.half_year(at, 0 if match["h"] == "first" else 1)
    return Reading(found, explicit=True) if match["y"] else Reading(found)


# ── seasons and feasts ───────────────────────────────────────────────────────────────────────────────────────────────


def _season_period(at: datetime, year: int, name: str) -> Period:
    return calendar.season(calendar.in_year(at, year), _WORDS["seasons"][name])


def _season(match: re.Match[str], said: Said) -> Reading | None:
    name = match["season"]
    if not (match["y"] or match["ry"]) and (
        _tense(match, said) == "none"
        or not _before(match, said, re.compile(r"\b(?:in|during|over|since)\sthe\s$|\bin\s$"))
    ):
        return None
    return _in_year(match, said, lambda at, year: _season_period(at, year, name))


def _relative_season(match: re.Match[str], said: Said) -> Reading:
    every = years_around(said, lambda at, year: _season_period(at, year, match["season"]))
    shift = _shift(match["rel"])
    if shift < 0:
        return Reading([one for one in every if one.end <= said.now][-1])
    if shift > 0:
        return Reading(next(one for one in every if one.start > said.now))
    return Reading(calendar.nearest(every, said.now, "none"))


def _holiday(match: re.Match[str], said: Said) -> Reading:
    feast = holidays()[match["feast"].replace("’", "'")]
    word = match["rel"]
    if word and match["y"] is None and match["ry"] is None:
        every = years_around(said, feast.period)
        if _shift(word) < 0:
            return Reading([one for one in every if one.end <= said.now][-1])
        if _shift(word) > 0:
            return Reading(next(one for one in every if one.start > said.now))
        return Reading(feast.period(said.now, said.now.year))
    found = _in_year(match, said, feast.period)
    return Reading(found.period, explicit=found.explicit)


# ── distances from now ───────────────────────────────────────────────────────────────────────────────────────────────

_DAYS: Final = {
    "day before yesterday": -2,
    "yesterday": -1,
    "yday": -1,
    "today": 0,
    "day after tomorrow": 2,
    "tomorrow": 1,
    "tmrw": 1,
    "tmr": 1,
}


def _named_day(match: re.Match[str], said: Said) -> Reading:
    return Reading(calendar.day(said.now, _DAYS[re.sub(r"\s+", " ", match["name"])]))


def _named_night(match: re.Match[str], said: Said) -> Reading:
    which = match["rel"] or "this"
    part = match["part"] or "night"
    start, end = _WORDS["parts_of_day"][part]
    shift = -1 if which in {"last", "yesterday"} else 0
    end = min(end, 1440) if shift == 0 else end
    return Reading(calendar.at_time(calendar.day(said.now, shift), TimeOfDay(start, end)))


def _other_day(match: re.Match[str], said: Said) -> Reading:
    return Reading(calendar.away(said.now, "day", (-7, -1)))


def _relative_unit(match: re.Match[str], said: Said) -> Reading:
    """Last week, this month, the past year."""
    unit, word = match["unit"], match["rel"]
    if (word == "past" or (word == "last" and _before(match, said, _DEFINITE))) and unit not in {"weekend", "quarter"}:
        return Reading(calendar.stretch(said.now, unit, -1))
    return Reading(calendar.PERIODS[unit](said.now, _shift(word)))


def _second_unit(match: re.Match[str], said: Said) -> Reading:
    shift = -2 if match["twice"].endswith("last") else 2
    return Reading(calendar.PERIODS[match["unit"]](said.now, shift))


def _part_of_this(match: re.Match[str], said: Said) -> Reading | None:
    """Earlier this year, later this week, the end of the month."""
    whole = calendar.PERIODS[match["unit"]](said.now, 0)
    today = calendar.day(said.now)
    if match["edge"]:
        edge = {"end": "end", "middle": "mid"}.get(match["edge"], "start")
        return Reading(calendar.part(whole, edge))
    if match["el"] == "earlier":
        return Reading(Period(whole.start, today.end, "range"))
    return Reading(Period(today.start, whole.end, "range"))


def _relative_weekday(match: re.Match[str], said: Said) -> Reading | None:
    if len(match["wd"]) < 5 and match["wd"] in {"sun", "sat", "wed"} and not said.text[match.start("wd")].isupper():
        return None
    number, shift = _weekday_number(match["wd"]), match["rel"]
    if shift in _LOOKS:
        return Reading(calendar.weekday_before(said.now, number))
    if shift == "next":
        return Reading(calendar.weekday(said.now, number, weeks=1))
    if shift == "this":
        return Reading(calendar.weekday(said.now, number))
    return Reading(calendar.weekday_after(said.now, number))


def _weekday_number(name: str) -> int:
    return int(_WORDS["weekdays"].index(name[:3]))


def _weekday(match: re.Match[str], said: Said) -> Reading | None:
    name, number = match["wd"], _weekday_number(match["wd"])
    if re.search(
        r"\b(?:every|each|most|alternate)\s(?:other\s)?$", said.folded[max(0, match.start() - 16) : match.start()]
    ):
        return None
    if len(name) < 6 and not (
        said.text[match.start()].isupper() and _before(match, said, re.compile(r"\b(?:on|by|until)\s$"))
    ):
        return None
    days = [calendar.weekday_before(said.now, number), calendar.weekday_after(said.now, number)]
    if said.now.weekday() == number:
        days.insert(1, calendar.day(said.now))
    found = said.unmarked(days, _tense(match, said))
    return Reading(found.period)


def _weekdays_ago(match: re.Match[str], said: Said) -> Reading:
    number, what = int(_quantity(match["n"])[0]), match["wd"]
    if what.startswith("weekend"):
        return Reading(calendar.weekend(said.now, -number))
    return Reading(calendar.weekday_before(said.now, _weekday_number(what), number))


def _lone_weekend(match: re.Match[str], said: Said) -> Reading:
    found = said.unmarked([calendar.weekend(said.now, shift) for shift in (-1, 0, 1)], _tense(match, said))
    return Reading(found.period)


def _quantity(word: str) -> tuple[float, float]:
    word = re.sub(r"^(?:the\s+|a\s+)(?=couple|few)", "", word)
    if word in {"few", "several"}:
        return 2, 7
    if word.startswith("couple"):
        return 2, 3
    if word.startswith("half"):
        return 0.5, 0.5
    if word in {"a", "an"}:
        return 1, 1
    if word[0].isdigit():
        return float(word), float(word)
    tens, _, ones = word.partition("-")
    numbers = _WORDS["numbers"].split()
    value = _WORDS["tens"].get(tens) or numbers.index(tens)
    return (value + numbers.index(ones or "zero"),) * 2


def quantity(match: re.Match[str]) -> tuple[tuple[float, float], str]:
    """The count (lowest and highest) and the unit of a match of `COUNT`."""
    low, high = _quantity(match["n"])
    half = 0.5 if match["half"] or match["half_after"] else 0
    return (low + half, high + half), {"min": "minute"}.get(match["unit"], match["unit"])


def _ago(match: re.Match[str], said: Said) -> Reading:
    (low, high), unit = quantity(match)
    sign = -1 if match["way"] in {"ago", "back", "before now"} else 1
    return Reading(calendar.away(said.now, unit, (sign * low, sign * high)))


def _in_future(match: re.Match[str], said: Said) -> Reading | None:
    (low, high), unit = quantity(match)
    looks = _tense(match, said)
    if looks == "past" or (looks == "none" and (unit in {"minute", "hour"} or low < 2)):
        return None
    if match["prep"] == "within":
        return Reading(calendar.stretch(said.now, unit, high))
    return Reading(calendar.away(said.now, unit, (low, high)))


def _stretch(match: re.Match[str], said: Said) -> Reading:
    (_, high), unit = quantity(match)
    back = match["rel"] in {"last", "past", "previous"}
    return Reading(calendar.stretch(said.now, unit, -high if back else high))


# ── times of day ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _oclock(match: re.Match[str], _: Said) -> TimeOfDay | None:
    hour = int(_quantity(match["n"])[0])
    return TimeOfDay(60 * hour, 60 * hour + 60) if hour < 24 else None


def _part_of_day(match: re.Match[str], _: Said) -> TimeOfDay:
    start, end = _WORDS["parts_of_day"][match["part"]]
    return TimeOfDay(start, end)


def _rules() -> list[Rule]:
    parts = "|".join(_WORDS["parts_of_day"])
    feasts = "|".join(sorted((re.escape(name) for name in holidays() if name.isascii()), key=len, reverse=True))
    feasts = feasts.replace("'", "['’]")
    th = "(?:st|nd|rd|th)"
    counted = rf"(?!\s*(?:{_WORDS['counted']})\b)"
    return [
        *dates_figures.rules(),
        Rule(
            rf"(?P<mon>{_MONTH})\b\.?\s+(?:the\s+)?(?P<d>\d\d?)(?P<th>{th})?"
            rf"(?:\s*(?:-|–|to|through|until)\s*(?P<d2>\d\d?){th}?)?(?![\d%]|[:.,]\d){counted}{_YEAR}",
            _day_of_month,
        ),
        Rule(
            rf"(?P<d>\d\d?){th}?(?:\s*(?:-|–|to|through|until|and)\s*(?P<d2>\d\d?){th}?)?\s+(?P<th>of\s+)?"
            rf"(?P<mon>{_MONTH})\b\.?{_YEAR}",
            _day_of_month,
        ),
        Rule(
            rf"(?P<m1>{_MONTH})\b\.?(?:,?\s+(?P<y1>(?:19|20)\d\d))?(?:\s*(?:-|–)\s*|\s+(?:to|through|until|till|(?P<and>and))\s+)"
            rf"(?P<mon>{_MONTH})\b\.?(?!\s+\d\d?\b){_YEAR}",
            _month_to_month,
        ),
        Rule(rf"(?P<mon>{_MONTH})\b\.?(?!['’]){_YEAR}", _month_of_year),
        Rule(rf"(?P<rel>last|next|this|past|previous|coming)\s+(?P<mon>{_MONTH})\b", _relative_month),
        Rule(r"the\s+(?P<century>19|20)?['’]?(?P<tens>\d0)['’]?s\b", _decade),
        Rule(r"(?P<century>19|20)(?P<tens>\d0)['’]?s\b", _decade),
        Rule(
            rf"the\s+(?P<d>\d\d?){th}(?:\s+of\s+(?P<rel>last|this|next)\s+month\b"
            rf"|(?=\s*[.,;!?)]|\s*$|\s+(?:at|in\s+the|for|with)\b))",
            _lone_day,
        ),
        Rule(
            rf"(?:the\s+)?(?P<ord>{_ORDINAL}|last)\s+(?P<what>weekend|week|day|{_WEEKDAY})\s+(?:of|in)\s+(?:the\s+)?"
            rf"(?:(?P<mon>{_MONTH})\b{_YEAR}|(?:(?P<rel>last|this|next)\s+)?month\b)",
            _part_of_month,
        ),
        Rule(rf"(?:q(?P<q>[1-4])|(?:the\s+)?(?P<h>first|second)\s+half){_YEAR[:-1]}", _quarter_or_half),
        Rule(rf"(?P<season>{_SEASON})\b{_YEAR}", _season),
        Rule(rf"(?P<rel>last|this\s+past|past|previous|this|next|coming)\s+(?P<season>{_SEASON})\b", _relative_season),
        Rule(
            rf"(?:(?P<rel>last|this\s+past|past|previous|this|next|coming)\s+)?(?P<feast>{feasts})\b"
            rf"(?!\s+(?:{_WORDS['holiday_things']})\b){_YEAR}",
            _holiday,
        ),
        Rule(r"(?:the\s+)?(?P<name>day\s+before\s+yesterday|day\s+after\s+tomorrow)\b", _named_day),
        Rule(r"(?P<name>yesterday|yday|today|tomorrow|tmrw|tmr)\b(?!['’]s\s+(?:world|generation|society))", _named_day),
        Rule(r"(?:(?P<rel>last|this)\s+(?P<part>night|morning|afternoon|evening)|tonight)\b", _named_night),
        Rule(r"the\s+other\s+(?:day|night|morning|evening)\b", _other_day),
        Rule(
            r"(?P<rel>last|this\s+past|past|previous|this|current|next|coming|upcoming|following)\s+"
            r"(?P<unit>week|weekend|month|quarter|year|decade)\b",
            _relative_unit,
        ),
        Rule(r"the\s+(?P<unit>week|weekend|month|year)\s+(?P<twice>before\s+last|after\s+next)\b", _second_unit),
        Rule(
            r"(?:(?P<el>earlier|later)\s+this|(?:the\s+)?(?P<edge>end|beginning|start|middle)\s+of\s+(?:the|this))\s+"
            r"(?P<unit>week|month|year)\b",
            _part_of_this,
        ),
        Rule(
            rf"(?P<rel>last|this\s+past|past|previous|this\s+coming|this|next|coming|upcoming)\s+(?P<wd>{_WEEKDAY})\b",
            _relative_weekday,
        ),
        Rule(rf"(?P<wd>{_WEEKDAY})\b(?!['’]s\s+child)", _weekday),
        Rule(
            rf"(?P<n>{_NUMBER}|a|(?:a\s+)?couple(?:\s+of)?)\s+(?P<wd>(?:{_WEEKDAY}|weekend))s?\s+ago\b", _weekdays_ago
        ),
        Rule(r"(?:the\s+|on\s+)?weekend\b", _lone_weekend),
        Rule(rf"{_COUNT}\s+(?P<way>ago|back|before\s+now|from\s+(?:now|today)|hence)\b", _ago),
        Rule(rf"(?P<prep>in|within)\s+(?:about\s+|around\s+)?{_COUNT}(?!\s+of\b)", _in_future),
        Rule(rf"(?P<rel>last|past|previous|next|coming|following|upcoming)\s+{_COUNT}", _stretch),
        Rule(rf"(?:at\s+)?(?P<n>{_NUMBER})\s+o['’]clock\b", _oclock),
        Rule(rf"(?P<part>{parts})\b", _part_of_day),
    ]


def may_hold(folded: str) -> bool:
    """Whether a text has any word that an English time expression needs."""
    return bool(_TRIGGER.search(folded))


_TRIGGER: Final = re.compile("[a-z]")
