"""Which dates of a text get a note behind them, and how that reads: only those of which nothing essential is guessed.

A wrong note is worse than none: who reads a text also sees the day on which it was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Final

from ebbing.language.dates.calendar import Direction, Period, towards
from ebbing.language.dates.chinese.words import tense as chinese_tense
from ebbing.language.dates.english.words import tense as english_tense
from ebbing.language.dates.grammar import DOUBTFUL_DAY, DOUBTFUL_YEAR, DateContext, Reading, Token, pack

_MONTH_AHEAD: Final = timedelta(days=31)
_AT_HAND: Final = timedelta(days=3)
"""How near a feast is on which somebody is wished a happy one."""
_HAN: Final = re.compile(r"[\u4e00-\u9fff]")
_LUNAR: Final = re.compile("农历|阴历|旧历|腊月|正月")
_WISH_BEFORE: Final = re.compile(r"\b(?:happy|merry)\s(?:belated\s)?$")
_WISH_AFTER: Final = re.compile(r"\s?快乐")
_GOES_ON: Final = re.compile(
    r"\s*(?:[^\w\s]|$)|\s+(?:\d|(?:at|and|but|so|because|as|when|if|who|that|with|for|to|in|from|of|i|we|you|he|she|it|they|the|my"
    r"|our|his|her|their|a|an|morning|afternoon|evening|night|lunchtime)\b)"
)
"""What may stand behind a weekday that names one day: "sunday mass" is of every week."""
_SPACE: Final = re.compile(r"\s")
_CHINESE_STATES: Final = re.compile(
    r"(?<=[对算好行])了|了(?=[啊吧呀呢嘛哈诶]*(?:[^\w\s]|$))|刚才?说|(?:预?[订定]|预?约|报名?|排|买)(?:好|到|上|成|的是)?了"
    r"|(?:看|选|择|挑)(?:好|到|上|成|的是)?了(?=\s*(?:\d|[一二三四五六七八九十]+[月号]|农历|周|星期))"
)
_MOVED: Final = re.compile("[改换挪][成到在]")
"""What looks like a tense and places nothing: 了 at the end of a clause says that things are different now, and what is
moved to a weekday may be so every week."""
_ENGLISH_STATES: Final = re.compile(
    r"(?<='ve )got\b|(?<=have )got\b|(?<=has )got\b|\b(?:is|are|am|be|'m|'re) [a-z]+ed\b"
    r"|\b(?:years?|been) married\b"
    r"|\b(?:(?:re)?(?:booked|scheduled|arranged)|reserved|ordered|planned|agreed|signed (?:\w+ )?up|paid)\b"
)
"""The same in English: "we've got", "is delighted". What was booked is done, and its day may lie ahead."""
_FROM: Final = re.compile(r"\b(?:from|starting|as of|until|till?|by)\s(?:on\s)?$")
_POSSESSIVE: Final = re.compile(r"['’]s\b")
_HOURS_AWAY: Final = re.compile(r"(?:小时|分钟|钟头?)(?:以|之)?[前后]$")
"""So far from now, or from what was told before it: 半小时后就睡着了."""
_WRITTEN: Final = re.compile(r"(?:['’]s)?\s?[(（](?:\d{4}|week of|spring|summer|autumn|winter|[A-Z][a-z]+ \d{4})")


def noted(tokens: Sequence[Token], context: DateContext) -> Iterator[Token]:
    """Yield the dates that get a note."""
    figures = [match.span() for match in _figures_of_speech().finditer(context.folded)] if tokens else []
    named = _named_beside(tokens)
    for token in tokens:
        assert isinstance(token.value, Reading)
        if token.value.explicit or token in named or _WRITTEN.match(context.text, token.finish):
            continue
        if _HOURS_AWAY.search(context.text[token.begin : token.finish]):
            continue
        is_figure = any(begin < token.finish and token.begin < finish for begin, finish in figures)
        if not is_figure and _is_certain(token, tokens, context=context):
            yield token


def note_behind(token: Token, context: DateContext) -> tuple[int, str]:
    """Return where the note of a date stands, and the note."""
    assert isinstance(token.value, Reading)
    is_chinese = bool(_HAN.search(context.text, token.begin, token.finish))
    if token.value.bare_clock:
        note = f"{token.value.period.start:%Y-%m-%d}"
    else:
        note = _note(token.value.period, chinese=is_chinese)
    owner = _POSSESSIVE.match(context.folded, token.finish)
    return owner.end() if owner else token.finish, f"（{note}）" if is_chinese else f" ({note})"


@lru_cache(maxsize=1)
def _figures_of_speech() -> re.Pattern[str]:
    return re.compile(f"{pack()['en']['figures_of_speech']}|{pack()['zh']['figures_of_speech']}")


def _named_beside(tokens: Sequence[Token]) -> list[Token]:
    """Weekdays beside a date of the same day, which has the note: "Thursday the 23rd"."""
    named: list[Token] = []
    for left, right in pairwise(tokens):
        first, second = left.value, right.value
        assert isinstance(first, Reading)
        assert isinstance(second, Reading)
        if right.begin - left.finish <= _MAX_GAP and first.period == second.period:
            named += [token for token, value in ((left, first), (right, second)) if value.guess == "week"]
    return named


_MAX_GAP: Final = 10
"""Characters between a date and its weekday, at most."""


def _is_certain(token: Token, tokens: Sequence[Token], *, context: DateContext) -> bool:
    value = token.value
    assert isinstance(value, Reading)
    if value.doubtful or value.guess == "extent":
        return False
    if not value.guess:
        return True
    if value.guess == "month" and _has_weekday(token, tokens):
        return True
    way, side = _clause_direction(token, context), towards(value.period, context.now)
    if value.guess == "week":
        return way == side != "none" and (
            _is_chinese(token, context) or bool(_GOES_ON.match(context.folded, token.finish))
        )
    others = [other.value for other in tokens if other is not token and isinstance(other.value, Reading)]
    if value.guess == "month":
        return _is_certain_month(token, way, others=others, context=context)
    return _is_certain_year(token, way, others=others, context=context)


def _has_weekday(token: Token, tokens: Sequence[Token]) -> bool:
    """Whether the weekday beside a day of a month agrees, which hardly another month has."""
    return any(
        isinstance(other.value, Reading)
        and isinstance(token.value, Reading)
        and other.value.guess == "week"
        and other.value.period == token.value.period
        and max(token.begin - other.finish, other.begin - token.finish) <= _MAX_GAP
        for other in tokens
    )


def _is_certain_month(token: Token, way: Direction, *, others: Sequence[Reading], context: DateContext) -> bool:
    """A day of a month that is not named is one of the next days, unless another month is spoken of. In Chinese it may
    be one of the last days that a verb beside it looks back to (5号搬的)."""
    assert isinstance(token.value, Reading)
    period, is_chinese = token.value.period, _is_chinese(token, context)
    if any(other.guess == "year" and not _is_within(period, other.period) for other in others):
        return False
    ahead = period.start - context.now
    if way == "past":
        return is_chinese and period.start <= context.now and -ahead <= DOUBTFUL_DAY
    return period.end > context.now and ahead <= (_MONTH_AHEAD if way == "future" else DOUBTFUL_DAY)


def _is_within(day: Period, other: Period) -> bool:
    return (day.start.year, day.start.month) in {(end.year, end.month) for end in (other.start, other.end - _INSTANT)}


_INSTANT: Final = timedelta(minutes=1)


def _is_certain_year(token: Token, way: Direction, *, others: Sequence[Reading], context: DateContext) -> bool:
    """A date without a year is one that is near; a far one has to be placed by a verb of its own clause."""
    value = token.value
    assert isinstance(value, Reading)
    now, period = context.now, value.period
    if _is_chinese(token, context) and _LUNAR.search(context.folded):
        return False
    if any(other.explicit and other.period.start.year != period.start.year for other in others):
        return False
    away = max(period.start - now, now - period.end, timedelta())
    wish = _WISH_BEFORE.search(context.folded, max(0, token.begin - 20), token.begin)
    if wish or _WISH_AFTER.match(context.folded, token.finish):
        return away <= _AT_HAND
    return away < DOUBTFUL_YEAR or way == towards(period, now)


def _clause_direction(token: Token, context: DateContext) -> Direction:
    """Which way a verb of the same clause looks; in Chinese chat a space ends a clause."""
    is_chinese = _is_chinese(token, context)
    places_nothing = _CHINESE_STATES if is_chinese else _ENGLISH_STATES
    plain = places_nothing.sub(_blank, _SPACE.sub("，", context.folded) if is_chinese else context.folded)
    if isinstance(token.value, Reading) and token.value.guess == "week":
        plain = _MOVED.sub(_blank, plain)
    clause = DateContext(context.text, plain, context.now)
    tense = chinese_tense() if is_chinese else english_tense()
    way = tense.at(clause, token.begin, finish=token.finish, in_clause=True)
    begun = _FROM.search(context.folded, max(0, token.begin - 16), token.begin)
    return "future" if way == "none" and begun else way


def _blank(match: re.Match[str]) -> str:
    return "_" * len(match[0])


def _is_chinese(token: Token, context: DateContext) -> bool:
    return bool(_HAN.search(context.text, token.begin, token.finish))


def _note(period: Period, *, chinese: bool) -> str:
    first, last = period.start, period.end - timedelta(minutes=1)
    if period.grain == "day" or (period.grain == "hour" and period.end - first > timedelta(hours=1)):
        return f"{first:%Y-%m-%d}"
    if period.grain in {"hour", "minute"}:
        return f"{first:%Y-%m-%d %H:%M}"
    if first.date() == last.date():
        return f"{first:%Y-%m-%d %H:%M}-{period.end:%H:%M}"
    if period.grain == "month":
        return f"{first.year}年{first.month}月" if chinese else f"{_MONTHS[first.month - 1]} {first.year}"
    if period.grain == "year":
        return f"{first.year}年" if chinese else f"{first.year}"
    if period.grain == "week" and not chinese:
        return f"week of {first:%Y-%m-%d}"
    return f"{first:%Y-%m-%d}{'至' if chinese else ' to '}{last:%Y-%m-%d}"


_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
