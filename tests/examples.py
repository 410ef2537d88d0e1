"""The number of examples that a property test tries: a fixed set by default, more with `make test-random`."""

from __future__ import annotations

from typing import Final

from hypothesis import settings

RANDOM_FACTOR: Final = 5
"""How many times as many examples a test tries when they are random."""


def examples(count: int) -> int:
    """Return `count`, or more where the examples differ from run to run."""
    return count if settings.default.derandomize else count * RANDOM_FACTOR
