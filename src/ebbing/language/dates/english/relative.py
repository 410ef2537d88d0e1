"""English dates by their distance from now, and times of day: "three weeks ago", "last Friday", "tonight at 8 pm".

"Last Friday" is the latest Friday before today, "next Friday" the Friday of next week, "this Friday" that of this week,
"Friday" the nearest one in the tense of its sentence. "Three weeks ago" is a calendar week, "two months ago" a month;
"the past two months" reach to today.
"""

from __future__ import annotations

import re
from typing import Final

from ebbing.language.dates import calendar
from ebbing.language.dates.calendar import Period, TimeOfDay
from ebbing.language.dates.english.words import (
    COUNT,
    COUNTS,
    NUMBER,
    NUMERALS,
    RELATIVE,
    RELATIVES,
    WEEKDAY,
    WEEKDAYS,
    WORDS,
    bounds,
    follows,
    looks,
    quantity,
    shift,
    weekday_number,
)
from ebbing.language.dates.grammar import DateContext, Guess, Reading, Rule

_HABIT: Final = re.compile(r"\b(?:every|each|most|alternate)\s(?:other\s)?$")
_NOT_SINCE: Final = r"(?<!first\stime\s)(?<!only\stime\s)(?<!last\stime\s)"
"""The first time in 19 years is today."""
_ON: Final = re.compile(r"\b(?:on|by|until)\s$")
_BEGINNING: Final = re.compile(r"\b(?:from|starting|as of|until|till?|by)\s(?:on\s)?$")
_THE: Final = re.compile(r"\bthe\s$")
_DEFINITE: Final = re.compile(r"\b(?:in|over|within|during|for|throughout)\sthe\s$")
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


def rules() -> list[Rule]:
    """The rules, for the grammar of English."""
    days = "|".join(sorted((re.sub(" ", r"\\s+", name) for name in _DAYS), key=len, reverse=True))
    parts = "|".join(WORDS["parts_of_day"])
    return [
        Rule(rf"(?:the\s+)?(?P<name>{days})\b", _named_day, ("the", *(name.split()[0] for name in _DAYS))),
        Rule(
            r"(?:(?P<rel>last|this)\s+(?P<part>night|morning|afternoon|evening)|tonight)\b",
            _named_night,
            ("last", "this", "tonight"),
        ),
        Rule(r"the\s+other\s+(?:day|night|morning|evening)\b", _other_day, ("the",)),
        Rule(
            rf"(?P<rel>{RELATIVE})\s+(?P<unit>week|weekend|month|quarter|year|decade)\b(?!['’]s\s+eve)",
            _relative_unit,
            RELATIVES,
        ),
        Rule(
            r"(?:the\s+)?(?P<unit>week|weekend|month|year)\s+(?P<twice>before\s+last|after\s+next)\b"
            r"(?!\s+(?:week|month|year))",
            _second_unit,
            ("the", "week", "weekend", "month", "year"),
        ),
        Rule(r"the\s+night\s+before\s+last\b", _night_before_last, ("the",)),
        Rule(
            rf"(?:the\s+)?(?P<wd>{WEEKDAY})\s+(?P<twice>before\s+last|after\s+next)\b",
            _second_weekday,
            ("the", *WEEKDAYS),
        ),
        Rule(
            r"(?:(?P<el>earlier|later)\s+this|(?:the\s+)?(?P<edge>end|beginning|start|middle)\s+of\s+(?:the|this))\s+"
            r"(?P<unit>week|month|year)\b",
            _part_of_this,
            "earlier later the end beginning start middle".split(),
        ),
        Rule(rf"(?P<rel>{RELATIVE})\s+(?P<wd>{WEEKDAY})\b", _relative_weekday, RELATIVES),
        Rule(rf"(?P<wd>{WEEKDAY})\b", _weekday, WEEKDAYS),
        Rule(
            rf"(?P<n>{NUMBER}|a|(?:a\s+)?couple(?:\s+of)?)\s+(?P<wd>{WEEKDAY}|weekend)s?\s+ago\b",
            _weekdays_ago,
            COUNTS,
        ),
        Rule(r"(?:the\s+)?weekend\b", _lone_weekend, ("the", "weekend")),
        Rule(rf"{COUNT}\s+(?P<way>ago|back|before\s+now|from\s+(?:now|today)|hence)\b", _ago, COUNTS),
        Rule(
            rf"{_NOT_SINCE}(?P<prep>in|within)\s+(?:about\s+|around\s+)?{COUNT}(?!\s+of\b)",
            _in_future,
            ("in", "within"),
        ),
        Rule(rf"(?P<rel>last|past|previous|next|coming|following|upcoming)\s+{COUNT}", _stretch, RELATIVES),
        Rule(rf"(?:at\s+)?(?P<n>{NUMBER})\s+o['’]clock\b", _oclock, ("at", "0", *NUMERALS)),
        Rule(rf"(?P<part>{parts})\b", _part_of_day, WORDS["parts_of_day"]),
    ]


def _named_day(match: re.Match[str], context: DateContext) -> Reading:
    return Reading(calendar.day(context.now, _DAYS[re.sub(r"\s+", " ", match["name"])]))


def _named_night(match: re.Match[str], context: DateContext) -> Reading:
    start, end = WORDS["parts_of_day"][match["part"] or "night"]
    if match["rel"] == "last":
        return Reading(calendar.at_time(calendar.day(context.now, -1), TimeOfDay(start, end)))
    return Reading(calendar.at_time(calendar.day(context.now), TimeOfDay(start, min(end, 1440))))


def _other_day(_: re.Match[str], context: DateContext) -> Reading:
    return Reading(calendar.away(context.now, "day", counts=(-7, -1)), guess="extent")


def _relative_unit(match: re.Match[str], context: DateContext) -> Reading:
    """Last week, this month, the past year."""
    unit, word = match["unit"], match["rel"]
    if (word == "past" or (word == "last" and follows(_DEFINITE, match, context=context))) and unit not in {
        "weekend",
        "quarter",
    }:
        return Reading(calendar.stretch(context.now, unit, count=-1))
    return Reading(calendar.PERIODS[unit](context.now, shift(word)))


def _second_unit(match: re.Match[str], context: DateContext) -> Reading:
    return Reading(calendar.PERIODS[match["unit"]](context.now, -2 if match["twice"].endswith("last") else 2))


def _night_before_last(_: re.Match[str], context: DateContext) -> Reading:
    return Reading(calendar.at_time(calendar.day(context.now, -2), TimeOfDay(*WORDS["parts_of_day"]["night"])))


def _second_weekday(match: re.Match[str], context: DateContext) -> Reading:
    number = weekday_number(match["wd"])
    if match["twice"].endswith("last"):
        return Reading(calendar.weekday_before(context.now, number, count=2))
    return Reading(calendar.weekday(context.now, number, weeks=2))


def _part_of_this(match: re.Match[str], context: DateContext) -> Reading:
    """Earlier this year, later this week, the end of the month."""
    whole = calendar.PERIODS[match["unit"]](context.now, 0)
    today = calendar.day(context.now)
    if match["edge"]:
        edge = {"end": "end", "middle": "mid"}.get(match["edge"], "start")
        return Reading(calendar.part(whole, edge))
    if match["el"] == "earlier":
        return Reading(Period(whole.start, today.end, "range"))
    return Reading(Period(today.start, whole.end, "range"))


def _relative_weekday(match: re.Match[str], context: DateContext) -> Reading | None:
    if match["wd"] in {"sun", "sat", "wed"} and not context.text[match.start("wd")].isupper():
        return None
    number, word = weekday_number(match["wd"]), match["rel"]
    if shift(word) < 0:
        return Reading(calendar.weekday_before(context.now, number))
    if word == "next":
        return Reading(calendar.weekday(context.now, number, weeks=1))
    if word == "this":
        return Reading(calendar.weekday(context.now, number))
    return Reading(calendar.weekday_after(context.now, number))


def _weekday(match: re.Match[str], context: DateContext) -> Reading | None:
    name, number = match["wd"], weekday_number(match["wd"])
    short = len(name) < 6
    if follows(_HABIT, match, context=context) or (
        short and not (context.text[match.start()].isupper() and follows(_ON, match, context=context))
    ):
        return None
    days = [calendar.weekday_before(context.now, number), calendar.weekday_after(context.now, number)]
    if context.now.weekday() == number:
        days.insert(1, calendar.day(context.now))
    direction = looks(match, context)
    if direction == "none" and follows(_BEGINNING, match, context=context):
        direction = "future"
    # "The Saturday" is one that was spoken of before.
    doubtful = follows(_THE, match, context=context)
    return Reading(context.unmarked(days, direction).period, doubtful=doubtful, guess="week")


def _weekdays_ago(match: re.Match[str], context: DateContext) -> Reading:
    number, day = int(bounds(match["n"])[0]), match["wd"]
    if day.startswith("weekend"):
        return Reading(calendar.weekend(context.now, -number))
    return Reading(calendar.weekday_before(context.now, weekday_number(day), count=number))


def _lone_weekend(match: re.Match[str], context: DateContext) -> Reading:
    weekends = [calendar.weekend(context.now, item) for item in (-1, 0, 1)]
    guess: Guess = "week" if match[0].startswith("the") else "extent"
    return Reading(context.unmarked(weekends, looks(match, context)).period, guess=guess)


def _ago(match: re.Match[str], context: DateContext) -> Reading:
    (low, high), unit = quantity(match)
    sign = -1 if match["way"] in {"ago", "back", "before now"} else 1
    if match["way"].endswith("today"):
        return Reading(calendar.day(calendar.moved(context.now, unit, count=low)[0]))
    return Reading(calendar.away(context.now, unit, counts=(sign * low, sign * high)))


def _in_future(match: re.Match[str], context: DateContext) -> Reading | None:
    (low, high), unit = quantity(match)
    way = looks(match, context)
    if way == "past" or (way == "none" and (unit in {"minute", "hour"} or low < 2)):
        return None
    if match["prep"] == "within":
        return Reading(calendar.stretch(context.now, unit, count=high))
    return Reading(calendar.away(context.now, unit, counts=(low, high)))


def _stretch(match: re.Match[str], context: DateContext) -> Reading:
    (_, high), unit = quantity(match)
    back = match["rel"] in {"last", "past", "previous"}
    return Reading(calendar.stretch(context.now, unit, count=-high if back else high), guess="extent")


def _oclock(match: re.Match[str], _: DateContext) -> TimeOfDay | None:
    hour = int(bounds(match["n"])[0])
    return TimeOfDay(60 * hour, 60 * hour + 60, is_bare=hour <= 12) if hour < 24 else None


def _part_of_day(match: re.Match[str], _: DateContext) -> TimeOfDay:
    start, end = WORDS["parts_of_day"][match["part"]]
    return TimeOfDay(start, end)
