"""Chinese words of time: numerals, years and months, quantities, and which way a sentence looks."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from ebbing.language.dates.calendar import Direction
from ebbing.language.dates.grammar import DateContext, Tense, pack

WORDS: Final = pack()["zh"]
DIGITS: Final = WORDS["numerals"]
NUMERALS: Final = "0一二两三四五六七八九十百千零〇"
"""What a number can begin with; "0" stands for figures."""
NUMBER: Final = r"(?:\d{1,4}(?:\.5)?|[零〇一二两三四五六七八九十百千]{1,7})"
UNITS: Final = {
    "分钟": "minute",
    "小时": "hour",
    "钟头": "hour",
    "天": "day",
    "日": "day",
    "周末": "weekend",
    "周": "week",
    "星期": "week",
    "礼拜": "week",
    "季度": "quarter",
    "月": "month",
    "年": "year",
}
COUNT: Final = (
    rf"(?P<n>{NUMBER}|好?几十?|十几|数|半)\s?(?P<ge>个)?(?P<half>半)?"
    rf"(?P<unit>{'|'.join(UNITS)})(?P<half_after>半)?(?:多|左右)?"
)
COUNTS: Final = NUMERALS + "好几数半"
YEARS: Final = {
    "大前年": -3,
    "前年": -2,
    "去年": -1,
    "上一年": -1,
    "今年": 0,
    "本年": 0,
    "这一年": 0,
    "明年": 1,
    "下一年": 1,
    "后年": 2,
}
YEAR: Final = rf"(?:(?P<y>\d{{4}}|[{DIGITS}]{{4}}|(?<!\d)\d\d)\s?年|(?!(?<=以)前年)(?P<ry>{'|'.join(YEARS)}))"
SHIFTS: Final = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
SHIFT: Final = "上上|上|这|本|下下|下"
MONTH: Final = rf"(?:(?P<m>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])\s?月(?:份)?|(?P<rm>{SHIFT})个?月(?:份)?)"
YEAR_HEADS: Final = NUMERALS + "大前去上今本明下后这"
WEEK: Final = r"(?:周|星期|礼拜)"
_VAGUE: Final = {
    "几": (2, 5),
    "好几": (3, 9),
    "数": (3, 9),
    "十几": (11, 19),
    "几十": (20, 90),
    "好几十": (30, 90),
    "半": (0.5, 0.5),
}


@lru_cache(maxsize=1)
def tense() -> Tense:
    """The words that tell whether a sentence looks back or ahead."""
    return Tense(re.compile(f"(?P<past>{WORDS['past']})|(?P<future>{WORDS['future']})"))


def looks(match: re.Match[str], context: DateContext) -> Direction:
    """Which way the sentence around a match looks."""
    return tense().at(context, match.start(), finish=match.end())


def number(word: str) -> int:
    """A Chinese or Arabic numeral up to 9999: 二十三, 两百, 一千零五, and digit by digit 二〇二三."""
    if word.isdecimal():
        return int(word)
    total, digit, scaled = 0, 0, False
    for char in word:
        scale = {"十": 10, "百": 100, "千": 1000}.get(char)
        if scale:
            total += (digit or 1) * scale
            digit, scaled = 0, True
        else:
            value = _DIGIT_VALUES[char]
            digit = value if scaled else digit * 10 + value
    return total + digit


_DIGIT_VALUES: Final = {**{char: value for value, char in enumerate("〇一二三四五六七八九")}, "零": 0, "两": 2}


def year_number(match: re.Match[str], context: DateContext) -> int | None:
    """The year that a match of `YEAR` names; none if it names none. Raises `ValueError` if no calendar holds it."""
    groups = match.groupdict()
    if groups.get("ry"):
        return context.now.year + YEARS[groups["ry"]]
    if not groups.get("y"):
        return None
    value = number(groups["y"])
    if len(groups["y"]) == 2:
        value += 2000 if value < 70 else 1900
    if not 1000 <= value <= 2199:
        raise ValueError("no year of a calendar")
    return value


def weekday_number(word: str) -> int:
    """0 for 一 to 6 for 日; 末 counts as Saturday."""
    return {"天": 6, "末": 5}.get(word, "一二三四五六日".find(word))


def quantity(match: re.Match[str]) -> tuple[tuple[float, float], str] | None:
    """The lowest and highest count, and the unit; none where 三月 is a month and 2023年 a year."""
    word, unit = match["n"], UNITS[match["unit"]]
    if unit == "month" and not match["ge"]:
        return None
    if word in _VAGUE:
        return _VAGUE[word], unit
    if len(word) == 2 and (pair := [_DIGIT_VALUES.get(char, 0) for char in word])[0] + 1 == pair[1]:
        return (pair[0], pair[1]), unit  # 两三天 is two or three
    half = 0.5 if match["half"] or match["half_after"] else 0
    exact = float(word) if word[0].isdecimal() else number(word)
    if unit == "year" and exact >= 1900:
        return None
    return (exact + half, exact + half), unit
