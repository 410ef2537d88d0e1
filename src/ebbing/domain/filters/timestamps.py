"""Times as people write them: ISO 8601 text, epoch numbers, or datetimes, all read as UTC where they name no zone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

MILLISECONDS_FROM: Final = 1e11
"""Epoch numbers beyond this (the year 5138 in seconds) are taken for milliseconds."""
_REST_OF_A_DAY: Final = timedelta(days=1) - timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Span:
    """A time as precise as it was given: a moment (`first` is `last`), or the whole of a day in UTC."""

    first: datetime
    last: datetime


def moment_of(value: object) -> datetime | None:
    """Return the moment in aware UTC that a text, a number or a datetime stands for; None where it stands for none."""
    span = span_of(value)
    return span.first if span else None


def span_of(value: object) -> Span | None:
    """Return the moment or day that a text, a number, a date or a datetime stands for; None if it is none."""
    try:
        if isinstance(value, datetime):
            return _single_moment(value)
        if isinstance(value, date):
            return _day(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return _single_moment(
                datetime.fromtimestamp(value / 1000 if abs(value) > MILLISECONDS_FROM else value, UTC)
            )
        if isinstance(value, str):
            return _read(value.strip())
    except (ValueError, OverflowError, OSError):
        pass
    return None


def _read(text: str) -> Span:
    try:
        return _day(date.fromisoformat(text))
    except ValueError:
        return _single_moment(datetime.fromisoformat(text))


def _day(day: date) -> Span:
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return Span(midnight, midnight + _REST_OF_A_DAY)


def _single_moment(moment: datetime) -> Span:
    utc = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return Span(utc, utc)
