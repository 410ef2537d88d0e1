"""The time in the demo's story."""

from __future__ import annotations

from datetime import datetime


class StoryClock:
    """A `Clock` that stands where the story is."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def now(self) -> datetime:
        """The moment of the story."""
        return self._now

    def move(self, now: datetime) -> None:
        """Goes on to another moment."""
        self._now = now
