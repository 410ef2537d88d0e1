"""A circuit breaker: what fails again and again is left alone for a while, so that nobody waits for it in vain."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Breaker:
    """Closed as long as calls succeed; open after `failures` in a row; after `pause_seconds` one call may try.

    If that call succeeds the breaker closes, if it fails the pause begins again. Safe to share between threads.

    Args:
        failures: failures in a row that open it, at least 1.
        pause_seconds: how long it stays open.
        monotonic: seconds that never go backwards.
    """

    def __init__(
        self, failures: int = 5, *, pause_seconds: float = 30.0, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit = failures
        self._pause_seconds = pause_seconds
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._failed = 0
        self._open_until = 0.0
        """While open: the moment from which one call may try."""

    @property
    def is_closed(self) -> bool:
        """Whether calls go through as usual."""
        return self._failed < self._limit

    @property
    def is_open(self) -> bool:
        """Whether a call would be turned away now."""
        return not self.is_closed and self._monotonic() < self._open_until

    def enter(self) -> float:
        """Asks for leave to make a call: 0.0 grants it, else so many seconds are left until one may try.

        Each call that got leave reports `succeeded`, `failed` or `abandoned`.
        """
        with self._lock:
            if self._failed < self._limit:
                return 0.0
            left = self._open_until - self._monotonic()
            if left > 0:
                return left
            # This call tries; the others go on waiting until it has reported, or a pause long.
            self._open_until = self._monotonic() + self._pause_seconds
            return 0.0

    def succeeded(self) -> None:
        """The call was answered."""
        with self._lock:
            self._failed = 0

    def failed(self) -> None:
        """The call was not answered."""
        with self._lock:
            self._failed += 1
            if self._failed >= self._limit:
                self._open_until = self._monotonic() + self._pause_seconds

    def abandoned(self) -> None:
        """The caller gave up before the call had an outcome: if it was the one that tries, the next one may."""
        with self._lock:
            if self._failed >= self._limit:
                self._open_until = self._monotonic()
