"""Chinese time expressions. Traditional characters arrive simplified.

Choices: 上周三 is the Wednesday of last week and 下周一 the Monday of next week (weeks begin on Monday); 周三 alone is the
nearest one in the tense of its sentence. 两个星期后 is a whole calendar week, 三个月前 a whole month. 前几天 is the week
before today. 月初, 月中 and 月底 are thirds of a month, 年初 and 年底 two months.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache
from typing import Final

from ebbing.language import dates_calendar as calendar
from ebbing.language.dates_calendar import Direction, Period, TimeOfDay
from ebbing.language.dates_rules import Grammar, Reading, Rule, Said, Tense, holidays, pack, years_around

_WORDS: Final = pack()["zh"]
_DIGITS: Final = _WORDS["numerals"]
_NUMBER: Final = r"(?:\d{1,4}(?:\.5)?|[零〇一二两三四五六七八九十百千]{1,7})"
_COUNT: Final = (
    rf"(?P<n>{_NUMBER}|好?几十?|十几|数|半)\s?(?P<ge>个)?(?P<half>半)?"
    r"(?P<unit>分钟|小时|钟头|天|日|周末|周|星期|礼拜|季度|月|年)(?P<half_after>半)?(?:多|左右)?"
)
_UNITS: Final = {
    "分钟": "minute",
    "小时": "hour",
    "钟头": "hour",
    "天": "day",
    "日": "day",
    "周末": "weekend",
    "周": "week",
}
_MORE_UNITS: Final = {"星期": "week", "礼拜": "week", "季度": "quarter", "月": "month", "年": "year"}
_YEARS: Final = {
    "大前年": -3,
    "前年": -2,
    "去年": -1,
    "上一年": -1,
    "今年": 0,
    "本年": 0,
    "明年": 1,
    "下一年": 1,
    "后年": 2,
}
_REL_YEAR: Final = "|".join(_YEARS)
_YEAR: Final = rf"(?:(?P<y>\d{{4}}|[{_DIGITS}]{{4}}|(?<!\d)\d\d)\s?年|(?P<ry>{_REL_YEAR}))"
_MONTHS: Final = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_SHIFTS: Final = r"上上|上|这|本|下下|下"
_MONTH: Final = rf"(?:(?P<m>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])\s?月(?:份)?|(?P<rm>{_SHIFTS})个?月(?:份)?)"
_DAY: Final = r"(?P<d>3[01]|[12]\d|0?[1-9]|三十一?|二?十[一二三四五六七八九]?|[一二三四五六七八九])"
_SEASON: Final = rf"(?P<season>[{_WORDS['seasons']}])(?:天|季|日)"
_WEEK: Final = r"(?:周|星期|礼拜)"
_PARTS: Final = {
    "年初": "start",
    "开年": "start",
    "年底": "end",
    "年末": "end",
    "年中": "mid",
    "初": "early",
    "上旬": "early",
    "中": "mid",
    "中旬": "mid",
    "底": "late",
    "末": "late",
    "下旬": "late",
}
_DAYS: Final = {
    **{"大前天": -3, "前天": -2, "前日": -2, "昨天": -1, "昨日": -1, "今天": 0, "今日": 0, "今儿": 0},
    **{"明天": 1, "明日": 1, "明儿": 1, "大后天": 3, "后天": 2},
}
_BRIEF: Final = {"前": -2, "昨": -1, "今": 0, "明": 1}
_TRIGGERS: Final = frozenset("年月日号周天期拜末晚早晨夜季春夏秋冬节诞前后内今昨明分时圣暑国元端中除七重清双跨平万")


def may_hold(folded: str) -> bool:
    """Whether a text has any character that a Chinese time expression needs."""
    return not _TRIGGERS.isdisjoint(folded)


@lru_cache(maxsize=1)
def tense() -> Tense:
    """The words that tell whether a sentence looks back or ahead."""
    return Tense(re.compile(f"(?P<past>{_WORDS['past']})|(?P<future>{_WORDS['future']})"))


@lru_cache(maxsize=1)
def grammar() -> Grammar:
    """All rules of Chinese."""
    return Grammar(r"(?<![\d第每])", tuple(_rules()))


def number(word: str) -> int:
    """A Chinese or Arabic numeral up to 9999: 二十三, 两百, 一千零五, and digit by digit 二〇二三."""
    if word.isdecimal():
        return int(word)
    word = word.replace("两", "二").replace("零", "〇")
    if not any(mark in word for mark in "十百千"):
        return int("".join(str(_DIGITS.replace("零", "", 1).index(digit)) for digit in word))
    total, digit = 0, 0
    for char in word:
        scale = {"十": 10, "百": 100, "千": 1000}.get(char)
        if scale:
            total += (digit or 1) * scale
            digit = 0
        else:
            digit = _DIGITS.replace("零", "", 1).index(char)
    return total + digit


def _tense(match: re.Match[str], said: Said) -> Direction:
    return tense().at(said, match.start(), match.end())


def _year_number(match: re.Match[str], said: Said) -> int | None:
    groups = match.groupdict()
    if groups.get("ry"):
        return said.now.year + _YEARS[groups["ry"]]
    if not groups.get("y"):
        return None
    value = number(groups["y"])
    if len(groups["y"]) == 2:
        value += 2000 if value < 70 else 1900
    if not 1000 <= value <= 2199:
        raise ValueError("no year of a calendar")
    return value


# ── dates ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _date(match: re.Match[str], said: Said) -> Reading | None:
    """Year, month and day; the month may be named by its distance, the year may be missing."""
    if match["rm"]:
        whole = calendar.month(said.now, _MONTHS[match["rm"]])
        if not match["d"]:
            return Reading(whole)
        return Reading(_days(match, whole.start.year, whole.start.month, said.now))
    month, year = number(match["m"]), _year_number(match, said)

    def period(at: datetime, one: int) -> Period:
        if match["d"]:
            return _days(match, one, month, at)
        return calendar.month(calendar.date(at, year=one, month=month, day=1).start)

    if year is None:
        return said.yearly(period, _tense(match, said))
    return Reading(period(said.now, year), explicit=bool(match["y"]))


def _days(match: re.Match[str], year: int, month: int, at: datetime) -> Period:
    first = calendar.date(at, year=year, month=month, day=number(match["d"]))
    if not match["d2"]:
        return first
    last = calendar.date(at, year=year, month=month, day=number(match["d2"]))
    if last.start <= first.start:
        raise ValueError("days run backwards")
    return Period(first.start, last.end, "range")


def _year(match: re.Match[str], said: Said) -> Reading:
    year = _year_number(match, said)
    assert year is not None
    return Reading(calendar.year(calendar.in_year(said.now, year)), explicit=bool(match["y"]))


def _part_of_year(match: re.Match[str], said: Said) -> Reading:
    year = _year_number(match, said)
    at = calendar.in_year(said.now, said.now.year if year is None else year)
    word = match["part"]
    if word in {"上半年", "下半年"}:
        period = calendar.half_year(at, int(word == "下半年"))
    elif match["q"]:
        period = calendar.quarter(at, number(match["q"]) - 1)
    else:
        period = calendar.part(calendar.year(at), {"初": "start", "底": "end", "末": "end"}.get(word[-1], "mid"))
    return Reading(period, explicit=bool(match["y"]))


def _part_of_month(match: re.Match[str], said: Said) -> Reading:
    whole = _month_of(match, said)
    word = match["part"]
    first, last = {"early": (0, 10), "mid": (10, 20), "late": (20, 31)}[_PARTS[word.removeprefix("月")]]
    end = min(whole.period.start + last * calendar.DAY, whole.period.end)
    return Reading(
        Period(whole.period.start + first * calendar.DAY, end, "range"),
        explicit=whole.explicit,
        yearless=whole.yearless,
    )


def _month_of(match: re.Match[str], said: Said) -> Reading:
    if match["rm"] or not match["m"]:
        return Reading(calendar.month(said.now, _MONTHS[match["rm"] or "本"]))
    month, year = number(match["m"]), _year_number(match, said)

    def period(at: datetime, one: int) -> Period:
        return calendar.month(calendar.date(at, year=one, month=month, day=1).start)

    if year is None:
        return said.yearly(period, _tense(match, said))
    return Reading(period(said.now, year), explicit=bool(match["y"]))


def _nth_of_month(match: re.Match[str], said: Said) -> Reading:
    """The first week of a month, its second Sunday, its last weekend."""
    whole = _month_of(match, said)
    count, start = number(match["o"]) if match["o"] else 0, whole.period.start
    if match["wd"]:
        which = _weekday_number(match["wd"])
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
    return Reading(period, explicit=whole.explicit, yearless=whole.yearless)


def _lone_day(match: re.Match[str], said: Said) -> Reading:
    number_of = number(match["d"])
    months = [calendar.month(said.now, shift) for shift in (-1, 0, 1)]
    days = [calendar.day(one.start, number_of - 1) for one in months if number_of <= (one.end - one.start).days]
    return Reading(said.unmarked(days, _tense(match, said)).period)


def _season(match: re.Match[str], said: Said) -> Reading | None:
    which, year = _WORDS["seasons"].index(match["season"]), _year_number(match, said)

    def period(at: datetime, one: int) -> Period:
        return calendar.season(calendar.in_year(at, one), which)

    if year is not None:
        return Reading(period(said.now, year), explicit=bool(match["y"]))
    looks = _tense(match, said)
    if not match["this"] and looks == "none":
        return None
    every = years_around(said, period)
    if match["this"] == "上个":
        return Reading([one for one in every if one.end <= said.now][-1])
    if match["this"] == "下个":
        return Reading(next(one for one in every if one.start > said.now))
    return said.unmarked(every, "none" if match["this"] else looks)


def _holiday(match: re.Match[str], said: Said) -> Reading:
    feast, year = holidays()[match["feast"]], _year_number(match, said)
    if year is not None:
        return Reading(feast.period(said.now, year), explicit=bool(match["y"]))
    return said.yearly(feast.period, _tense(match, said))


def _decade(match: re.Match[str], said: Said) -> Reading:
    tens = number(match["tens"])
    century = 1900 if match["century"] or tens > 20 else 2000
    return Reading(calendar.decade(calendar.in_year(said.now, century + tens)), explicit=True)


# ── distances from now ───────────────────────────────────────────────────────────────────────────────────────────────


def _named_day(match: re.Match[str], said: Said) -> Reading:
    return Reading(calendar.day(said.now, _DAYS[match["name"]]))


def _brief_day(match: re.Match[str], said: Said) -> Reading:
    start, end = _WORDS["parts_of_day"][match["part"]]
    return Reading(calendar.at_time(calendar.day(said.now, _BRIEF[match["name"]]), TimeOfDay(start, end)))


def _weekday_number(word: str) -> int:
    return {"天": 6, "末": 5}.get(word, _WORDS["weekdays"].find(word))


def _weekday(match: re.Match[str], said: Said) -> Reading:
    which = _weekday_number(match["wd"])
    if match["rw"]:
        day = calendar.weekday(said.now, which, weeks=_MONTHS[match["rw"]])
    else:
        days = [calendar.weekday(said.now, which, weeks=shift) for shift in (-1, 0, 1)]
        day = said.unmarked(days, _tense(match, said)).period
    return Reading(Period(day.start, day.start + 2 * calendar.DAY, "range") if match["wd"] == "末" else day)


def _relative_unit(match: re.Match[str], said: Said) -> Reading:
    unit = _unit(match["unit"])
    return Reading(calendar.PERIODS[unit](said.now, _MONTHS[match["rel"]]))


def _unit(word: str) -> str:
    return _UNITS.get(word) or _MORE_UNITS[word]


def _quantity(match: re.Match[str]) -> tuple[tuple[float, float], str] | None:
    """The count (lowest and highest) and the unit; none where 三月 is a month and 2023年 a year."""
    word, unit = match["n"], _unit(match["unit"])
    if unit == "month" and not match["ge"]:
        return None
    vague = {
        "几": (2, 7),
        "好几": (3, 9),
        "数": (3, 9),
        "十几": (11, 19),
        "几十": (20, 90),
        "好几十": (30, 90),
        "半": (0.5, 0.5),
    }
    if word in vague:
        return vague[word], unit
    half = 0.5 if match["half"] or match["half_after"] else 0
    exact = float(word) if word[0].isdecimal() else number(word)
    if unit == "year" and exact >= 1900:
        return None
    return (exact + half, exact + half), unit


def _ago(match: re.Match[str], said: Said) -> Reading | None:
    found = _quantity(match)
    if not found:
        return None
    (low, high), unit = found
    sign = -1 if match["way"].endswith("前") else 1
    return Reading(calendar.away(said.now, unit, (sign * low, sign * high)))


def _within(match: re.Match[str], said: Said) -> Reading | None:
    found = _quantity(match)
    if not found or _tense(match, said) == "past":
        return None
    return Reading(calendar.stretch(said.now, found[1], found[0][1]))


def _stretch(match: re.Match[str], said: Said) -> Reading | None:
    found = _quantity(match)
    if not found:
        return None
    ahead = match["rel"] in {"未来", "接下来", "今后", "往后", "之后", "随后"}
    return Reading(calendar.stretch(said.now, found[1], found[0][1] if ahead else -found[0][1]))


def _vague(match: re.Match[str], said: Said) -> Reading | None:
    """前几天, 前两天, 前些日子, 这几天."""
    word, unit = match["n"], match["unit"]
    if unit in {"阵子", "阵", "段时间", "段日子"}:
        high, name = 2.0, "month"
    else:
        high, name = {"几": 7, "些": 10}.get(word, 3.0), _unit({"日子": "天"}.get(unit, unit))
    if match["rel"] == "这":
        return Reading(calendar.stretch(said.now, name, -high))
    return Reading(calendar.away(said.now, name, (-high, -1)))


# ── times of day ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _clock(match: re.Match[str], _: Said) -> TimeOfDay | None:
    hour, part = number(match["h"]), match["part"] or ""
    word = match["mi"] or ""
    minute = {"": 0, "半": 30, "一刻": 15, "三刻": 45}.get(word)
    minute = number(word) if minute is None else minute
    if hour > 24 or minute > 59:
        return None
    first = _WORDS["parts_of_day"].get(part, (0, 0))[0]
    if hour < 12 and first >= 660 and not (part in {"半夜", "深夜", "午夜", "夜里"} and hour < 6):
        hour += 0 if part in {"中午", "午"} and hour > 9 else 12
    start = 60 * hour + minute
    return TimeOfDay(start, start + 1, "minute") if word else TimeOfDay(start, start + 60)


def _part_of_day(match: re.Match[str], _: Said) -> TimeOfDay:
    start, end = _WORDS["parts_of_day"][match["part"]]
    return TimeOfDay(start, end)


def _rules() -> list[Rule]:
    feasts = "|".join(sorted((name for name in holidays() if not name.isascii()), key=len, reverse=True))
    parts = "|".join(sorted(_WORDS["parts_of_day"], key=len, reverse=True))
    long_parts = "|".join(
        sorted((part for part in _WORDS["parts_of_day"] if len(part) > 1 and part != "大早"), reverse=True)
    )
    things = r"(?![楼线桌房店门院机位选手球车厅馆口床病文字码令])"
    month = rf"(?:(?:{_YEAR}的?)?{_MONTH})"
    of_month = rf"(?:{month}|(?P<this>当))?"
    return [
        Rule(
            rf"{month}的?(?:{_DAY}(?:[日号]|(?![\d个月年天周.点]))(?:(?:到|至|[-–—~])(?:{_DAY.replace('<d>', '<d2>')})[日号])?)?",
            _date,
        ),
        Rule(rf"{month}的?(?P<d>\d\d?)(?:到|至|[-–—~])(?P<d2>\d\d?)[日号]", _date),
        Rule(rf"{_YEAR}(?!级|前|代|以前|之前)", _year),
        Rule(rf"(?P<y>(?:1[89]|20)\d\d|[{_DIGITS}]{{4}})年(?=以?前|之前)", _year_before),
        Rule(rf"(?:{_YEAR}的?)?(?P<part>年初|年底|年末|年中|上半年|下半年|第?(?P<q>[一二三四1-4])季度)", _part_of_year),
        Rule(rf"{_YEAR}(?P<part>初|底|末|中(?![国文心学午医餐]))(?P<q>x)?", _part_of_year),
        Rule(rf"{month}(?:的)?(?P<part>初(?!中)|上旬|中旬|下旬|底|末|中(?![国文心学午医餐旬]))", _part_of_month),
        Rule(rf"(?P<part>月初|月底|月末|月中(?![国文心学午医餐旬]))(?P<m>x)?(?P<rm>x)?", _part_of_month),
        Rule(
            rf"{month}的?(?:第(?P<o>[一二三四五1-5])个?|最后一?个?)(?:{_WEEK}(?P<wd>[一二三四五六日天末])?)",
            _nth_of_month,
        ),
        Rule(rf"(?P<d>3[01]|[12]\d|[1-9])[号日]{things}", _lone_day),
        Rule(rf"(?P<d>三十一?|二?十[一二三四五六七八九]?|[一二三四五六七八九])号{things}", _lone_day),
        Rule(rf"(?:{_YEAR}的?|(?P<this>这个|上个|下个|本))?{_SEASON}", _season),
        Rule(rf"(?:{_YEAR}的?)?(?P<feast>{feasts})", _holiday),
        Rule(r"(?P<century>上世纪|(?:二十|20)世纪)?(?P<tens>[一二三四五六七八九]十|\d0)年代", _decade),
        Rule(rf"(?P<name>{'|'.join(_DAYS)})(?!的?因素|性|培养|形成|努力|习得)", _named_day),
        Rule(rf"(?P<name>[前昨今明])(?P<part>{parts})", _brief_day),
        Rule(
            rf"(?:(?P<rw>{_SHIFTS})个?)?(?<![一二两三四五六七八九十几\d每半]){_WEEK}(?P<wd>[一二三四五六日天末])(?![个次年圈遍])",
            _weekday,
        ),
        Rule(
            rf"(?P<rel>{_SHIFTS})一?个?(?P<unit>周|星期|礼拜|季度|月)(?![期刊岁到边围密一二三四五六日天末])",
            _relative_unit,
        ),
        Rule(
            rf"{_COUNT}(?:的时间)?(?P<way>以前|之前|前(?![面后往途提任台辈景沿])|以后|之后|后(?![面来果续期台悔勤]))",
            _ago,
        ),
        Rule(rf"{_COUNT}(?:以|之)?内", _within),
        Rule(
            rf"(?P<rel>最近|过去|近|这|未来|接下来|今后|往后|随后)的?这?{_COUNT}(?:里|(?:以|之)?内|以来|间|来)?",
            _stretch,
        ),
        Rule(
            r"(?P<rel>前|这)(?P<n>几|两|些|一|段)?个?(?P<unit>天|日子|周|星期|礼拜|月|年|阵子|阵|段时间|段日子|时间)",
            _vague_or_none,
        ),
        Rule(
            rf"(?:(?P<part>{parts})的?)?(?P<h>\d{{1,2}}|[一二两三四五六七八九十]{{1,3}})"
            rf"(?:点|时(?!候|间|而|常))(?:钟|整|(?P<mi>半|一刻|三刻|\d\d?(?=分)|\d\d(?!\d)|[一二三四五]?十[一二三四五六七八九]?|零[一二三四五六七八九])分?)?",
            _clock,
        ),
        Rule(rf"(?P<part>{parts})的?(?P<h>\d{{1,2}}):(?P<mi>\d\d)(?!\d)", _clock),
        Rule(rf"(?P<part>{long_parts})", _part_of_day),
    ]


def _year_before(match: re.Match[str], said: Said) -> Reading:
    return Reading(calendar.year(calendar.in_year(said.now, number(match["y"]))), explicit=True)


def _vague_or_none(match: re.Match[str], said: Said) -> Reading | None:
    word, unit = match["n"], match["unit"]
    if unit == "时间" or word == "段":
        if word != "段":
            return None
        return _vague_span(match, said)
    if word is None and unit not in {"阵子", "阵", "段时间", "段日子"}:
        return None
    if word == "一":
        return None
    return _vague(match, said)


def _vague_span(match: re.Match[str], said: Said) -> Reading:
    if match["rel"] == "这":
        return Reading(calendar.stretch(said.now, "month", -2))
    return Reading(calendar.away(said.now, "month", (-2, -1)))
