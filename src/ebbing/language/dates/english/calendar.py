"""English dates by their place in the calendar: "8 May 2023", "the first week of June", "last summer", "Christmas"."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Final

from ebbing.language.dates import calendar
from ebbing.language.dates.calendar import Period
from ebbing.language.dates.english.words import (
    MONTH,
    MONTHS,
    ORDINAL,
    RELATIVE,
    RELATIVES,
    SEASON,
    WEEKDAY,
    WORDS,
    YEAR,
    follows,
    looks,
    month_number,
    shift,
    weekday_number,
)
from ebbing.language.dates.grammar import DateContext, Reading, Rule, holidays, years_around

_INTRODUCED: Final = re.compile(
    r"\b(?:in|since|during|until|till|before|after|of|between|early|late|mid|around|throughout|and|through|for|on)\s"
    r"(?:the\s)?$|mid-$"
)
_DOT: Final = rf"(?:(?<=\b(?:{'|'.join(month for month in WORDS['months'] if month != 'may')}))\.)?"
"""Behind a month that is cut short; behind any other it ends the sentence."""
_BETWEEN: Final = re.compile(r"\bbetween\s$")
_ENDS_THERE: Final = re.compile(r"\s*(?:[.,;:!?)]|$)")
_IN: Final = re.compile(r"\b(?:in|during|over|since)\sthe\s$|\bin\s$")


def rules() -> list[Rule]:
    """The rules, for the grammar of English."""
    th = "(?:st|nd|rd|th)"
    counted = rf"(?!\s*(?:{WORDS['counted']})\b)"
    return [
        Rule(
            rf"(?P<mon>{MONTH})\b{_DOT}\s+(?:the\s+)?(?P<d>\d\d?)(?P<th>{th})?"
            rf"(?:\s*(?:-|–|to|through|until)\s*(?P<d2>\d\d?){th}?)?(?![\d%]|[:.,]\d){counted}{YEAR}?",
            _day_of_month,
            MONTHS,
        ),
        Rule(
            rf"(?P<d>\d\d?){th}?(?:\s*(?:-|–|to|through|until|and)\s*(?P<d2>\d\d?){th}?)?\s+(?P<th>of\s+)?"
            rf"(?P<mon>{MONTH})\b{_DOT}{YEAR}?",
            _day_of_month,
            "0",
        ),
        Rule(
            rf"(?P<m1>{MONTH})\b{_DOT}(?:,?\s+(?P<y1>(?:19|20)\d\d))?"
            rf"(?:\s*[-–]\s*|\s+(?:to|through|until|till|(?P<and>and))\s+)(?P<mon>{MONTH})\b{_DOT}(?!\s+\d\d?\b){YEAR}?",
            _month_to_month,
            MONTHS,
        ),
        Rule(rf"(?P<mon>{MONTH})\b{_DOT}(?!['’]){YEAR}?", _month_of_year, MONTHS),
        Rule(rf"(?P<rel>last|next|this|past|previous|coming)\s+(?P<mon>{MONTH})\b", _relative_month, RELATIVES),
        Rule(r"(?:the\s+)?(?P<century>19|20)(?P<tens>\d0)['’]?s\b", _decade, ("the", "0")),
        Rule(r"the\s+(?P<century>)['’]?(?P<tens>\d0)['’]?s\b", _decade, ("the",)),
        Rule(
            rf"the\s+(?P<d>\d\d?){th}(?:\s+of\s+(?P<rel>last|this|next)\s+month\b"
            rf"|(?=\s*[.,;!?)]|\s*$|\s+(?:at|in\s+the|for|with)\b))",
            _lone_day,
            ("the",),
        ),
        Rule(rf"(?<=day )(?P<d>\d\d?){th}\b(?P<rel>(?!))?", _lone_day, "0"),
        Rule(
            rf"(?:the\s+)?(?P<ord>{ORDINAL}|last)\s+(?P<what>weekend|week|day|{WEEKDAY})\s+(?:of|in)\s+(?:the\s+)?"
            rf"(?:(?P<mon>{MONTH})\b{YEAR}?|(?:(?P<rel>last|this|next)\s+)?month\b)",
            _part_of_month,
            ("the", "last", *WORDS["ordinals"]),
        ),
        Rule(
            rf"(?:q(?P<q>[1-4])|(?:the\s+)?(?P<h>first|second)\s+half){YEAR}",
            _quarter_or_half,
            ("the", "q", "first", "second"),
        ),
        Rule(rf"(?P<season>{SEASON})\b{YEAR}?", _season, WORDS["seasons"]),
        Rule(rf"(?P<rel>{RELATIVE})\s+(?P<season>{SEASON})\b", _relative_season, RELATIVES),
        _holiday_rule(),
    ]


def _holiday_rule() -> Rule:
    names = sorted((name for name in holidays() if name.isascii()), key=len, reverse=True)
    feasts = "|".join(map(re.escape, names)).replace("'", "['’]")
    things = rf"(?!\s+(?:{WORDS['holiday_things']})\b)"
    heads = [re.split(r"\W", name)[0] if name[0].isalpha() else "0" for name in names]
    return Rule(rf"(?:(?P<rel>{RELATIVE})\s+)?(?P<feast>{feasts})\b{things}{YEAR}?", _holiday, (*RELATIVES, *heads))


def _in_year(match: re.Match[str], context: DateContext, *, period: Callable[[datetime, int], Period]) -> Reading:
    """What falls once a year, in the year that the match names, else in the one that the tense asks for."""
    if match["y"]:
        return Reading(period(context.now, int(match["y"])), explicit=True)
    if match["ry"]:
        return Reading(period(context.now, context.now.year + shift(match["ry"])))
    return context.yearly(period, looks(match, context))


def _day_of_month(match: re.Match[str], context: DateContext) -> Reading | None:
    name, day, last = match["mon"], int(match["d"]), match["d2"]
    sure = match["y"] or match["ry"] or match["th"] or last
    is_plain = not sure and name in {"may", "march", "mar", "sat"} and not context.text[match.start("mon")].isupper()
    if is_plain and not (match.start("d") < match.start("mon") and _ENDS_THERE.match(context.folded, match.end())):
        return None

    def period(at: datetime, year: int) -> Period:
        first = calendar.date(at, year=year, month=month_number(name), day=day)
        if not last:
            return first
        until = calendar.date(at, year=year, month=month_number(name), day=int(last))
        if until.start <= first.start:
            raise ValueError("days run backwards")
        return Period(first.start, until.end, "range")

    return _in_year(match, context, period=period)


def _month_of_year(match: re.Match[str], context: DateContext) -> Reading | None:
    name = match["mon"]
    if not (match["y"] or match["ry"]) and not _names_a_month(match, context):
        return None
    return _in_year(match, context, period=lambda at, year: _month(at, year, name=name))


def _month(at: datetime, year: int, *, name: str) -> Period:
    return calendar.month(calendar.date(at, year=year, month=month_number(name), day=1).start)


def _names_a_month(match: re.Match[str], context: DateContext) -> bool:
    """A lone month name counts if nothing else is called so, or if it is written and introduced like a month."""
    if match["mon"] in WORDS["plain_months"]:
        return True
    introduced = follows(_INTRODUCED, match, context=context)
    return introduced and (context.text[match.start("mon")].isupper() or context.text.islower())


def _relative(match: re.Match[str], context: DateContext, *, period: Callable[[datetime, int], Period]) -> Reading:
    """The last one that is over, the next one to begin, or the one that is on or closest."""
    every, way = years_around(context, period), shift(match["rel"])
    if way < 0:
        return Reading([item for item in every if item.end <= context.now][-1])
    if way > 0:
        return Reading(next(item for item in every if item.start > context.now))
    return Reading(calendar.nearest(every, context.now, direction="none"))


def _relative_month(match: re.Match[str], context: DateContext) -> Reading:
    name = match["mon"]
    if match["rel"] == "this":
        return Reading(_month(context.now, context.now.year, name=name))
    return _relative(match, context, period=lambda at, year: _month(at, year, name=name))


def _month_to_month(match: re.Match[str], context: DateContext) -> Reading | None:
    if match["and"] and not follows(_BETWEEN, match, context=context):
        return None

    def period(at: datetime, year: int) -> Period:
        until = _month(at, year, name=match["mon"])
        begun = _month(at, int(match["y1"]) if match["y1"] else year, name=match["m1"])
        if begun.start > until.start:
            begun = _month(at, year - 1, name=match["m1"])
        return Period(begun.start, until.end, "range")

    return _in_year(match, context, period=period)


def _decade(match: re.Match[str], context: DateContext) -> Reading:
    tens = int(match["tens"])
    century = int(match["century"]) if match["century"] else (20 if tens <= 20 else 19)
    return Reading(calendar.decade(calendar.in_year(context.now, century * 100 + tens)), explicit=True)


def _lone_day(match: re.Match[str], context: DateContext) -> Reading:
    shifts = (shift(match["rel"]),) if match["rel"] else (-1, 0, 1)
    months = [calendar.month(context.now, shift) for shift in shifts]
    number = int(match["d"])
    days = [calendar.day(month.start, number - 1) for month in months if number <= (month.end - month.start).days]
    if match["rel"]:
        return Reading(days[0])
    return context.lone_day(days, looks(match, context))


def _part_of_month(match: re.Match[str], context: DateContext) -> Reading | None:
    """The first week of June, the last Friday of the month."""
    which, unit = match["ord"], match["what"]

    def period(at: datetime, year: int) -> Period:
        return _nth(_month(at, year, name=match["mon"]), which, unit=unit)

    if match["mon"]:
        return _in_year(match, context, period=period)
    return Reading(_nth(calendar.month(context.now, shift(match["rel"] or "this")), which, unit=unit))


def _nth(month: Period, which: str, *, unit: str) -> Period:
    last = which == "last"
    count = 1 if last else WORDS["ordinals"].index(which) + 1
    if unit == "week":
        days = (month.end - month.start).days
        first = days - 7 if last else min(7 * (count - 1), days - 2)
        return Period(month.start + first * calendar.DAY, month.start + min(first + 7, days) * calendar.DAY, "week")
    if unit == "day":
        return calendar.day(month.end, -1) if last else calendar.day(month.start, count - 1)
    number = 5 if unit == "weekend" else weekday_number(unit)
    if last:
        period = calendar.weekday_before(month.end, number)
    else:
        period = calendar.day(calendar.weekday_after(month.start - calendar.DAY, number).start, 7 * (count - 1))
    if period.start >= month.end:
        raise ValueError("no fifth one in this month")
    return Period(period.start, period.start + 2 * calendar.DAY, "range") if unit == "weekend" else period


def _quarter_or_half(match: re.Match[str], context: DateContext) -> Reading:
    year = int(match["y"]) if match["y"] else context.now.year + shift(match["ry"] or "this")
    at = calendar.in_year(context.now, year)
    if match["q"]:
        period = calendar.quarter(at, int(match["q"]) - 1)
    else:
        period = calendar.half_year(at, 0 if match["h"] == "first" else 1)
    return Reading(period, explicit=True) if match["y"] else Reading(period)


def _season_period(at: datetime, year: int, *, name: str) -> Period:
    return calendar.season(calendar.in_year(at, year), WORDS["seasons"][name])


def _season(match: re.Match[str], context: DateContext) -> Reading | None:
    name = match["season"]
    if not (match["y"] or match["ry"]) and (
        looks(match, context) == "none" or not follows(_IN, match, context=context)
    ):
        return None
    return _in_year(match, context, period=lambda at, year: _season_period(at, year, name=name))


def _relative_season(match: re.Match[str], context: DateContext) -> Reading:
    return _relative(match, context, period=lambda at, year: _season_period(at, year, name=match["season"]))


def _holiday(match: re.Match[str], context: DateContext) -> Reading:
    feast = holidays()[match["feast"].replace("’", "'")]
    if match["rel"] == "this":
        return Reading(feast.period(context.now, context.now.year))
    if match["rel"]:
        return _relative(match, context, period=feast.period)
    reading = _in_year(match, context, period=feast.period)
    return replace(reading, yearless=False, in_year=None)
