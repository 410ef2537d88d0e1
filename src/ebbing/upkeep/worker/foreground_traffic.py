"""Who is being served right now, so that the upkeep can let them go first."""

from __future__ import annotations

import asyncio
from collections import deque
from time import monotonic
from typing import Final, Self

_LOOKED_EVERY: Final = 0.005
"""Seconds. The upkeep looks now and then, rather than being woken: that would cost every call 13 microseconds."""


class Traffic:
    """Counts the calls in flight, of all threads: `with traffic: …` around each."""

    def __init__(self) -> None:
        self._calls: deque[None] = deque()
        """One for each: its ends need no lock."""

    @property
    def in_flight(self) -> int:
        """How many calls are being served."""
        return len(self._calls)

    def __enter__(self) -> Self:
        self._calls.append(None)
        return self

    def __exit__(self, *_: object) -> None:
        self._calls.pop()

    async def quiet(self, *, at_most: float) -> None:
        """Returns when nobody is being served, and after `at_most` seconds in any case."""
        give_up = monotonic() + at_most
        while self._calls and monotonic() < give_up:  # noqa: ASYNC110 – see _LOOKED_EVERY
            await asyncio.sleep(_LOOKED_EVERY)
        await asyncio.sleep(0)  # whoever has just come gets the loop before the upkeep goes on
