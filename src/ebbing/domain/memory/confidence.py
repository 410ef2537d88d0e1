"""The confidence of a memory when it is read, which falls with time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from ebbing.domain.memory.record import MemoryRecord

_FADING: Final = ((timedelta(days=7), 1.0), (timedelta(days=30), 0.9), (timedelta(days=90), 0.7))
"""Younger than the age: times the factor."""
_OLD_FACTOR: Final = 0.5


def confidence_at(record: MemoryRecord, now: datetime) -> float:
    """Return the confidence in [0, 1] with which a memory may be read at `now`; what is stored stays as it is.

    Under 7 days old it is the stored one, under 30 days 0.9 of it, under 90 days 0.7, from then on half.
    """
    return record.confidence * _factor(age_of(record, now))


def age_of(record: MemoryRecord, now: datetime) -> timedelta:
    """Time since it was said or last given another wording, whichever is later; never negative."""
    last = max(record.created_at, record.updated_at or record.created_at)
    return max(now - last, timedelta())


def _factor(age: timedelta) -> float:
    return next((factor for limit, factor in _FADING if age < limit), _OLD_FACTOR)
