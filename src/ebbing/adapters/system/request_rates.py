"""Rates of requests, counted in this process."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Final

_MOST: Final = 10_000
"""Credentials that are counted; when more call, those with full buckets are forgotten."""


class InProcessRequestRates:
    """A `RequestRates` in the memory of one process.

    Args:
        per_minute: 0 limits nothing.
        clock: seconds that only rise.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = per_minute, clock
        self._buckets: dict[tuple[str, str], tuple[float, float]] = {}

    async def take(self, tenant: str, caller: str) -> int:
        if not self._most:
            return 0
        now, bucket = self._clock(), (tenant, caller)
        left, at = self._buckets.get(bucket, (float(self._most), now))
        left = min(float(self._most), left + (now - at) * self._most / 60)
        if left < 1:
            self._buckets[bucket] = (left, now)
            return math.ceil((1 - left) * 60 / self._most)
        if len(self._buckets) >= _MOST:
            self._forget(now)
        self._buckets[bucket] = (left - 1, now)
        return 0

    async def aclose(self) -> None:
        """There is nothing to close."""

    def _forget(self, now: float) -> None:
        self._buckets = {
            bucket: (left, at)
            for bucket, (left, at) in self._buckets.items()
            if left + (now - at) * self._most / 60 < self._most
        }
