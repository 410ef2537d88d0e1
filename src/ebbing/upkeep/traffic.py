"""Who is being served right now, so that the upkeep can let them go first."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Traffic:
    """Counts the calls in flight. Used on one event loop at a time."""

    def __init__(self) -> None:
        self._calls = 0
        self._quiet: asyncio.Event | None = None

    @property
    def in_flight(self) -> int:
        """How many calls are being served."""
        return self._calls

    @contextmanager
    def call(self) -> Iterator[None]:
        """Counts a call for as long as it lasts."""
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1
            if not self._calls and self._quiet is not None:
                self._quiet.set()

    async def quiet(self, *, at_most: float) -> None:
        """Returns when nobody is being served, and after `at_most` seconds in any case."""
        if self._calls:
            self._quiet = asyncio.Event()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._quiet.wait(), at_most)
        await asyncio.sleep(0)  # whoever has just come gets the loop before the upkeep goes on
