"""Flags that any thread, or a signal handler, may set, and that tasks on any event loop can wait for."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress


class Flag:
    """Like `threading.Event`, to be awaited."""

    def __init__(self, *, is_set: bool = False) -> None:
        self._set = threading.Event()
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()
        if is_set:
            self._set.set()

    @property
    def is_set(self) -> bool:
        """Whether it was set, and not cleared since."""
        return self._set.is_set()

    def set(self) -> None:
        """Sets it and wakes whoever waits; setting it twice changes nothing."""
        self._set.set()
        for loop, event in self._waiting.copy():
            with suppress(RuntimeError):  # that loop has ended
                loop.call_soon_threadsafe(event.set)

    def clear(self) -> None:
        """Takes it back."""
        self._set.clear()

    async def wait(self, seconds: float) -> None:
        """Returns when it is set, and after so many seconds in any case."""
        waiting = (asyncio.get_running_loop(), asyncio.Event())
        self._waiting.add(waiting)
        try:
            if not self.is_set:
                with suppress(TimeoutError):
                    await asyncio.wait_for(waiting[1].wait(), seconds)
        finally:
            self._waiting.discard(waiting)


class Stop(Flag):
    """Tells a worker to finish the piece in hand and go home."""
