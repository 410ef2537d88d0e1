"""What tells the time."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """The only source of "now". Always timezone-aware UTC; tests and simulations move it."""

    def now(self) -> datetime: ...
