"""The numbers of a text: in one spelling, so that two texts can be compared, and as figures.

Thirty is 30, and 5月3日 is May 3rd. Figures keep the order of the text.
"""

from __future__ import annotations

import re
import unicodedata
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
    normal = _TIMES_WORD.sub(lambda match: _TIMES[match[1]], normal)
    normal = _TENS_WORD.sub(lambda match: str(_NUMBERS[match[1]] + _NUMBERS[match[2]]), normal)
    normal = _SMALL_WORD.sub(lambda match: str(_NUMBERS[match[1]]), normal)
    return normal if normal.isascii() else _ZH_NUMBER.sub(_zh_figure, normal)


def _zh_figure(match: re.Match[str]) -> str:
    tens, ten, ones = match.groups()
    if not match.group():
        return ""
    digits = "2" if tens == "两" else str(_ZH_DIGITS.index(tens)) if tens else ""
    if not ten:
        return digits if not ones else match.group()
    return str((int(digits) if digits else 1) * 10 + (_ZH_DIGITS.index(ones) if ones else 0))


def dated(normal: str) -> str:
    """Days of the year as `month5 3`, whatever the language and the order."""
    normal = _ORDINAL.sub(r"\1", normal)
    normal = _MONTH.sub(lambda match: f"month{_month(match[1] or match[2])} ", normal)
    return _ZH_DATE.sub(lambda match: f" month{int(match[1])} {int(match[2])} ", normal)


def _month(name: str) -> int:
    return next(number for number, month in enumerate(_MONTHS, start=1) if month.startswith(name))


_DIGITS: Final = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
_TENS_IN_WORDS: Final = {"十": 10, "百": 100, "千": 1_000}
_MYRIADS: Final = {"万": 10_000, "萬": 10_000, "亿": 100_000_000, "億": 100_000_000}
_DIGIT: Final = f"[{''.join(_DIGITS)}]"
_ANY: Final = f"[{''.join((*_DIGITS, *_TENS_IN_WORDS, *_MYRIADS))}]"
_MEASURES: Final = (
    "岁歲个個只隻条條月日号號斤公千米位名口辆輛套部台臺周年次本件张張杯瓶块塊元层層楼樓天"
    "间間家份支双雙把颗顆场場遍趟页頁集"
)
_UNITS: Final = "小时|小時|分钟|分鐘|点钟|星期|礼拜|厘米|毫升|人(?!人)"
_LATIN_FIGURE: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_LATIN: Final = rf"(?P<latin>{_LATIN_FIGURE.pattern})(?P<myriad>[万萬亿億])?"
# A lone digit counts before a measure word, or as a share (百分之五); "十分" and "万一" are no numbers.
_HAN: Final = (
    rf"(?<!周)(?<!星期)(?<!礼拜)(?P<whole>(?:{_DIGIT}|十(?!分(?![钟鐘之]))){_ANY}{{0,15}})"
    rf"(?:[点點](?P<part>{_DIGIT}{{1,6}})(?![十分]))?(?P<measured>(?=[{_MEASURES}点點]|{_UNITS}))?"
)
_FIGURE: Final = re.compile(f"{_LATIN}|{_HAN}")
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_A_BIT: Final = re.compile(f"[点點](?!{_DIGIT}|[半钟鐘整])")
_SHARE: Final = "分之"


_PADDED: Final = re.compile(r"^0(?=\d(?:\D|$))")
"""The first digit of 07 and 09:30, which are 7 and 9:30."""


def figures(normal: str) -> frozenset[str]:
    """Every number of a normalised text as figures: in Latin or other digits, and Chinese numerals where they count.

    Chinese numerals count when they are made with 十, 百, 千, 万, 亿, read digit by digit (二〇二四), or stand before a
    measure word: 一起 and 万一 name no number, and 三四个 none that is certain.
    """
    if normal.isascii():
        return frozenset(_latin(figure, None) for figure in _LATIN_FIGURE.findall(normal))
    return frozenset(filter(None, map(_figure, _FIGURE.finditer(normal))))


def _figure(match: re.Match[str]) -> str:
    if match["latin"]:
        return _latin(match["latin"], match["myriad"])
    whole, part = match["whole"], match["part"]
    if part:
        return f"{_value(whole)}.{''.join(str(_DIGITS[digit]) for digit in part)}"
    if not _DIGITS.keys() >= set(whole):
        return str(_value(whole))
    if len(whole) > 2 or (len(whole) == 2 and (set(whole) & set("零〇") or match.string[match.end() :][:1] == "年")):
        return "".join(str(_DIGITS[digit]) for digit in whole)
    is_share = match.string[: match.start()].endswith(_SHARE)
    is_a_bit = whole == "一" and _A_BIT.match(match.string, match.end()) is not None
    counts = len(whole) == 1 and not is_a_bit and (match["measured"] is not None or is_share)
    return str(_DIGITS[whole]) if counts else ""


def _latin(figure: str, myriad: str | None) -> str:
    if not figure.isascii():
        figure = "".join(str(unicodedata.digit(char)) if char.isdigit() else char for char in figure)
    if _THOUSANDS.fullmatch(figure):
        figure = figure.replace(",", "")
    figure = _PADDED.sub("", figure)
    if myriad is None or not re.fullmatch(r"\d{1,12}(?:\.\d{1,8})?", figure):
        return figure
    whole, _, part = figure.partition(".")
    times = _MYRIADS[myriad]
    shifted = int(whole + part) * times
    return str(shifted // 10 ** len(part)) if shifted % 10 ** len(part) == 0 else figure


def _value(numeral: str) -> int:
    """What a numeral amounts to; the digit behind the last unit counts for the next lower one (两千三 is 2,300)."""
    total = section = digit = 0
    last = 1
    for char in numeral:
        if char in _DIGITS:
            digit = _DIGITS[char]
            last = 1 if digit == 0 else last
        elif char in _TENS_IN_WORDS:
            section += (digit or 1) * _TENS_IN_WORDS[char]
            digit, last = 0, _TENS_IN_WORDS[char]
        else:
            times = _MYRIADS[char]
            total = total + (section + digit) * times if total > times else (total + section + digit) * times
            section, digit, last = 0, 0, times
    return total + section + digit * (last // 10 or 1)


def number_of(numeral: str) -> float | None:
    """Return what a numeral in Latin digits or Chinese characters amounts to; None for neither. 半 is a half."""
    if numeral == "半":
        return 0.5
    try:
        return float(numeral)
    except ValueError:
        pass
    if not numeral or not set(numeral) <= {*_DIGITS, *_TENS_IN_WORDS, *_MYRIADS}:
        return None
    return float(_value(numeral))
