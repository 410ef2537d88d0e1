"""Numbers and days of the year in one spelling, so that two texts can be compared: thirty is 30, 5月3日 is May 3rd."""

from __future__ import annotations

import re
from typing import Final

_SMALL: Final = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBERS: Final = dict(zip((*_SMALL, *_TENS), (*range(20), *range(20, 100, 10)), strict=True))
_TIMES: Final = {"once": "1", "twice": "2", "thrice": "3"}
_TIMES_WORD: Final = re.compile(r"\b(once|twice|thrice)\b")
_TENS_WORD: Final = re.compile(rf"\b({'|'.join(_TENS)})[- ]({'|'.join(_SMALL[1:10])})\b")
_SMALL_WORD: Final = re.compile(rf"\b({'|'.join(_NUMBERS)})\b")
_ZH_DIGITS: Final = "零一二三四五六七八九"
_ZH_NUMBER: Final = re.compile(
    r"([一二两三四五六七八九])?(十)?([一二三四五六七八九])?(?=[岁个只条点月日号斤公千米位名口辆套部台周年次杯瓶包碗盒本])"
)
_MONTHS: Final = "january february march april may june july august september october november december".split()
_MONTH_NAMES: Final = rf"({'|'.join(month[:3] for month in _MONTHS)})[a-z]*"
_MONTH: Final = re.compile(rf"\b{_MONTH_NAMES}\.?(?= \d|$|,)|(?<=\d )(?:of )?{_MONTH_NAMES}\b")
_ORDINAL: Final = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)\b")
_GROUPS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_ZH_DATE: Final = re.compile(r"(\d{1,2})月(\d{1,2})[日号]?")


def ungrouped(text: str) -> str:
    """Figures in one piece: 1,400 is 1400."""
    return _GROUPS.sub("", text)


def numbered(normal: str) -> str:
    """Number words up to ninety-nine as figures."""
    normal = _TIMES_WORD.sub(lambda found: _TIMES[found[1]], normal)
    normal = _TENS_WORD.sub(lambda found: str(_NUMBERS[found[1]] + _NUMBERS[found[2]]), normal)
    normal = _SMALL_WORD.sub(lambda found: str(_NUMBERS[found[1]]), normal)
    return normal if normal.isascii() else _ZH_NUMBER.sub(_zh_figure, normal)


def _zh_figure(found: re.Match[str]) -> str:
    tens, ten, ones = found.groups()
    if not found.group():
        return ""
    digits = "2" if tens == "两" else str(_ZH_DIGITS.index(tens)) if tens else ""
    if not ten:
        return digits if not ones else found.group()
    return str((int(digits) if digits else 1) * 10 + (_ZH_DIGITS.index(ones) if ones else 0))


def dated(normal: str) -> str:
    """Days of the year as `month5 3`, whatever the language and the order."""
    normal = _ORDINAL.sub(r"\1", normal)
    normal = _MONTH.sub(lambda found: f"month{_month(found[1] or found[2])} ", normal)
    return _ZH_DATE.sub(lambda found: f" month{int(found[1])} {int(found[2])} ", normal)


def _month(name: str) -> int:
    return next(number for number, month in enumerate(_MONTHS, start=1) if month.startswith(name))
