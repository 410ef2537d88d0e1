"""The machine's clock."""

from __future__ import annotations

from datetime import UTC, datetime


class SystemClock:
    """A `Clock` that tells the time of day."""

    def now(self) -> datetime:
        return datetime.now(UTC)
