"""Dates and times in figures, which every language shares: 2023-05-08, 5/8/2023, 15:30, 3 pm.

"05/08/2023" is May 8th (month first) unless the first figure is above 12. A pair without a year is a date only after
"on" ("on 5/8"), because "3/4" is mostly a fraction; a bare year only where a preposition or bracket introduces it.
"""

from __future__ import annotations

import re
from typing import Final

from ebbing.language.dates import calendar
from ebbing.language.dates.calendar import Period, TimeOfDay
from ebbing.language.dates.grammar import DateContext, Reading, Rule, pack

_YEAR_BEFORE: Final = re.compile(
    r"(?:\b(?:in|since|during|of|by|until|till|before|after|from|between|early|late|mid|around|circa|throughout|year"
    r"|to|and|through|for|spring|summer|autumn|fall|winter)\s|mid-|\(|[在到从于至])$"
)
_VERSION: Final = re.compile(r"(?:\b(?:version|release|build|ver\.?|v)\s?|版本?\s?)$")
START: Final = r"(?<![a-z\d_@#$€£¥])(?<!\d\.)(?<!(?<!mid)-)"
"""Where an expression may begin: not inside a word, a number, a price, a version or an address."""


def rules() -> list[Rule]:
    """The rules, for a grammar that adds its own words."""
    counted = rf"(?!\s*(?:{pack()['en']['counted']})\b)"
    year = r"(?P<y>(?:1[89]|20)\d\d)"
    end = r"(?![\w/-]|\.\d)"
    return [
        Rule(
            rf"{year}-(?P<m>\d\d?)-(?P<d>\d\d?)(?:t|\s)(?P<h>\d\d):(?P<mi>\d\d)(?::\d\d(?:\.\d+)?)?z?(?!\d)",
            _moment,
            "0",
        ),
        *(Rule(rf"{year}{mark}(?P<m>\d\d?){mark}(?P<d>\d\d?)(?![\d/-]|\.\d)", _full_date, "0") for mark in "-/"),
        Rule(rf"{year}\.(?P<m>\d\d?)\.(?P<d>\d\d?)(?![\d/-]|\.\d)", _dotted, "0"),
        Rule(rf"(?P<a>\d\d?)/(?P<b>\d\d?)/(?P<y>\d{{4}}|\d\d){end}", _slashed, "0"),
        Rule(rf"(?P<a>\d\d?)-(?P<b>\d\d?)-(?P<y>(?:19|20)\d\d){end}", _slashed, "0"),
        Rule(rf"(?<=\bon\s)(?P<a>\d\d?)/(?P<b>\d\d?){end}{counted}", _slashed, "0"),
        Rule(rf"(?P<y>(?:19|20)\d\d)[-/](?P<m>0[1-9]|1[0-2]){end}", _full_month, "0"),
        Rule(rf"(?P<m>0?[1-9]|1[0-2])/(?P<y>(?:19|20)\d\d){end}", _full_month, "0"),
        Rule(rf"(?P<y>(?:19|20)\d\d)\s?[-–—]\s?(?P<last>(?:19|20)\d\d){end}", _years, "0"),
        Rule(rf"{year}(?![\w%]|[-/:.,]\d){counted}", _year, "0"),
        Rule(r"(?:at\s+)?(?P<h>\d\d?)(?::(?P<mi>\d\d))?(?::\d\d)?\s*(?P<ap>[ap]m\b|[ap]\.m\.)", _clock, ("at", "0")),
        Rule(r"(?:at\s+)?(?P<h>\d\d?):(?P<mi>\d\d)(?::\d\d(?:\.\d+)?)?(?![\d:])", _clock, ("at", "0")),
    ]


def _moment(match: re.Match[str], context: DateContext) -> Reading | None:
    time = _clock(match, context)
    return Reading(calendar.at_time(_full_date(match, context).period, time), explicit=True) if time else None


def _dotted(match: re.Match[str], context: DateContext) -> Reading | None:
    return None if _before(_VERSION, match, context=context) else _full_date(match, context)


def _full_date(match: re.Match[str], context: DateContext) -> Reading:
    date = calendar.date(context.now, year=int(match["y"]), month=int(match["m"]), day=int(match["d"]))
    return Reading(date, explicit=True)


def _slashed(match: re.Match[str], context: DateContext) -> Reading:
    first, second = int(match["a"]), int(match["b"])
    month, day = (second, first) if first > 12 else (first, second)
    year = match.groupdict().get("y")
    if year is None:
        return context.yearly(lambda at, number: calendar.date(at, year=number, month=month, day=day), "none")
    number = int(year) if len(year) == 4 else 2000 + int(year) - 100 * (int(year) > 69)
    return Reading(calendar.date(context.now, year=number, month=month, day=day), explicit=True)


def _full_month(match: re.Match[str], context: DateContext) -> Reading:
    first = calendar.date(context.now, year=int(match["y"]), month=int(match["m"]), day=1)
    return Reading(calendar.month(first.start), explicit=True)


def _years(match: re.Match[str], context: DateContext) -> Reading | None:
    first, last = (calendar.year(calendar.in_year(context.now, int(match[name]))) for name in ("y", "last"))
    return Reading(Period(first.start, last.end, "range"), explicit=True) if first.start < last.start else None


def _year(match: re.Match[str], context: DateContext) -> Reading | None:
    if not _before(_YEAR_BEFORE, match, context=context) and context.folded.strip() != match["y"]:
        return None
    return Reading(calendar.year(calendar.in_year(context.now, int(match["y"]))), explicit=True)


def _clock(match: re.Match[str], _: DateContext) -> TimeOfDay | None:
    hour, minute = int(match["h"]), int(match["mi"] or 0)
    half = (match.groupdict().get("ap") or "")[:1]
    if hour > (12 if half else 23) or minute > 59 or (half and hour == 0):
        return None
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    start, is_bare = 60 * hour + minute, not half and hour <= 12 and not match["h"].startswith("0")
    if match["mi"]:
        return TimeOfDay(start, start + 1, "minute", is_bare=is_bare)
    return TimeOfDay(start, start + 60, is_bare=is_bare)


def _before(pattern: re.Pattern[str], match: re.Match[str], *, context: DateContext) -> bool:
    return bool(pattern.search(context.folded, max(0, match.start() - 16), match.start()))
