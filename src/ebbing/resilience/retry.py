"""When a failed request or job is tried again, and after how long."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

# When a failed request is worth repeating, and after how long.

FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 20.0


def is_passing(status: int) -> bool:
    """Whether a status tells of a trouble that goes by itself: a time-out, too many requests, a failing server."""
    return status in {408, 409, 425, 429} or status >= 500


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """The seconds of a `Retry-After` among the headers of an answer, where there is one in seconds."""
    header = headers.get("Retry-After", "").strip()
    return float(header) if header.isascii() and header.isdecimal() else None


def wait_seconds(attempt: int, seconds_asked: float | None = None) -> float:
    """Doubles from half a second with each attempt (from 0), and is no shorter than what was asked; 20 s at most."""
    return min(max(FIRST_WAIT_SECONDS * 2.0**attempt, seconds_asked or 0.0), LONGEST_WAIT_SECONDS)


# The wait after a failure.


def pause_after(attempts: int, *, first: timedelta, longest: timedelta, share: float) -> timedelta:
    """Return the wait after so many attempts (from 1): it doubles up to `longest`, and half of it is left to chance.

    This is the "equal jitter" of Brooker, "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015): those who
    failed together do not come back together, and nobody comes back at once.

    Args:
        share: drawn from 0 to 1; 1 gives the whole wait, 0 half of it.
    """
    whole = min(first * (1 << min(max(attempts, 1) - 1, 16)), longest)
    return whole * (0.5 + 0.5 * share)
