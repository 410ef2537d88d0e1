"""Who is being served right now, so that the upkeep can let them go first."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ebbing.upkeep.stop import Flag


class Traffic:
    """Counts the calls in flight, of all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls = 0
        self._quiet = Flag(is_set=True)

    @property
    def in_flight(self) -> int:
        """How many calls are being served."""
        return self._calls

    @contextmanager
    def call(self) -> Iterator[None]:
        """Counts a call for as long as it lasts."""
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    async def quiet(self, *, at_most: float) -> None:
        """Returns when nobody is being served, and after `at_most` seconds in any case."""
        await self._quiet.wait(at_most)
        await asyncio.sleep(0)  # whoever has just come gets the loop before the upkeep goes on

    def _count(self, by: int) -> None:
        with self._lock:
            self._calls += by
            if not self._calls:
                self._quiet.set()
            elif self._quiet.is_set:
                self._quiet.clear()
