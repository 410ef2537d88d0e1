"""How many requests a credential may send."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Final

_MOST: Final = 10_000
"""Credentials that are counted; when more call, those with full buckets are forgotten."""


class Rates:
    """A bucket of tokens for each caller: a minute's worth at most, filled steadily.

    Args:
        per_minute: 0 limits nothing.
        clock: seconds that only rise.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = per_minute, clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, caller: str) -> int:
        """Counts a request; 0 if it may pass, else the seconds after which the next may."""
        if not self._most:
            return 0
        now = self._clock()
        left, at = self._buckets.get(caller, (float(self._most), now))
        left = min(float(self._most), left + (now - at) * self._most / 60)
        if left < 1:
            self._buckets[caller] = (left, now)
            return math.ceil((1 - left) * 60 / self._most)
        if len(self._buckets) >= _MOST:
            self._forget(now)
        self._buckets[caller] = (left - 1, now)
        return 0

    def _forget(self, now: float) -> None:
        self._buckets = {
            caller: (left, at)
            for caller, (left, at) in self._buckets.items()
            if left + (now - at) * self._most / 60 < self._most
        }
