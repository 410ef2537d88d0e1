"""Chinese dates by their place in the calendar: 2023年5月8日, 去年五月, 月底, 六月第一周, 今年夏天, 春节.

月初, 月中 and 月底 are the ten-day thirds of a month; 年初 and 年底 are two months.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from typing import Final

from ebbing.language.dates import calendar
from ebbing.language.dates.calendar import Period
from ebbing.language.dates.chinese.words import (
    MONTH,
    NUMERALS,
    SHIFTS,
    WEEK,
    WORDS,
    YEAR,
    YEAR_HEADS,
    looks,
    number,
    weekday_number,
    year_number,
)
from ebbing.language.dates.grammar import DateContext, Reading, Rule, holidays, years_around

_DAY: Final = r"(?:3[01]|[12]\d|0?[1-9]|三十一?|二?十[一二三四五六七八九]?|[一二三四五六七八九])"
_TO: Final = r"(?:到|至|[-–—~])"
_SEASON: Final = rf"(?P<season>[{WORDS['seasons']}])(?:天|季|日)"
_THIRDS: Final = {
    "初": (0, 10),
    "上旬": (0, 10),
    "中": (10, 20),
    "中旬": (10, 20),
    "底": (20, 31),
    "末": (20, 31),
    "下旬": (20, 31),
}
_A_MONTH: Final = r"(?!(?<=(?<!十)一月)[一二两三四五六七八九\d]\d*[百千万])"
"""一月三千 is a sum for each month."""
_NOT_BY_THE_MOON: Final = "(?!八月十五(?![号日]))"
"""八月十五 is the Mid-Autumn Festival, and 八月十五号 a day in August."""
_NOT_MIDDLE: Final = "(?![国文心学午医餐风考毒奖标秋])"
"""After 中, what makes another word of it: 中国, 中学, 中午, 中风."""


def rules() -> list[Rule]:
    """The rules, for the grammar of Chinese."""
    month = rf"(?:(?:{YEAR}的?)?{MONTH})"
    of_the_sun = rf"(?:(?:{YEAR}的?)?{_NOT_BY_THE_MOON}{MONTH})"
    things = "(?![楼线桌房店门院机位选手球车厅馆口床病文字码令])"
    feasts = sorted((name for name in holidays() if not name.isascii()), key=len, reverse=True)
    middle = rf"(?<![一二两三四五六七八九十几整全\d])年中{_NOT_MIDDLE}"
    part_of_year = (
        rf"(?<!大)年初(?![一二三四五六七八九十])|年底|年末|{middle}|上半年|下半年|第?(?P<q>[一二三四1-4])季度"
    )
    return [
        Rule(
            rf"{of_the_sun}的?{_A_MONTH}(?:(?P<d>{_DAY})(?:[日号]|(?![\d个月年天周.点时百千万亿块元斤]))(?:{_TO}(?P<d2>{_DAY})[日号])?)?",
            _date,
            YEAR_HEADS,
        ),
        Rule(rf"{month}\s(?P<d>{_DAY})\s?[日号](?P<d2>(?!))?", _date, YEAR_HEADS),
        Rule(rf"{month}的?(?P<d>\d\d?){_TO}(?P<d2>\d\d?)[日号]", _date, YEAR_HEADS),
        Rule(rf"{YEAR}(?![级代])", _year, YEAR_HEADS),
        Rule(rf"(?:{YEAR}的?)?(?P<part>{part_of_year})", _part_of_year, YEAR_HEADS + "年第"),
        Rule(rf"{YEAR}(?P<part>初|底|末|中{_NOT_MIDDLE})(?P<q>x)?", _part_of_year, YEAR_HEADS),
        Rule(
            rf"{month}的?(?P<part>初(?![中一二三四五六七八九十])|上旬|中旬|下旬|底|末|中{_NOT_MIDDLE})",
            _part_of_month,
            YEAR_HEADS,
        ),
        Rule(rf"(?P<rm>)(?P<m>)月(?P<part>初(?![一二三四五六七八九十])|底|末|中{_NOT_MIDDLE})", _part_of_month, "月"),
        Rule(
            rf"{month}的?(?:第(?P<o>[一二三四五1-5])个?|最后一?个?){WEEK}(?P<wd>[一二三四五六日天末])?",
            _nth_of_month,
            YEAR_HEADS,
        ),
        Rule(rf"(?P<d>3[01]|[12]\d|[1-9])[号日]{things}", _lone_day, "0"),
        Rule(rf"(?P<d>三十一?|二?十[一二三四五六七八九]?|[一二三四五六七八九])号{things}", _lone_day, NUMERALS),
        Rule(rf"(?:{YEAR}的?|(?P<this>这个|上个|下个|本))?{_SEASON}", _season, YEAR_HEADS + WORDS["seasons"]),
        Rule(
            rf"(?:{YEAR}的?)?(?P<feast>{'|'.join(feasts)})(?!(?<=十)[一二三四五六七八九天期])",
            _holiday,
            YEAR_HEADS + "".join(name[0] for name in feasts),
        ),
        Rule(r"(?P<century>上世纪|(?:二十|20)世纪)?(?P<tens>[一二三四五六七八九]十|\d0)年代", _decade, NUMERALS + "上"),
    ]


def _date(match: re.Match[str], context: DateContext) -> Reading | None:
    """Year, month and day; the month may be named by its distance, the year may be missing."""
    if match["rm"]:
        whole = calendar.month(context.now, SHIFTS[match["rm"]])
        if not match["d"]:
            return Reading(whole)
        return Reading(_days(match, whole.start))
    month, year = number(match["m"]), year_number(match, context)

    def period(at: datetime, its_year: int) -> Period:
        if match["d"]:
            return _days(match, calendar.date(at, year=its_year, month=month, day=1).start)
        return calendar.month(calendar.date(at, year=its_year, month=month, day=1).start)

    if year is None:
        return context.yearly(period, looks(match, context))
    return Reading(period(context.now, year), explicit=bool(match["y"]))


def _days(match: re.Match[str], month: datetime) -> Period:
    first = calendar.date(month, year=month.year, month=month.month, day=number(match["d"]))
    if not match["d2"]:
        return first
    last = calendar.date(month, year=month.year, month=month.month, day=number(match["d2"]))
    if last.start <= first.start:
        raise ValueError("days run backwards")
    return Period(first.start, last.end, "range")


def _year(match: re.Match[str], context: DateContext) -> Reading:
    year = year_number(match, context)
    assert year is not None
    return Reading(calendar.year(calendar.in_year(context.now, year)), explicit=bool(match["y"]))


def _part_of_year(match: re.Match[str], context: DateContext) -> Reading:
    year = year_number(match, context)
    at = calendar.in_year(context.now, context.now.year if year is None else year)
    word = match["part"]
    if word in {"上半年", "下半年"}:
        period = calendar.half_year(at, int(word == "下半年"))
    elif match["q"]:
        period = calendar.quarter(at, number(match["q"]) - 1)
    else:
        period = calendar.part(calendar.year(at), {"初": "start", "底": "end", "末": "end"}.get(word[-1], "mid"))
    return Reading(period, explicit=bool(match["y"]), guess="year" if year is None and not match["q"] else "")


def _part_of_month(match: re.Match[str], context: DateContext) -> Reading:
    whole = _month_of(match, context)
    start = whole.period.start
    first, last = _THIRDS[match["part"]]
    end = min(start + last * calendar.DAY, whole.period.end)
    period = Period(start + first * calendar.DAY, end, "range")
    return Reading(period, explicit=whole.explicit, yearless=whole.yearless, doubtful=whole.doubtful, guess=whole.guess)


def _month_of(match: re.Match[str], context: DateContext) -> Reading:
    if match["rm"] or not match["m"]:
        return Reading(calendar.month(context.now, SHIFTS[match["rm"] or "本"]))
    month, year = number(match["m"]), year_number(match, context)

    def period(at: datetime, its_year: int) -> Period:
        return calendar.month(calendar.date(at, year=its_year, month=month, day=1).start)

    if year is None:
        return context.yearly(period, looks(match, context))
    return Reading(period(context.now, year), explicit=bool(match["y"]))


def _nth_of_month(match: re.Match[str], context: DateContext) -> Reading:
    """The first week of a month, its second Sunday, its last weekend."""
    whole = _month_of(match, context)
    count, start = number(match["o"]) if match["o"] else 0, whole.period.start
    if match["wd"]:
        which = weekday_number(match["wd"])
        last = calendar.weekday_before(whole.period.end, which)
        first = calendar.weekday_after(start - calendar.DAY, which)
        period = calendar.day(first.start, 7 * (count - 1)) if count else last
        if match["wd"] == "末":
            period = Period(period.start, period.start + 2 * calendar.DAY, "range")
    else:
        begin = start + 7 * (count - 1) * calendar.DAY if count else whole.period.end - 7 * calendar.DAY
        period = Period(begin, begin + 7 * calendar.DAY, "week")
    if period.start >= whole.period.end:
        raise ValueError("this month has no such week")
    return Reading(period, explicit=whole.explicit, yearless=whole.yearless, guess=whole.guess)


def _lone_day(match: re.Match[str], context: DateContext) -> Reading:
    ordinal = number(match["d"])
    months = [calendar.month(context.now, shift) for shift in (-1, 0, 1)]
    days = [calendar.day(month.start, ordinal - 1) for month in months if ordinal <= (month.end - month.start).days]
    return context.lone_day(days, looks(match, context))


def _season(match: re.Match[str], context: DateContext) -> Reading | None:
    which, year = WORDS["seasons"].index(match["season"]), year_number(match, context)

    def period(at: datetime, its_year: int) -> Period:
        return calendar.season(calendar.in_year(at, its_year), which)

    if year is not None:
        return Reading(period(context.now, year), explicit=bool(match["y"]))
    way = looks(match, context)
    if not match["this"] and way == "none":
        return None
    every = years_around(context, period)
    if match["this"] == "上个":
        return Reading([item for item in every if item.end <= context.now][-1])
    if match["this"] == "下个":
        return Reading(next(item for item in every if item.start > context.now))
    return replace(context.unmarked(every, "none" if match["this"] else way), guess="" if match["this"] else "year")


def _holiday(match: re.Match[str], context: DateContext) -> Reading:
    feast, year = holidays()[match["feast"]], year_number(match, context)
    if year is not None:
        return Reading(feast.period(context.now, year), explicit=bool(match["y"]))
    return context.yearly(feast.period, looks(match, context))


def _decade(match: re.Match[str], context: DateContext) -> Reading:
    tens = number(match["tens"])
    century = 1900 if match["century"] or tens > 20 else 2000
    return Reading(calendar.decade(calendar.in_year(context.now, century + tens)), explicit=True)
