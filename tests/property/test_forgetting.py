"""What every forgetting curve promises, whatever the memory."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.domain.errors import ConfigurationError
from ebbing.domain.forgetting.curves import (
    EXPONENTIAL,
    POWER_LAW,
    Curve,
    ExponentialCurve,
    PowerLawCurve,
    idle_days,
    lapse,
    never_fades,
    reinforce,
    retention,
)
from ebbing.domain.forgetting.stability import FSRS, SpacedUse
from ebbing.domain.memory.record import MemoryRecord, MemoryType
from ebbing.domain.memory.scope import Scope

START = datetime(2025, 3, 1, tzinfo=UTC)
curves = st.one_of(
    st.builds(
        ExponentialCurve,
        base_days=st.floats(0.01, 100),
        days_per_importance=st.floats(0, 100),
        days_per_use=st.floats(0, 10),
        longest_days=st.floats(0.01, 1_000),
    ),
    st.builds(
        PowerLawCurve,
        decay=st.floats(0.1, 0.8),
        least_days=st.floats(0.01, 365),
        spread=st.floats(1, 10_000),
    ),
)
moments = st.integers(-30, 3_650).map(lambda days: START + timedelta(days=days))
types = st.sampled_from(MemoryType)
records = st.builds(
    MemoryRecord,
    id=st.just("m"),
    belongs_to=st.just(Scope(user_id="u")),
    content=st.just("likes tea"),
    created_at=st.just(START),
    recorded_at=st.just(START),
    type=types,
    tags=st.sampled_from([(), ("preference",), ("fact", "identity")]),
    importance=st.floats(0, 1),
    access_count=st.integers(0, 10_000),
    last_accessed_at=st.none() | moments,
    growth=st.floats(0.01, 1_000),
)


def memory(**fields: object) -> MemoryRecord:
    plain = MemoryRecord(id="m", belongs_to=Scope(user_id="u"), content="x", created_at=START, recorded_at=START)
    return replace(plain, **fields)  # type: ignore[arg-type]


@given(records, curves, moments)
def test_retention_stays_between_zero_and_one(record: MemoryRecord, curve: Curve, now: datetime) -> None:
    assert 0 <= retention(record, now, curve=curve) <= 1


@given(records, curves, moments, moments)
def test_retention_never_rises_while_nothing_happens(
    record: MemoryRecord, curve: Curve, one: datetime, other: datetime
) -> None:
    assert retention(record, max(one, other), curve=curve) <= retention(record, min(one, other), curve=curve)


@given(records, curves, moments, st.floats(0, 1))
def test_what_matters_more_is_kept_at_least_as_well(
    record: MemoryRecord, curve: Curve, now: datetime, importance: float
) -> None:
    other = replace(record, importance=importance)
    less, more = sorted((record, other), key=lambda one: one.importance)
    assert retention(less, now, curve=curve) <= retention(more, now, curve=curve)


@given(records, curves, moments, moments)
def test_a_recall_never_lowers_retention(record: MemoryRecord, curve: Curve, recalled: datetime, now: datetime) -> None:
    assert retention(reinforce(record, recalled), now, curve=curve) >= retention(record, now, curve=curve)


@given(curves, st.floats(0.05, 1.0), st.floats(0.01, 3_650.0))
def test_the_day_on_which_retention_is_down_to_a_value_has_that_value(
    curve: Curve, value: float, stability: float
) -> None:
    days = curve.days_until(value, stability)
    assert days >= 0
    assert curve.remembered(days, stability) == pytest.approx(value)


@given(records, curves)
def test_a_memory_is_whole_at_the_moment_of_its_recall(record: MemoryRecord, curve: Curve) -> None:
    now = START + timedelta(days=3_650)
    assert retention(reinforce(record, now), now, curve=curve) == 1


@given(records, curves, moments)
def test_who_somebody_is_and_what_they_require_never_fades(record: MemoryRecord, curve: Curve, now: datetime) -> None:
    for kept in (
        replace(record, tags=("fact", "identity")),
        replace(record, type=MemoryType.CONSTRAINT),
        replace(record, tags=("pinned",)),
    ):
        assert never_fades(kept)
        assert retention(kept, now, curve=curve) == 1


def test_the_exponential_follows_its_formula() -> None:
    record = memory(importance=0.5, access_count=10, type=MemoryType.FACT)
    assert EXPONENTIAL.stability_days(record) == pytest.approx((1 + 1 + 1) * 1.3)
    assert retention(record, START + timedelta(days=3.9), curve=EXPONENTIAL) == pytest.approx(0.36788, abs=1e-5)
    assert EXPONENTIAL.stability_days(memory(importance=1, access_count=500)) == 10


def test_on_the_exponential_everything_idle_has_faded_after_23_days() -> None:
    strongest = memory(importance=1, access_count=10_000, type=MemoryType.PREFERENCE)
    after_23_days = retention(strongest, START + timedelta(days=23), curve=EXPONENTIAL)
    later = retention(strongest, START + timedelta(days=23.1), curve=EXPONENTIAL)
    assert later < EXPONENTIAL.forgotten_below <= after_23_days


def test_on_the_power_law_retention_is_nine_tenths_after_one_stability() -> None:
    for importance, days in ((0.0, 0.5), (1.0, 30.0)):
        record = memory(importance=importance)
        assert POWER_LAW.stability_days(record) == pytest.approx(days)
        assert retention(record, START + timedelta(days=days), curve=POWER_LAW) == pytest.approx(0.9)


def test_the_clock_starts_again_with_the_last_recall_and_never_turns_back() -> None:
    record = memory()
    now = START + timedelta(days=10)
    used = reinforce(record, START + timedelta(days=8))
    assert (idle_days(record, now), idle_days(used, now)) == (10, 2)
    assert idle_days(reinforce(used, START + timedelta(days=1)), now) == 2
    assert idle_days(record, START - timedelta(days=1)) == 0
    assert (used.access_count, used.strength) == (1, 1.0)


@given(st.lists(st.integers(0, 400), max_size=6), st.floats(0, 1), st.floats(0, 1), st.integers(0, 3_650))
def test_at_equal_use_what_matters_more_is_kept_at_least_as_well(
    pauses: list[int], one: float, other: float, idle: int
) -> None:
    less, more = memory(importance=min(one, other)), memory(importance=max(one, other))
    now = START
    for pause in pauses:
        now += timedelta(days=pause)
        less, more = reinforce(less, now), reinforce(more, now)
    later = now + timedelta(days=idle)
    assert retention(less, later) <= retention(more, later) + 1e-12


@given(st.floats(0, 1), st.integers(0, 400), st.integers(1, 400))
def test_a_late_use_is_worth_more_than_an_early_one(importance: float, pause: int, longer: int) -> None:
    early = reinforce(memory(importance=importance), START + timedelta(days=pause))
    late = reinforce(memory(importance=importance), START + timedelta(days=pause + longer))
    assert early.growth <= late.growth


@given(records, moments, moments)
def test_a_lapse_weakens_a_memory_and_does_not_turn_its_clock(
    record: MemoryRecord, corrected: datetime, now: datetime
) -> None:
    weaker = lapse(record, corrected)
    assert retention(weaker, now) <= retention(record, now)
    assert weaker.strength <= record.strength
    assert (weaker.last_accessed_at, weaker.access_count) == (record.last_accessed_at, record.access_count)


def test_spaced_uses_follow_the_formula_of_fsrs() -> None:
    # e^1.8722 · (11 − 5) · 4^−0.1666 · (e^(0.796 · 0.1) − 1) = 2.5659 at R = 0.9
    assert FSRS.after_use(4.0, idle_days=4.0, remembered=0.9) == pytest.approx(4 * (1 + 2.5659), rel=1e-4)
    # 1.4835 · 5^−0.0614 · (5^0.2629 − 1) · e^(1.6483 · 0.1) = 0.8347
    assert FSRS.after_lapse(4.0, remembered=0.9) == pytest.approx(0.8347, rel=1e-3)
    assert FSRS.after_use(4.0, idle_days=0.5, remembered=0.98) == 4.0
    assert FSRS.after_use(1.0, idle_days=0.5, remembered=0.98) == pytest.approx(1.0507, rel=1e-3)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ExponentialCurve(longest_days=0),
        lambda: ExponentialCurve(forgotten_below=1.1),
        lambda: ExponentialCurve(type_factors={MemoryType.FACT: 0}),
        lambda: PowerLawCurve(decay=0.9),
        lambda: SpacedUse(difficulty=11),
        lambda: PowerLawCurve(spread=float("nan")),
    ],
)
def test_a_curve_refuses_parameters_out_of_range(make: object) -> None:
    with pytest.raises(ConfigurationError, match="must be from"):
        make()  # type: ignore[operator]
