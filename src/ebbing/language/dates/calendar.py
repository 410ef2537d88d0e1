"""Calendar arithmetic for time expressions: days, weeks, months, seasons, years and parts of them.

Everything is computed in the time zone that `at` carries, on its wall clock. Weeks begin on Monday. Seasons are the
meteorological ones of the northern hemisphere; a winter belongs to the year in which it begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final, Literal

Grain = Literal["minute", "hour", "day", "week", "month", "season", "year", "range"]
Direction = Literal["past", "future", "none"]
DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of time in one time zone; `end` is exclusive."""

    start: datetime
    end: datetime
    grain: Grain


@dataclass(frozen=True, slots=True)
class TimeOfDay:
    """A part of some day, in minutes since its midnight; `end` may lie beyond 1440 for a night."""

    start: int
    end: int
    grain: Grain = "hour"
    is_bare: bool = False
    """A clock time that may lie before or after noon."""


def minute(at: datetime, shift: int = 0) -> Period:
    """The clock minute of `at`, or one so many later."""
    start = at.replace(second=0, microsecond=0) + timedelta(minutes=shift)
    return Period(start, start + timedelta(minutes=1), "minute")


def hour(at: datetime, shift: int = 0) -> Period:
    """The clock hour of `at`, or one so many later."""
    start = at.replace(minute=0, second=0, microsecond=0) + timedelta(hours=shift)
    return Period(start, start + timedelta(hours=1), "hour")


def day(at: datetime, shift: int = 0) -> Period:
    """The day of `at`, or one so many later."""
    start = _midnight(at) + shift * DAY
    return Period(start, start + DAY, "day")


def week(at: datetime, shift: int = 0) -> Period:
    """The week of `at`, from its Monday, or one so many later."""
    start = _midnight(at) + (7 * shift - at.weekday()) * DAY
    return Period(start, start + 7 * DAY, "week")


def weekend(at: datetime, shift: int = 0) -> Period:
    """Saturday and Sunday of the week of `at`."""
    whole = week(at, shift)
    return Period(whole.start + 5 * DAY, whole.end, "range")


def month(at: datetime, shift: int = 0) -> Period:
    """The calendar month of `at`, or one so many later."""
    return _months(at, at.year * 12 + at.month - 1 + shift, count=1, grain="month")


def quarter(at: datetime, shift: int = 0) -> Period:
    """The quarter of the year of `at`, or one so many later."""
    return _months(at, at.year * 12 + (at.month - 1) // 3 * 3 + 3 * shift, count=3, grain="range")


def year(at: datetime, shift: int = 0) -> Period:
    """The calendar year of `at`, or one so many later."""
    return _months(at, (at.year + shift) * 12, count=12, grain="year")


def decade(at: datetime, shift: int = 0) -> Period:
    """The ten years from a round number that hold `at`, or ten so many decades later."""
    return _months(at, (at.year // 10 * 10 + 10 * shift) * 12, count=120, grain="range")


def half_year(at: datetime, which: int) -> Period:
    """The first (0) or second (1) half of the year of `at`."""
    return _months(at, at.year * 12 + 6 * which, count=6, grain="range")


def season(at: datetime, which: int) -> Period:
    """Spring (0) to winter (3) that begins in the year of `at`."""
    return _months(at, at.year * 12 + 2 + 3 * which, count=3, grain="season")


PERIODS: Final[Mapping[str, Callable[[datetime, int], Period]]] = MappingProxyType(
    {
        "minute": minute,
        "hour": hour,
        "day": day,
        "week": week,
        "weekend": weekend,
        "month": month,
        "quarter": quarter,
        "year": year,
        "decade": decade,
    }
)
_SMALLER: Final = MappingProxyType(
    {
        "decade": ("year", 10),
        "year": ("month", 12),
        "quarter": ("month", 3),
        "month": ("day", 30),
        "week": ("day", 7),
        "day": ("hour", 24),
        "hour": ("minute", 60),
    }
)


def date(at: datetime, *, year: int, month: int, day: int) -> Period:
    """One calendar day in the zone of `at`. Raises `ValueError` for a day that does not exist."""
    start = _midnight(at).replace(year=year, month=month, day=day)
    return Period(start, start + DAY, "day")


def in_year(at: datetime, number: int) -> datetime:
    """The first day of a year, in the zone of `at`."""
    return _midnight(at).replace(year=number, month=1, day=1)


def moved(at: datetime, unit: str, *, count: float) -> tuple[datetime, str]:
    """`at` moved by `count` units, and the unit that the answer is exact to: half a year is six months."""
    while count != int(count) and unit in _SMALLER:
        unit, factor = _SMALLER[unit]
        count *= factor
    whole = round(count)
    if unit == "weekend":
        return at + 7 * whole * DAY, unit
    if unit in {"quarter", "month", "year", "decade"}:
        return _months_later(at, whole * {"quarter": 3, "month": 1, "year": 12, "decade": 120}[unit]), unit
    return at + whole * {"minute": DAY / 1440, "hour": DAY / 24, "day": DAY, "week": 7 * DAY}[unit], unit


def away(at: datetime, unit: str, *, counts: tuple[float, float]) -> Period:
    """The period that lies between two numbers of units away from `at`; negative counts lie before it."""
    low, high = (moved(at, unit, count=count) for count in sorted(counts))
    first, last = PERIODS[low[1]](low[0], 0), PERIODS[high[1]](high[0], 0)
    return first if first == last else Period(first.start, last.end, "range")


def stretch(at: datetime, unit: str, *, count: float) -> Period:
    """From `count` units before `at` to `at`, or from `at` to as many units after; whole days, but for short units."""
    other, exact = moved(at, unit, count=count)
    first, last = min(at, other), max(at, other)
    whole = minute if exact in {"minute", "hour"} else day
    return Period(whole(first).start, whole(last).end, "range")


def weekday(at: datetime, which: int, *, weeks: int = 0) -> Period:
    """Monday (0) to Sunday (6) of the week of `at`, or of a week so many later."""
    return day(week(at, weeks).start, which)


def weekday_before(at: datetime, which: int, *, count: int = 1) -> Period:
    """The `count`-th such weekday before the day of `at`."""
    return day(at, -((at.weekday() - which - 1) % 7 + 1) - 7 * (count - 1))


def weekday_after(at: datetime, which: int) -> Period:
    """The first such weekday after the day of `at`."""
    return day(at, (which - at.weekday() - 1) % 7 + 1)


def part(whole: Period, which: str) -> Period:
    """The `early`, `mid` or `late` third of a period, or its `start` or `end` (about a sixth), in whole days."""
    days = (whole.end - whole.start).days
    if days < 7:
        return whole
    if whole.grain == "year" or days > 300:
        return _part_in_months(whole, which)
    third, edge = max(days // 3, 2), max(days // 4, 2)
    first, last = {
        "early": (0, third),
        "mid": (third, days - third),
        "late": (days - third - (days % 3 > 0 and days > 27), days),
        "start": (0, edge),
        "end": (days - edge, days),
    }[which]
    return Period(whole.start + first * DAY, whole.start + last * DAY, "range")


def at_time(date: Period, time: TimeOfDay) -> Period:
    """A part of a day as a period."""
    start = date.start + timedelta(minutes=time.start)
    return Period(start, date.start + timedelta(minutes=time.end), time.grain)


def nearest(candidates: Iterable[Period], now: datetime, *, direction: Direction) -> Period:
    """Of periods in order of time: the last one begun, the first one not yet over, or the one closest to `now`."""
    every = list(candidates)
    if direction == "past":
        return next((item for item in reversed(every) if item.start <= now), every[0])
    if direction == "future":
        return next((item for item in every if item.end > now), every[-1])
    return min(every, key=lambda period: (max(period.start - now, now - period.end, timedelta()), period.start > now))


def towards(period: Period, now: datetime) -> Direction:
    """On which side of `now` a period lies; one that only reaches to or from today counts by its other end."""
    today = day(now)
    if period.end <= now or (period.start < today.start and period.end <= today.end):
        return "past"
    if period.start > now or (period.start >= today.start and period.end > today.end):
        return "future"
    return "none"


def _midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)


def _months(at: datetime, first: int, *, count: int, grain: Grain) -> Period:
    origin = _midnight(at)

    def begin(index: int) -> datetime:
        return origin.replace(year=index // 12, month=index % 12 + 1, day=1)

    return Period(begin(first), begin(first + count), grain)


def _months_later(at: datetime, count: int) -> datetime:
    index = at.year * 12 + at.month - 1 + count
    first = at.replace(year=index // 12, month=index % 12 + 1, day=1)
    days = (month(first).end - month(first).start).days
    return first.replace(day=min(at.day, days))


def _part_in_months(whole: Period, which: str) -> Period:
    start = whole.start
    count = (whole.end.year - start.year) * 12 + whole.end.month - start.month
    first, last = {
        "early": (0, count // 3),
        "mid": (count // 3, count - count // 3),
        "late": (count - count // 3, count),
        "start": (0, count // 6),
        "end": (count - count // 6, count),
    }[which]
    index = start.year * 12 + start.month - 1
    return _months(start, index + first, count=last - first, grain="range")
