"""Chinese dates by their distance from now, and times of day: 上周三, 三天前, 过去三个月, 昨天晚上, 下午三点半.

上周三 is the Wednesday of last week, 下周一 the Monday of next week; 周三 alone is the nearest one in the tense of its
sentence. 两个星期后 is a calendar week, 三个月前 a month. 前几天 is the week before today.
"""

from __future__ import annotations

import re
from typing import Final

from ebbing.language.dates import calendar
from ebbing.language.dates.calendar import Period, TimeOfDay
from ebbing.language.dates.chinese.words import (
    COUNT,
    COUNTS,
    NUMERALS,
    SHIFT,
    SHIFTS,
    UNITS,
    WEEK,
    WORDS,
    looks,
    number,
    quantity,
    weekday_number,
)
from ebbing.language.dates.grammar import DateContext, Reading, Rule

_DAYS: Final = {
    "大前天": -3,
    "前天": -2,
    "前日": -2,
    "昨天": -1,
    "昨日": -1,
    "今天": 0,
    "今日": 0,
    "今儿": 0,
    "明天": 1,
    "明日": 1,
    "明儿": 1,
    "大后天": 3,
    "后天": 2,
}
_BRIEF: Final = {"前": -2, "昨": -1, "今": 0, "明": 1}
_AHEAD: Final = frozenset(("未来", "接下来", "今后", "往后", "随后"))
_INBORN: Final = "(?!的?因素|性|培养|形成|努力|习得)"
"""What follows 后天 where it means "acquired"."""
_DATE_OF: Final = "(?!(?<=日)期)"
"""What follows 明日 where it is a part of 注明日期."""
_WAY: Final = "(?P<way>以前|之前|前(?![面后往途提任台辈景沿])|以后|之后|后(?![面来果续期台悔勤]))"
_EVENING: Final = 1_080
_SMALL_HOURS: Final = 4
"""晚上三点 is after midnight, 晚上五点 before it."""
_MINUTES: Final = r"半|一刻|三刻|\d\d?(?=分)|\d\d(?!\d)|[一二三四五]?十[一二三四五六七八九]?|零[一二三四五六七八九]"


def rules() -> list[Rule]:
    """The rules, for the grammar of Chinese."""
    parts = "|".join(sorted(WORDS["parts_of_day"], key=len, reverse=True))
    whole_parts = [part for part in WORDS["parts_of_day"] if len(part) > 1 and part != "大早"]
    part_heads = "".join(part[0] for part in WORDS["parts_of_day"])
    return [
        Rule(rf"(?P<name>{'|'.join(_DAYS)}){_INBORN}{_DATE_OF}", _named_day, "大前昨今明后"),
        Rule(rf"(?P<name>(?<![\u4e00-\u9fff])前|[昨今明])(?P<part>{parts})", _brief_day, "前昨今明"),
        Rule(
            rf"(?:(?P<rw>{SHIFT})个?)?(?<![一二两三四五六七八九十几\d每半]){WEEK}(?P<wd>[一二三四五六日天末])(?![个次年圈遍])",
            _weekday,
            "上这本下周星礼",
        ),
        Rule(
            rf"(?P<rel>{SHIFT})一?个?(?P<unit>周|星期|礼拜|季度|月)(?![期刊岁到边围密一二三四五六日天末])",
            _relative_unit,
            "上这本下",
        ),
        Rule(rf"{COUNT}(?:的时间)?{_WAY}", _ago, COUNTS),
        Rule(rf"{COUNT}(?:以|之)?内", _within, COUNTS),
        Rule(
            rf"(?P<rel>最近|过去|近|这|{'|'.join(_AHEAD)})的?这?{COUNT}(?:里|(?:以|之)?内|以来|间|来)?",
            _stretch,
            "最过近这未接今往随",
        ),
        Rule(r"(?P<rel>前|这)(?P<n>几|两|些)个?(?P<unit>天|日子|周|星期|礼拜|月|年)", _vague, "前这"),
        Rule(r"(?P<rel>前|这)一?(?:段时间|段日子|阵子|阵)", _while, "前这"),
        Rule(
            rf"(?:(?P<part>{parts})的?)?(?P<h>\d{{1,2}}|[一二两三四五六七八九十]{{1,3}})"
            rf"(?:点|时(?!候|间|而|常))(?:钟|整|(?P<mi>{_MINUTES})分?)?",
            _clock,
            NUMERALS + part_heads,
        ),
        Rule(rf"(?P<part>{parts})的?(?P<h>\d{{1,2}}):(?P<mi>\d\d)(?!\d)", _clock, part_heads),
        Rule(rf"(?P<part>{'|'.join(whole_parts)})", _part_of_day, part_heads),
    ]


def _named_day(match: re.Match[str], context: DateContext) -> Reading:
    return Reading(calendar.day(context.now, _DAYS[match["name"]]))


def _brief_day(match: re.Match[str], context: DateContext) -> Reading:
    start, end = WORDS["parts_of_day"][match["part"]]
    return Reading(calendar.at_time(calendar.day(context.now, _BRIEF[match["name"]]), TimeOfDay(start, end)))


def _weekday(match: re.Match[str], context: DateContext) -> Reading:
    which = weekday_number(match["wd"])
    if match["rw"]:
        day = calendar.weekday(context.now, which, weeks=SHIFTS[match["rw"]])
    else:
        days = [calendar.weekday(context.now, which, weeks=shift) for shift in (-1, 0, 1)]
        day = context.unmarked(days, looks(match, context)).period
    period = Period(day.start, day.start + 2 * calendar.DAY, "range") if match["wd"] == "末" else day
    return Reading(period, guess="" if match["rw"] else "week")


def _relative_unit(match: re.Match[str], context: DateContext) -> Reading:
    unit = UNITS[match["unit"]]
    counts = match["rel"] in {"这", "本"} and "一" in match[0]  # 这一个月 is one that ends or begins today
    return Reading(calendar.PERIODS[unit](context.now, SHIFTS[match["rel"]]), guess="extent" if counts else "")


def _ago(match: re.Match[str], context: DateContext) -> Reading | None:
    amount = quantity(match)
    if not amount:
        return None
    (low, high), unit = amount
    sign = -1 if match["way"].endswith("前") else 1
    return Reading(calendar.away(context.now, unit, counts=(sign * low, sign * high)))


def _within(match: re.Match[str], context: DateContext) -> Reading | None:
    amount = quantity(match)
    if not amount or looks(match, context) == "past":
        return None
    return Reading(calendar.stretch(context.now, amount[1], count=amount[0][1]))


def _stretch(match: re.Match[str], context: DateContext) -> Reading | None:
    amount = quantity(match)
    if not amount:
        return None
    ahead = match["rel"] in _AHEAD
    period = calendar.stretch(context.now, amount[1], count=amount[0][1] if ahead else -amount[0][1])
    return Reading(period, guess="extent")


def _vague(match: re.Match[str], context: DateContext) -> Reading:
    """前几天, 前两周, 前些日子, 这几天."""
    high = {"几": 7.0, "些": 10.0, "两": 3.0}[match["n"]]
    unit = {"日子": "day"}.get(match["unit"]) or UNITS[match["unit"]]
    if match["rel"] == "这":
        return Reading(calendar.stretch(context.now, unit, count=-high), guess="extent")
    return Reading(calendar.away(context.now, unit, counts=(-high, -1)), guess="extent")


def _while(match: re.Match[str], context: DateContext) -> Reading:
    """前阵子 is a month or two ago, 这段时间 the last two months."""
    if match["rel"] == "这":
        return Reading(calendar.stretch(context.now, "month", count=-2), guess="extent")
    return Reading(calendar.away(context.now, "month", counts=(-2, -1)), guess="extent")


def _clock(match: re.Match[str], _: DateContext) -> TimeOfDay | None:
    hour, part = number(match["h"]), match["part"] or ""
    word = match["mi"] or ""
    minute = {"": 0, "半": 30, "一刻": 15, "三刻": 45}.get(word)
    minute = number(word) if minute is None else minute
    if hour > 24 or minute > 59:
        return None
    first = WORDS["parts_of_day"].get(part, (0, 0))[0]
    if first == _EVENING and 0 < hour < _SMALL_HOURS:
        hour += 24
    elif hour < 12 and first >= 660 and not (part in {"半夜", "深夜", "午夜", "夜里"} and hour < 6):
        hour += 0 if part in {"中午", "午"} and hour > 9 else 12
    start, is_bare = 60 * hour + minute, not part and hour <= 12
    if word:
        return TimeOfDay(start, start + 1, "minute", is_bare=is_bare)
    return TimeOfDay(start, start + 60, is_bare=is_bare)


def _part_of_day(match: re.Match[str], _: DateContext) -> TimeOfDay:
    start, end = WORDS["parts_of_day"][match["part"]]
    return TimeOfDay(start, end)
