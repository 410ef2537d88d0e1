"""The number of examples that a property test tries, by the profile of hypothesis that is in use."""

from __future__ import annotations

from typing import Final

from hypothesis import settings

USUAL_EXAMPLES: Final = 100
MIN_EXAMPLES: Final = 5


def examples(count: int) -> int:
    """Return `count` in the usual profile, and a number in proportion in the others."""
    return max(MIN_EXAMPLES, count * settings.default.max_examples // USUAL_EXAMPLES)
