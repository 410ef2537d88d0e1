"""Who is being served right now, so that the upkeep can let them go first."""

from __future__ import annotations

import asyncio
import threading
from time import monotonic
from typing import Final, Self

_LOOKED_EVERY: Final = 0.005
"""Seconds. The upkeep looks now and then, rather than being woken: that would cost every call 13 microseconds."""


class Traffic:
    """Counts the calls in flight, of all threads: `with traffic: …` around each."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls = 0

    @property
    def in_flight(self) -> int:
        """How many calls are being served."""
        return self._calls

    def __enter__(self) -> Self:
        with self._lock:
            self._calls += 1
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._calls -= 1

    async def quiet(self, *, at_most: float) -> None:
        """Returns when nobody is being served, and after `at_most` seconds in any case."""
        give_up = monotonic() + at_most
        while self._calls and monotonic() < give_up:  # noqa: ASYNC110 – see _LOOKED_EVERY
            await asyncio.sleep(_LOOKED_EVERY)
        await asyncio.sleep(0)  # whoever has just come gets the loop before the upkeep goes on
