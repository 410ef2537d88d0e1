"""How far a memory may be trusted when it is read: its confidence, and the risk that it misleads."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from ebbing.domain.memory.record import MemoryRecord, MemoryType

# The confidence of a memory when it is read, which falls with time.

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


# The risk that a memory misleads: it may be unsure, old, or irrelevant.

RISKY_ABOVE: Final = 0.7
_UNSURE_BELOW: Final = 0.6
_OLD_AFTER: Final = timedelta(days=90)
_WEAK_BELOW: Final = 0.5


def risk(*, confidence: float, age: timedelta, is_fact: bool, relevance: float) -> float:
    """Risk in [0, 1]: 0.3 for a confidence under 0.6, 0.2 for an age over 90 days, 0.1 for a fact (a wrong one does
    more harm than a wrong taste), 0.4 for a calibrated relevance under 0.5."""
    tenths = 3 * (confidence < _UNSURE_BELOW) + 2 * (age > _OLD_AFTER) + is_fact + 4 * (relevance < _WEAK_BELOW)
    return min(tenths, 10) / 10  # counted in tenths: 0.2 + 0.1 + 0.4 is more than 0.7 in binary fractions


def risk_of(record: MemoryRecord, relevance: float, *, now: datetime) -> float:
    """Return the risk of using a record that was recalled with a relevance in [0, 1].

    Confidence is the stored one: age has its own share, and would count twice through `confidence_at`.
    """
    is_fact = record.type is MemoryType.FACT
    return risk(confidence=record.confidence, age=age_of(record, now), is_fact=is_fact, relevance=relevance)


def is_risky(value: float) -> bool:
    """Return whether a risk is high enough to be pointed out: above 0.7."""
    return value > RISKY_ABOVE
