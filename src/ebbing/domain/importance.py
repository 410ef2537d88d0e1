"""How much a new memory matters, in [0, 1]: by what its text holds, or by the formula of the first design.

Pure functions; the numbers that go in are worked out by `remember.weigh`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import erf, log, sqrt
from types import MappingProxyType
from typing import Final

from ebbing.domain.record import MemoryType

IMPACT: Final[Mapping[MemoryType, float]] = MappingProxyType(
    {
        MemoryType.PREFERENCE: 0.9,
        MemoryType.CONSTRAINT: 0.9,
        MemoryType.FACT: 0.8,
        MemoryType.PROCEDURAL: 0.8,
        MemoryType.SEMANTIC: 0.7,
        MemoryType.EPISODIC: 0.5,
    }
)
"""How much each type of memory changes what an assistant should do."""
FADED_AFTER_DAYS: Final = 30.0
"""From this age on, recency counts nothing."""


def seed_importance(memory_type: MemoryType, *, scarcity: float, age_days: float, certainty: float) -> float:
    """0.25 · scarcity + 0.35 · impact + 0.20 · recency + 0.20 · certainty.

    `scarcity` in [0, 1] is 1 − the largest similarity to what is known, `certainty` in [0, 1] how sure the speaker was;
    recency falls from 1 to 0 over 30 days. Measured on conversations, recency does harm (docs/remembering.md).
    """
    recency = max(0.0, 1.0 - max(age_days, 0.0) / FADED_AFTER_DAYS)
    parts = 0.25 * _share(scarcity) + 0.35 * IMPACT[memory_type] + 0.20 * recency + 0.20 * _share(certainty)
    return _share(parts)


@dataclass(frozen=True, slots=True)
class Substance:
    """What a text holds, as far as the text alone tells."""

    specifics: int
    """Names, numbers and dates."""
    novelty: float
    """1 − the largest similarity to what is known, in [0, 1]."""
    content_share: float
    """Share of its words that are no filler, in [0, 1]."""
    statement: float
    """Importance of its category by the rule that read it, in [0, 1]."""
    size: int
    """UTF-8 bytes."""


def measured_importance(text: Substance) -> float:
    """The percentile of a weighted sum of standard scores, in (0, 1).

    log(1 + specifics) + 0.5 · novelty + 0.5 · content share + 0.5 · statement − 0.3 · log(1 + size), each minus its
    mean and over its spread. Half of all sentences in conversations lie under 0.5, most facts over 0.6. Of the signals
    and weights tried on conversations, these kept the most answers at a given size; how often something was said is the
    one better signal, and counts later.
    """
    score = sum(
        weight * (value - mean) / spread for value, (weight, mean, spread) in zip(_signals(text), _WEIGHTS, strict=True)
    )
    return 0.5 * (1 + erf(score / _SPREAD / sqrt(2)))


_WEIGHTS: Final = (
    (1.0, 0.09, 0.27),
    (0.5, 0.80, 0.20),
    (0.5, 0.52, 0.18),
    (0.5, 0.11, 0.28),
    (-0.3, 3.79, 0.65),
)
"""Weight, mean and spread of each signal over the 2,448 sentences that people say in MemoryBank; novelty is assumed."""
_SPREAD: Final = sqrt(sum(weight**2 for weight, _, _ in _WEIGHTS))
"""Standard deviation of the sum if its parts were independent."""


def _signals(text: Substance) -> tuple[float, ...]:
    return log(1 + text.specifics), text.novelty, text.content_share, text.statement, log(1 + text.size)


def _share(value: float) -> float:
    return min(max(value, 0.0), 1.0)
