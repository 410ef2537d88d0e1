"""The conditions under which a memory enters the long-term layer."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from ebbing.domain.forgetting.stages import REPEATED, is_protected, times_said
from ebbing.domain.memory.record import MemoryRecord, MemoryType, Stage

SHORT_TERM_AGE: Final = timedelta(days=7)
"""How long something is new."""
MIN_USES: Final = 2
"""Uses that show that a memory is needed."""
MIN_IMPORTANCE: Final = 0.8
"""Importance from which something known about a person is kept for its own sake."""


def earned(record: MemoryRecord, *, importance: float, now: datetime) -> str | None:
    """Why the memory belongs to the long term, as a sentence; None if it does not, or not yet.

    `importance` in [0, 1] is the one that it has among the owner's memories.
    """
    if record.stage not in {Stage.FULL, Stage.KEYWORD_ONLY}:
        return None
    if times_said(record) >= REPEATED:
        return f"it was said {record.mentions} times"
    if record.access_count >= MIN_USES:
        return f"it was of use {record.access_count} times"
    if now - record.created_at < SHORT_TERM_AGE:
        return None
    if is_protected(record):
        return f"it is a {record.type.value}, and older than {SHORT_TERM_AGE.days} days"
    if importance >= MIN_IMPORTANCE and record.type is not MemoryType.EPISODIC:
        return f"it is among the most important that is known, and older than {SHORT_TERM_AGE.days} days"
    return None
