"""Where a process stands in the queue for the processor."""

from __future__ import annotations

import os
import sys

_NICENESS = 10
"""Half way to the last place in the queue for the processor."""


def yield_thread() -> None:
    """Let threads of usual priority go first before this one and those that it starts, where threads have priorities.

    Half as far back as a process that yields: somebody waits for what it does, though not for the answer of a call.
    """
    if sys.platform == "linux":
        os.nice(_NICENESS // 2)


def yield_processor() -> None:
    """Let every process of usual priority go first, where the system knows priorities."""
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
