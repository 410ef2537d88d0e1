"""The time of a message, in whichever form a program wrote it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

TIME_KEYS: Final = (
    *("timestamp", "created_at", "create_time", "createdAt", "createTime", "sent_at", "send_date", "datetime"),
    *("date_time", "date", "time", "ts"),
)
"""Where exports write when a message was sent; the first that holds something counts."""
_MICROSECONDS_FROM: Final = 1e14
_NANOSECONDS_FROM: Final = 1e17
"""Epoch numbers above these are in smaller units; milliseconds are known to `add` itself."""
_CLOCK_TIME: Final = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})\s*@\s*(\d{1,2})h\s*(\d{1,2})m\s*(\d{1,2})s(?:\s*(\d{1,3})ms)?"
)
_YEAR_FIRST: Final = re.compile(
    r"(\d{4})\s?[-/.年]\s?(\d{1,2})\s?[-/.月]\s?(\d{1,2})\s?日?"
    r"(?:[T\s]*(上午|下午|AM|PM)?\s*(\d{1,2})[:：时](\d{1,2})分?(?:[:：]?(\d{1,2})秒?)?\s*(AM|PM)?)?",
    re.IGNORECASE,
)
_WRITTEN: Final = (
    *("%B %d, %Y %I:%M%p", "%B %d, %Y %I:%M %p", "%B %d, %Y %H:%M", "%B %d, %Y"),
    *("%b %d, %Y, %I:%M:%S %p", "%b %d, %Y, %I:%M %p", "%b %d, %Y %I:%M %p", "%b %d, %Y"),
    *("%d %B %Y %H:%M", "%d %b %Y %H:%M", "%d %B %Y", "%d %b %Y"),
    *("%a %b %d %Y %H:%M:%S GMT%z", "%a %b %d %H:%M:%S %Y"),
)
_AFTERNOON: Final = frozenset({"下午", "pm"})


def message_time(message: Mapping[str, object]) -> tuple[str | None, object]:
    """The key that holds the time of a message, and its value; None where no key holds any."""
    times = ((key, message[key]) for key in TIME_KEYS if message.get(key) not in (None, ""))
    return next(times, (None, None))


def read_time(value: object) -> datetime | float | None:
    """A moment, or epoch seconds or milliseconds; None where it is in no form that leaves a single reading.

    A day and a month in figures with the year behind them can be read in two ways, and are refused. A time without a
    zone is taken as UTC.
    """
    if isinstance(value, Mapping):
        return read_time(value["$date"]) if set(value) == {"$date"} else None
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _epoch(float(value))
    if isinstance(value, datetime):
        return value
    return _of_text(" ".join(value.split())) if isinstance(value, str) else None


def _epoch(number: float) -> float | None:
    if not math.isfinite(number):
        return None
    if number > _NANOSECONDS_FROM:
        return number / 1e9
    return number / 1e6 if number > _MICROSECONDS_FROM else number


def _of_text(text: str) -> datetime | float | None:
    if re.fullmatch(r"\d{9,19}(\.\d+)?", text):
        return _epoch(float(text))
    if match := _CLOCK_TIME.fullmatch(text):
        *parts, milliseconds = (int(part or 0) for part in match.groups())
        return _moment(*parts, milliseconds * 1_000)
    if (match := _YEAR_FIRST.fullmatch(text)) and (moment := _year_first(match)):
        return moment
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return _written(re.sub(r"\s*\([^)]*\)$", "", text))


def _year_first(match: re.Match[str]) -> datetime | None:
    year, month, day, before, hour, minute, second, after = match.groups()
    half = (before or after or "").lower()
    hours = int(hour or 0)
    if half:
        hours = hours % 12 + 12 * (half in _AFTERNOON) if 1 <= hours <= 12 else -1
    return _moment(int(year), int(month), int(day), hours, int(minute or 0), int(second or 0))


def _written(text: str) -> datetime | None:
    for form in _WRITTEN:
        try:
            moment = datetime.strptime(text, form)  # noqa: DTZ007 – a zone follows where the form has none
        except ValueError:
            continue
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _moment(*parts: int) -> datetime | None:
    try:
        return datetime(*parts, tzinfo=UTC)  # type: ignore[misc, arg-type]
    except ValueError:
        return None
