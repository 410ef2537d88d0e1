"""Where a process stands in the queue for the processor."""

from __future__ import annotations

import os

_NICENESS = 10
"""Half way to the last place in the queue for the processor."""


def yield_processor() -> None:
    """Lets every process of usual priority go first, where the system knows priorities."""
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
