"""How neighbouring time expressions make one: a date and its time, the ends of a range, "before" and "since"."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from ebbing.language.dates import calendar
from ebbing.language.dates.calendar import Period, TimeOfDay
from ebbing.language.dates.grammar import DateContext, Reading, Token

BEGINNING: Final = datetime(1, 1, 2, tzinfo=UTC)
"""The start of a span that is open towards the past ("before May")."""
FOREVER: Final = datetime(9999, 12, 30, tzinfo=UTC)
"""The end of a span that is open towards the future ("after May")."""

_DATE_TIME: Final = re.compile(r"(?:,?\s*(?:at|around|about|from|in\sthe|during\sthe)?\s*|\s*的\s*|t)")
_TIME_DATE: Final = re.compile(r"\s*,?\s*(?:on|of|in)?\s*(?:the\s)?")
_TO: Final = re.compile(r"\s*(?:to|until|till|through|thru|[-–—~～]|到|至)\s*")
_AND: Final = re.compile(r"\s*(?:and|和|与)\s*")
_BETWEEN: Final = re.compile(r"\bbetween\s+(?:the\s+)?$")
_AFTER_RANGE: Final = re.compile(r"\s*(?:之间|期间)")
_PART: Final = re.compile(
    r"\b(?:(?:the\s+)?(?P<edge>end|beginning|start|middle)\s+of\s+(?:the\s+)?|(?P<third>early|mid|late)(?:\s+in)?[\s-]\s*(?:the\s+)?)$"
)
_COUNTED: Final = re.compile(
    r"\b(?:the\s+)?(?:(?P<n>two|three|four|five|six|seven|\d{1,2}|a|one|a\s+few|few|a\s+couple(?:\s+of)?)\s+)?"
    r"(?P<unit>day|week|weekend|month|year|night)s?\s+(?P<way>before|after|following|preceding)\s+(?:the\s+)?$"
)
_LEADING: Final = re.compile(
    r"(?:of|early|mid|late|in|before|after|following|preceding|since|to|until|till|between)[\s-]+(?:the\s+)?$|[自从至到截]$"
)
"""What ends every phrase before a date that changes its meaning: one look decides whether to try them."""
_EVENING: Final = 1_080
_DAWN: Final = 300
_NUMBERS: Final = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}
_WEEKDAY_BESIDE: Final = re.compile(r"\s+(?P<way>before|after|following|preceding)\s+(?:the\s+)?")
_LED: Final = re.compile(
    r"(?:\b(?:(?P<since>(?:ever\s+)?since)|(?P<after>after)|(?P<before>before|prior\s+to)|(?P<until>until|till|up\s+to))"
    r"\s+(?:the\s+)?|(?P<since_>自从|自|从)|(?P<until_>截至|截止到|直到))$"
)
_TRAILED: Final = re.compile(
    r"(?:(?P<around>前后|左右)|(?P<before>以前|之前|前(?![面往途提任台辈景沿天几两些夜晚]))|(?P<since>以来|至今|到现在|起(?![来床飞点])|开始)"
    r"|(?P<after>以后|之后|过后|后(?![面来果续期台天悔勤])))"
)


def timed(tokens: list[Token], context: DateContext) -> list[Token]:
    """Dates with the times that stand beside them; a time without a date is dropped."""
    made: list[Token] = []
    for token in tokens:
        last = made[-1] if made else None
        both = _date_and_time(last, token, context=context) if last else None
        if both:
            made[-1] = both
        else:
            made.append(token)
    return [token for token in made if isinstance(token.value, Reading)]


def _date_and_time(left: Token, right: Token, *, context: DateContext) -> Token | None:
    gap = context.folded[left.finish : right.begin]
    if isinstance(right.value, TimeOfDay):
        if not isinstance(left.value, Reading) or left.value.period.grain not in {"day", "hour", "minute"}:
            return _finer(left, right) if _DATE_TIME.fullmatch(gap) else None
        if _TO.fullmatch(gap) and left.value.period.grain != "day":
            return _until_time(left, right.value, finish=right.finish)
        return Token(left.begin, right.finish, _on_day(left.value, right.value)) if _DATE_TIME.fullmatch(gap) else None
    day_beside = isinstance(left.value, TimeOfDay) and right.value.period.grain in {"day", "hour"}
    if isinstance(left.value, TimeOfDay) and day_beside and _TIME_DATE.fullmatch(gap):
        return Token(left.begin, right.finish, _on_day(right.value, left.value))
    return None


def _finer(left: Token, right: Token) -> Token | None:
    """Two times of one day: "in the morning at 9"."""
    if isinstance(left.value, TimeOfDay) and isinstance(right.value, TimeOfDay):
        return Token(left.begin, right.finish, _in_half(right.value, left.value.start))
    return None


def _on_day(date: Reading, time: TimeOfDay) -> Reading:
    start = date.period.start
    hour = 0 if date.period.grain == "day" else 60 * start.hour
    placed = _in_half(time, hour)
    period = calendar.at_time(calendar.day(start), placed)
    return replace(date, period=period, yearless=False, bare_clock=placed.is_bare)


def _in_half(time: TimeOfDay, hour: int) -> TimeOfDay:
    """A clock time after noon if the part of the day that is known already lies there: "tonight at 8:30".

    "Last night at 3" is after midnight.
    """
    if hour >= _EVENING and time.is_bare and time.end <= _DAWN:
        return TimeOfDay(time.start + 1440, time.end + 1440, time.grain)
    if hour >= 720 and time.end <= 720:
        return TimeOfDay(time.start + 720, time.end + 720, time.grain)
    return replace(time, is_bare=False) if hour and time.is_bare else time


def _until_time(left: Token, time: TimeOfDay, *, finish: int) -> Token | None:
    assert isinstance(left.value, Reading)
    begun = left.value.period
    until = calendar.at_time(calendar.day(begun.start), _in_half(time, 60 * begun.start.hour)).start
    if until <= begun.start:
        return None
    return Token(left.begin, finish, replace(left.value, period=Period(begun.start, until, "range"), yearless=False))


def narrowed(tokens: list[Token], context: DateContext) -> list[Token]:
    """Parts of longer periods: "early 2022", "the end of next month"."""
    return [_narrowed(token, context) for token in tokens]


def _narrowed(token: Token, context: DateContext) -> Token:
    match = _before(_PART, token, context=context)
    if not match or not isinstance(token.value, Reading) or token.value.period.grain in {"day", "hour", "minute"}:
        return token
    which = match["third"] or {"end": "end", "middle": "mid"}.get(match["edge"], "start")
    period = calendar.part(token.value.period, which)
    return Token(_begin(match, token), token.finish, replace(token.value, period=period, yearless=False))


def counted_off(tokens: list[Token], context: DateContext) -> list[Token]:
    """Distances from another date: "the Friday before 22 October", "two weeks after Christmas"."""
    made: list[Token] = []
    for token in tokens:
        last = made[-1] if made else None
        weekday = _WEEKDAY_BESIDE.fullmatch(context.folded[last.finish : token.begin]) if last else None
        if last and weekday and _is_weekday(last, context):
            made[-1] = _weekday_beside(last, token, before=weekday["way"] in {"before", "preceding"})
        else:
            counted = _counted(token, context)
            if last and counted.begin < last.finish:  # "last weekend before 10 April" names one weekend
                made.pop()
            made.append(counted)
    return made


def _is_weekday(token: Token, context: DateContext) -> bool:
    return context.folded[token.begin : token.finish].endswith("day") and token.finish - token.begin < 10


def _weekday_beside(left: Token, right: Token, *, before: bool) -> Token:
    assert isinstance(left.value, Reading)
    assert isinstance(right.value, Reading)
    start, which = right.value.period.start, left.value.period.start.weekday()
    weekday = calendar.weekday_before(start, which) if before else calendar.weekday_after(start, which)
    reading = Reading(weekday, explicit=right.value.explicit, guess=right.value.guess, doubtful=right.value.doubtful)
    return Token(left.begin, right.finish, reading)


def _counted(token: Token, context: DateContext) -> Token:
    match = _before(_COUNTED, token, context=context)
    if not match or not isinstance(token.value, Reading):
        return token
    word = match["n"] or "a"
    count = int(word) if word.isdigit() else _NUMBERS.get(word, 0)
    sign = -1 if match["way"] in {"before", "preceding"} else 1
    unit = "day" if match["unit"] == "night" else match["unit"]
    counts = (sign * count, sign * count) if count else (sign * 2, sign * 5)
    at = token.value.period.start if sign < 0 else calendar.day(token.value.period.end, -1).start
    period = calendar.away(at, unit, counts=counts)
    return Token(_begin(match, token), token.finish, replace(token.value, period=period, yearless=False))


def joined(tokens: list[Token], context: DateContext) -> list[Token]:
    """Ranges from their two ends: "from 3 May to 5 June", "between March and July 2023"."""
    made: list[Token] = []
    for token in tokens:
        last = made[-1] if made else None
        both = _range(last, token, context=context) if last else None
        if both:
            made[-1] = both
        else:
            made.append(token)
    return made


def _range(left: Token, right: Token, *, context: DateContext) -> Token | None:
    gap = context.folded[left.finish : right.begin]
    if _AND.fullmatch(gap):
        if not (_AFTER_RANGE.match(context.folded, right.finish) or _before(_BETWEEN, left, context=context)):
            return None
    elif not _TO.fullmatch(gap):
        return None
    value = _from_to(left.value, right.value)
    return Token(left.begin, right.finish, value) if value else None


def _from_to(first: Reading | TimeOfDay, last: Reading | TimeOfDay) -> Reading | None:
    """The range between two readings; one that names no year follows the other."""
    assert isinstance(first, Reading)
    assert isinstance(last, Reading)
    try:
        begun, until = _ends(first, last)
    except ValueError:  # the 29th of February, or a feast of the moon in a year that no table holds
        return None
    if until.end <= begun.start or until.start < begun.start:
        return None
    explicit = (first.explicit and (last.explicit or last.yearless)) or (first.yearless and last.explicit)
    return Reading(
        Period(begun.start, until.end, "range"),
        explicit=explicit,
        yearless=first.yearless and last.yearless,
        doubtful=first.doubtful or last.doubtful,
        guess=first.guess or last.guess,
    )


def _ends(first: Reading, last: Reading) -> tuple[Period, Period]:
    begun, until = first.period, last.period
    if first.yearless and not last.yearless:
        begun = _near_year(first, until.start.year)
        begun = begun if begun.start < until.end else _near_year(first, until.start.year - 1)
    elif last.yearless:
        until = _near_year(last, begun.start.year)
        until = until if until.start >= begun.start else _near_year(last, begun.start.year + 1)
    return begun, until


def _near_year(reading: Reading, year: int) -> Period:
    if reading.in_year is not None:
        return reading.in_year(year)
    period = reading.period
    start = period.start.replace(year=year)
    return Period(start, start + (period.end - period.start), period.grain)


def bounded(tokens: list[Token], context: DateContext) -> list[Token]:
    """Open ends: "before May", "since last Friday", "春节以后". What begins the next ends none (年底前年)."""
    ends = [*(token.begin for token in tokens[1:]), len(context.text)]
    opened = [_bounded(token, context) for token in tokens]
    return [new if new.finish <= end else token for token, new, end in zip(tokens, opened, ends, strict=True)]


def _bounded(token: Token, context: DateContext) -> Token:
    led, trailed = _before(_LED, token, context=context), _TRAILED.match(context.folded, token.finish)
    word = next((name for match in (trailed, led) if match and (name := match.lastgroup)), "")
    if not word or not isinstance(token.value, Reading) or (led and led["since_"] and not trailed):
        return token
    period = _open(token.value.period, word.rstrip("_"), now=context.now)
    if period is None:
        return token
    begin = _begin(led, token) if led else token.begin
    return Token(begin, trailed.end() if trailed else token.finish, replace(token.value, period=period))


def _open(period: Period, word: str, *, now: datetime) -> Period | None:
    if word == "around":
        return Period(calendar.day(period.start, -7).start, calendar.day(period.end, 7).start, "range")
    if word == "before":
        return Period(BEGINNING, period.start, "range")
    if word == "until":
        return Period(BEGINNING, period.end, "range")
    if word == "after":
        return Period(period.end, FOREVER, "range")
    today = calendar.day(now).end
    return Period(period.start, today if period.start < today else FOREVER, "range")


def _before(pattern: re.Pattern[str], token: Token, *, context: DateContext) -> re.Match[str] | None:
    """A phrase that ends where the token begins. The returned positions count from the start of the text."""
    if not _LEADING.search(context.folded, max(0, token.begin - 14), token.begin):
        return None
    return pattern.search(context.folded, max(0, token.begin - 40), token.begin)


def _begin(match: re.Match[str], token: Token) -> int:
    return min(match.start(), token.begin)
