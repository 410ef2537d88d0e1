"""The wait after a failure."""

from __future__ import annotations

from datetime import timedelta


def pause_after(attempts: int, *, first: timedelta, longest: timedelta, share: float) -> timedelta:
    """Return the wait after so many attempts (from 1): it doubles up to `longest`, and half of it is left to chance.

    This is the "equal jitter" of Brooker, "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015): those who
    failed together do not come back together, and nobody comes back at once.

    Args:
        share: drawn from 0 to 1; 1 gives the whole wait, 0 half of it.
    """
    whole = min(first * (1 << min(max(attempts, 1) - 1, 16)), longest)
    return whole * (0.5 + 0.5 * share)
