"""Time expressions in Chinese and English: what they mean, seen from a moment, and where they stand.

Own rules, no library: `dateparser` takes 2 ms a text and finds two of nine Chinese expressions, in part; JioNLP
has no English; Recognizers-Text does not import beside a current `emoji`. Here a question costs tens of microseconds.

>>> from datetime import UTC, datetime
>>> span = resolve("上周三我们去了哪里?", now=datetime(2024, 5, 15, tzinfo=UTC))[0]
>>> span.text, str(span.start.date())
('上周三', '2024-05-08')
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Final

from ebbing.domain.errors import InvalidInputError
from ebbing.language.dates.calendar import Direction, Grain, towards
from ebbing.language.dates.chinese.grammar import grammar as chinese_grammar
from ebbing.language.dates.compose import BEGINNING, FOREVER, bounded, counted_off, joined, narrowed, timed
from ebbing.language.dates.english.grammar import grammar as english_grammar
from ebbing.language.dates.grammar import FIRST_YEAR, LAST_YEAR, DateContext, Reading, Token, pack
from ebbing.language.dates.notes import note_behind, noted

__all__ = ["BEGINNING", "FOREVER", "DateSpan", "absolute", "may_name_time", "resolve"]
MAX_READ: Final = 20_000
"""Characters of a text in which time expressions are looked for."""
_SIDE_BY_SIDE: Final = re.compile(r"[ ,，（(]*(?:the |is a |是|正好是|刚好是)?")
"""Between two words for one date: "Tuesday, the 14th"."""


@dataclass(frozen=True, slots=True)
class DateSpan:
    """A time expression: `text == said[begin:finish]`, and the period `[start, end)` that it means, in UTC."""

    start: datetime
    end: datetime
    text: str
    begin: int
    finish: int
    grain: Grain
    direction: Direction
    """On which side of `now` it lies; `none` if it is today or spans it."""
    explicit: bool
    """The text names the date itself, year included: it means the same at any `now`."""
    doubtful: bool = False
    """Tense and distance do not tell its year, or the date beside it names another day."""


def resolve(text: str, *, now: datetime, language: str | None = None, lean: Direction = "none") -> list[DateSpan]:
    """The time expressions of a text, in order and without overlap.

    `now` is the moment of the conversation; days begin and end in its time zone. Open ends are `BEGINNING` and
    `FOREVER`. With `language="en"` Chinese is not read; by default what the text holds is. A date that nothing places
    ("on Friday", "元旦那天") is the nearest one, or with `lean` the latest one that began or the next one.
    Raises `InvalidInputError` if `now` has no time zone or lies far from our time.
    """
    context = _context_of(text, now)
    context.lean = lean
    tokens = _dated(context, language)
    return [_span(token, context) for token in bounded(_doubted(tokens, context), context)] if tokens else []


def may_name_time(text: str) -> bool:
    """Whether `resolve` could find anything in the text, at any `now`."""
    folded = _fold(text[:MAX_READ])
    return english_grammar().may_find(folded) or (not folded.isascii() and chinese_grammar().may_find(folded))


def absolute(text: str, *, now: datetime, language: str | None = None) -> str:
    """The same text with the date in brackets after each expression that depends on `now`.

    "下周三开会" becomes "下周三（2024-05-22）开会", "next month" becomes "next month (June 2024)". A text that has been
    treated so comes back unchanged. A date that is not certain gets no note: a wrong one would be worse than none.
    """
    context = _context_of(text, now)
    pieces, at = [], 0
    tokens = _doubted(_dated(context, language), context)
    for token in noted(tokens, context):
        finish, note = note_behind(token, context)
        pieces += [text[at:finish], note]
        at = finish
    return "".join((*pieces, text[at:]))


def _context_of(text: str, now: datetime) -> DateContext:
    if now.utcoffset() is None:
        raise InvalidInputError("now has no time zone; pass an aware datetime, for example datetime.now(UTC)")
    if not FIRST_YEAR < now.year < LAST_YEAR:
        raise InvalidInputError(f"now is not in the years {FIRST_YEAR} to {LAST_YEAR}; pass the conversation's clock")
    head = text[:MAX_READ]
    return DateContext(text=head, folded=_fold(head), now=now)


def _dated(context: DateContext, language: str | None) -> list[Token]:
    """Dates, times and ranges, not yet opened by "before" or "after"."""
    tokens = _tokens(context, language)
    if not tokens:
        return tokens
    for step in (timed, narrowed, counted_off, joined):
        tokens = step(tokens, context)
    return tokens


def _tokens(context: DateContext, language: str | None) -> list[Token]:
    tokens = english_grammar().tokens(context)
    if language == "en" or context.folded.isascii():
        return tokens
    tokens += chinese_grammar().tokens(context)
    return [*_apart(tokens)] if len(tokens) > 1 else tokens


def _apart(tokens: list[Token]) -> Iterator[Token]:
    """The first of those that overlap, and of those that begin together the longest."""
    finish = 0
    for token in sorted(tokens, key=lambda item: (item.begin, -item.finish)):
        if token.begin >= finish:
            yield token
            finish = token.finish


@lru_cache(maxsize=1)
def _simplified() -> dict[int, str]:
    pairs = pack()["zh"]["traditional"]
    table = {ord(pairs[at]): pairs[at + 1] for at in range(0, len(pairs), 2)}
    width = {0xFEE0 + code: chr(code) for code in range(0x21, 0x7F)}
    return {**width, **table, 0x3000: " "}


def _fold(text: str) -> str:
    """Lower case, half width, simplified; as many characters as before."""
    folded = text.lower()
    if len(folded) != len(text):
        folded = "".join(low if len(low := char.lower()) == 1 else char for char in text)
    return folded if folded.isascii() else folded.translate(_simplified())


def _span(token: Token, context: DateContext) -> DateSpan:
    assert isinstance(token.value, Reading)
    period = token.value.period
    start, end = period.start.astimezone(UTC), period.end.astimezone(UTC)
    return DateSpan(
        start=start,
        end=max(end, start + timedelta(minutes=1)),
        text=context.text[token.begin : token.finish],
        begin=token.begin,
        finish=token.finish,
        grain=period.grain,
        direction=towards(period, context.now),
        explicit=token.value.explicit,
        doubtful=token.value.doubtful,
    )


def _doubted(tokens: list[Token], context: DateContext) -> list[Token]:
    """Mark dates that stand side by side and name different days: "Tuesday the 14th", where the 14th is a Friday.

    Where it is a Tuesday, that day is meant, and not the nearest Tuesday.
    """
    marked = list(tokens)
    for place, (left, right) in enumerate(pairwise(tokens)):
        if not _SIDE_BY_SIDE.fullmatch(context.folded, left.finish, right.begin):
            continue
        first, second = left.value, right.value
        if not (isinstance(first, Reading) and isinstance(second, Reading)) or first.explicit or second.explicit:
            continue
        days = first.period, second.period
        if not all(period.grain == "day" for period in days) or days[0] == days[1]:
            continue
        if first.guess == "week" and second.guess != "week" and days[0].start.weekday() == days[1].start.weekday():
            marked[place] = replace(left, value=replace(first, period=second.period, doubtful=second.doubtful))
        else:
            marked[place] = replace(left, value=replace(first, doubtful=True))
            marked[place + 1] = replace(right, value=replace(second, doubtful=True))
    return marked
