"""The importance of a new memory, in [0, 1]: by its text, or by the formula of the first design.

Pure functions; the numbers that go in are worked out by `remember.reconcile.importance`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import erf, log, sqrt
from types import MappingProxyType
from typing import Final

from ebbing.domain.memory.record import MemoryType

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
    """The features of a text."""

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
    """Return the percentile of a weighted sum of standard scores, in (0, 1).

    log(1 + specifics) + 0.5 · novelty + 0.5 · content share + 0.5 · statement − 0.3 · log(1 + size), each minus its
    mean and over its spread. Half of all sentences in conversations lie under 0.5, most facts over 0.6. Of the signals
    and weights tried on conversations, these kept the most answers at a given size; how often something was said is the
    one better signal, and counts later.
    """
    score = sum(
        weight * (value - mean) / spread for value, (weight, mean, spread) in zip(_signals(text), _WEIGHTS, strict=True)
    )
    return 0.5 * (1 + erf(score / _SPREAD / sqrt(2)))


WORTH: Final[Mapping[str, float]] = MappingProxyType(
    {
        "length": 1.0,
        "says": 0.4,
        "idf": 0.4,
        "answers": 0.4,
        "novelty": 0.3,
        "states": 0.3,
        "specifics": 0.3,
        "asks": -0.3,
    }
)
"""Weight of each signal's standard score among the owner's own texts, when the owner's store is looked after:
log(1 + bytes without function words), whether more than politeness is left, mean rarity of its words, whether it
answers a question, 1 − the largest similarity to anything before it, whether it states something of the speaker,
log(1 + names, numbers and dates), and whether it asks. Around `USUAL_ODDS` they are the log-odds of being needed."""
LASTING: Final = 0.6
"""Added for what names something that lasts of whoever speaks: body, origin, family, home, belongings, arrangements."""
PASTED: Final = -2.0
"""Added for code, logs and the like, which are nobody's words."""
USUAL_ODDS: Final = -2.2
"""Log-odds of an average sentence: one in ten is ever asked for."""
KNOWN_FROM: Final = 20
"""With so many texts an owner's own statistics weigh as much as what was thought of a memory when it was written."""


def owners_importance(share: float, *, first: float, texts: int) -> float:
    """Importance in [0, 1] from the share of the owner's texts that are worth less.

    `first` is the importance from the time of writing; it counts less the more texts there are to compare with.
    """
    return (texts * _share(share) + KNOWN_FROM * _share(first)) / (texts + KNOWN_FROM)


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
