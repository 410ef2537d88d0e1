"""The feedback about a memory that was returned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final


class Signal(StrEnum):
    """The signals of feedback about a memory that an answer held."""

    USED = "used"
    """The answer was made with it."""
    IGNORED = "ignored"
    """It was returned and did not matter."""
    CORRECTED = "corrected"
    """The person said that it is wrong."""
    UP = "up"
    """The person was glad of it."""
    DOWN = "down"
    """The person did not want it."""


REINFORCING: Final = frozenset({Signal.USED, Signal.UP})
"""Being of use keeps a memory. Being returned does not: that measured 4 to 23 points of recall worse."""
SIGNAL_NAMES: Final[Mapping[str, Signal]] = {
    **{signal.value: signal for signal in Signal},
    "positive": Signal.UP,
    "negative": Signal.DOWN,
    "very_negative": Signal.DOWN,
}
"""What a signal may be called, in lower case: our names, and mem0's."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """One signal about one memory."""

    memory_id: str
    signal: Signal
    recall_id: str
    """The answer that held the memory. The same signal about the same memory and answer counts once."""
    at: datetime
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """The number of times that a memory was returned, and the feedback since."""

    returned: int = 0
    last_returned_at: datetime | None = None
    feedback: tuple[Feedback, ...] = field(default=())
    """The newest hundred, oldest first."""
