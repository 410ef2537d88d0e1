"""A clock that stands still until it is moved."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class ManualClock:
    """A `Clock` for tests and simulations."""

    def __init__(self, now: datetime = datetime(2024, 1, 1, tzinfo=UTC)) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now

    def set(self, now: datetime) -> None:
        """Moves to a moment, forwards or backwards."""
        self._now = now

    def advance(self, by: timedelta) -> datetime:
        """Moves on and returns the new time."""
        self._now += by
        return self._now
