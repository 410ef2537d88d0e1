"""Identifiers that rise with time: UUID version 7 (RFC 9562, section 5.7)."""

from __future__ import annotations

import os
import threading
import time
from secrets import token_urlsafe


class TimeOrderedIds:
    """`Ids` made of 48 bits of milliseconds, 12 bits of their fraction, and 62 random bits.

    Within a process every id is larger than the one before, even when the clock is set back; neighbours in time are
    neighbours in an index.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def new(self) -> str:
        # 1/4096 of a millisecond: what fits the 12 bits that follow the version (RFC 9562, method 3).
        ticks = time.time_ns() * 4096 // 1_000_000
        with self._lock:
            ticks = self._last = max(ticks, self._last + 1)
        milliseconds, fraction = divmod(ticks, 4096)
        random = int.from_bytes(os.urandom(8)) >> 2
        return (
            f"{milliseconds >> 16 & 0xFFFFFFFF:08x}-{milliseconds & 0xFFFF:04x}-7{fraction:03x}"
            f"-{2 << 14 | random >> 48:04x}-{random & (1 << 48) - 1:012x}"
        )

    def secret(self) -> str:
        return token_urlsafe(32)
