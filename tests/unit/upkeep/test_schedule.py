"""What is due when, and how long something that failed is left alone: told from the time alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.domain.errors import ConfigurationError
from ebbing.resilience.retry import pause_after
from ebbing.upkeep.worker.schedule import DAY, HOUR, ScheduleEntry, due, usual

MINUTE = timedelta(minutes=1)
MOMENTS = st.timedeltas(timedelta(0), 36_500 * DAY).map(lambda since: datetime(1990, 1, 1, tzinfo=UTC) + since)
RHYTHMS = st.builds(
    ScheduleEntry, st.just("x"), st.sampled_from([HOUR, DAY, 15 * MINUTE]), st.sampled_from([0 * HOUR, HOUR])
)


def at(hour: int, minute: int = 0, *, day: int = 1) -> datetime:
    return datetime(2026, 1, day, hour, minute, tzinfo=UTC)


def test_the_daily_round_begins_at_its_hour_and_once_a_day() -> None:
    daily = [rhythm for rhythm in usual(hour=3) if rhythm.kind == "daily"]
    [turn] = due(daily, at(14, 30), seen={})
    assert (turn.began, turn.name) == (at(3), "2026-01-01T03:00+00:00")
    seen = {"daily": turn.began}
    assert due(daily, at(2, 59, day=2), seen=seen) == []
    assert [turn.began for turn in due(daily, at(3, day=2), seen=seen)] == [at(3, day=2)]


def test_what_was_missed_while_nobody_worked_is_made_up_for_once() -> None:
    kinds = ("expire", "daily", "cleanup", "profile", "reindex")
    turns = due(usual(hour=3), at(5, 10, day=20), seen=dict.fromkeys(kinds, at(4)))
    assert {turn.kind: turn.began for turn in turns} == {
        "expire": at(5, day=20),
        "profile": at(5, day=20),
        "reindex": at(5, day=20),
        "daily": at(3, day=20),
        "cleanup": at(3, day=20),
    }


@pytest.mark.parametrize("hour", [-1, 24])
def test_a_day_has_hours_from_0_to_23_only(hour: int) -> None:
    with pytest.raises(ConfigurationError):
        usual(hour=hour)


@given(rhythm=RHYTHMS, now=MOMENTS, later=st.timedeltas(timedelta(0), timedelta(days=3)))
def test_a_turn_has_begun_is_not_over_and_never_goes_back(
    rhythm: ScheduleEntry, now: datetime, later: timedelta
) -> None:
    began = rhythm.last_turn(now)
    assert began <= now < began + rhythm.every
    assert rhythm.last_turn(began) == began
    assert rhythm.last_turn(now + later) >= began
    assert due([rhythm], now, seen={"x": began}) == []


@given(attempts=st.integers(1, 1_000), share=st.floats(0, 1))
def test_a_pause_grows_within_its_bounds_and_is_never_cut_by_more_than_half(attempts: int, share: float) -> None:
    def pause(attempts: int, share: float) -> timedelta:
        return pause_after(attempts, first=MINUTE, longest=6 * HOUR, share=share)

    whole = pause(attempts, 1.0)
    assert whole / 2 <= pause(attempts, share) <= whole <= 6 * HOUR
    assert pause(attempts + 1, share) >= pause(attempts, share)


def test_pauses_double_from_a_minute_to_six_hours() -> None:
    waits = [pause_after(attempts, first=MINUTE, longest=6 * HOUR, share=1.0) for attempts in (1, 2, 3, 40)]
    assert waits == [MINUTE, 2 * MINUTE, 4 * MINUTE, 6 * HOUR]
