"""The risk of using a memory, and how trust in it fades."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from ebbing.domain.memory.record import MemoryRecord, MemoryType
from ebbing.domain.memory.risk import confidence_at, is_risky, risk, risk_of
from ebbing.domain.memory.scope import Scope

NOW = datetime(2024, 6, 1, tzinfo=UTC)
RECORD = MemoryRecord("1", Scope(user_id="u"), "User likes tea", created_at=NOW, recorded_at=NOW)


@pytest.mark.parametrize(
    ("days", "factor"),
    [(0, 1.0), (6.99, 1.0), (7, 0.9), (29.99, 0.9), (30, 0.7), (89.99, 0.7), (90, 0.5), (5000, 0.5)],
)
def test_confidence_fades_in_four_steps(days: float, factor: float) -> None:
    record = replace(RECORD, created_at=NOW - timedelta(days=days), confidence=0.8)
    assert confidence_at(record, NOW) == pytest.approx(0.8 * factor)
    assert record.confidence == 0.8


def test_a_memory_that_was_reworded_yesterday_is_as_sure_as_new() -> None:
    record = replace(RECORD, created_at=NOW - timedelta(days=400), updated_at=NOW - timedelta(days=1))
    assert confidence_at(record, NOW) == 1.0


def test_a_memory_from_after_now_is_no_older_than_now() -> None:
    assert confidence_at(replace(RECORD, created_at=NOW + timedelta(days=3)), NOW) == 1.0


@pytest.mark.parametrize(
    ("confidence", "days", "is_fact", "relevance", "expected"),
    [
        (0.9, 1, False, 0.9, 0.0),
        (0.59, 1, False, 0.9, 0.3),
        (0.6, 1, False, 0.9, 0.0),
        (0.9, 91, False, 0.9, 0.2),
        (0.9, 90, False, 0.9, 0.0),
        (0.9, 1, True, 0.9, 0.1),
        (0.9, 1, False, 0.49, 0.4),
        (0.9, 1, False, 0.5, 0.0),
        (0.1, 91, False, 0.9, 0.5),
        (0.9, 91, True, 0.1, 0.7),
        (0.1, 1, False, 0.1, 0.7),
        (0.1, 91, False, 0.1, 0.9),
        (0.1, 91, True, 0.1, 1.0),
    ],
)
def test_each_reason_for_doubt_adds_its_share(
    confidence: float, days: float, is_fact: bool, relevance: float, expected: float
) -> None:
    value = risk(confidence=confidence, age=timedelta(days=days), is_fact=is_fact, relevance=relevance)
    assert value == expected
    assert is_risky(value) is (expected > 0.7)


def test_the_risk_of_a_record_comes_from_what_it_is_and_how_well_it_fits() -> None:
    old_fact = replace(RECORD, type=MemoryType.FACT, created_at=NOW - timedelta(days=100), confidence=0.9)
    assert risk_of(old_fact, 0.95, now=NOW) == 0.3
    assert risk_of(old_fact, 0.2, now=NOW) == 0.7
    assert risk_of(replace(old_fact, confidence=0.5), 0.2, now=NOW) == 1.0
    assert risk_of(RECORD, 0.95, now=NOW) == 0.0
