"""The probability that a memory is needed again, which no forgetting curve gives.

p = 1 / (1 + e^-z), z = intercept + idle · ln(1 + t) + uses · ln(1 + n) + importance · I + age · ln(1 + a). Here t is
the days since the memory was last of use (else since it was last said), n how often it was of use, I its importance,
and a the days since it was first said: a logistic regression of "of use within the next 30 days". That the log-odds of
being needed are linear in the logarithms of time and of uses is what Anderson and Schooler (Psychological Science 2,
1991) found in headlines, in speech to children and in mail. It is there to be read: nothing is kept or forgotten by it.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from datetime import datetime
from math import exp, log1p
from typing import Final

from ebbing.domain.bounds import require_between
from ebbing.domain.forgetting.curves import SECONDS_A_DAY, idle_days
from ebbing.domain.memory.record import MemoryRecord

HORIZON_DAYS: Final = 30.0
"""What "again" means: within so many days."""
MAX_COEFFICIENT: Final = 15.0
"""Of a coefficient, up or down."""
_MIN_SHOWN_CHANCE: Final = 0.001
_MAX_LOG_ODDS: Final = 30.0
"""Of the log-odds, up or down: beyond it no probability differs from 0 or 1 in print."""


@dataclass(frozen=True, slots=True)
class UsageFeatures:
    """The features of a memory at one moment that tell how likely it is needed."""

    idle_days: float
    """Since it was last of use, else since it was last said; 0 or more."""
    uses: int
    importance: float
    """In [0, 1]."""
    age_days: float
    """Since it was first said; 0 or more."""

    @property
    def features(self) -> tuple[float, float, float, float, float]:
        """1, ln(1 + idle days), ln(1 + uses), importance, ln(1 + age in days)."""
        return 1.0, log1p(self.idle_days), log1p(self.uses), self.importance, log1p(self.age_days)


@dataclass(frozen=True, slots=True)
class UsageModel:
    """The coefficients of the logistic, each from -15 to 15.

    Raises:
        ConfigurationError: one is out of these bounds.
    """

    intercept: float
    idle: float
    """At most 0 in what is fitted: time never makes a memory likelier."""
    uses: float
    importance: float
    age: float

    def __post_init__(self) -> None:
        for name in self.__slots__:
            require_between(f"retention: {name}", getattr(self, name), least=-MAX_COEFFICIENT, most=MAX_COEFFICIENT)

    @property
    def coefficients(self) -> tuple[float, ...]:
        """In the order of `UsageFeatures.features`."""
        return astuple(self)

    @property
    def falls_with_time(self) -> bool:
        """Whether a memory that is not used never becomes likelier as time goes by."""
        return self.idle <= 0 and self.age <= -self.idle

    def chance(self, footing: UsageFeatures) -> float:
        """Return the probability, in (0, 1), that the memory is of use within the next 30 days."""
        odds = sum(weight * value for weight, value in zip(self.coefficients, footing.features, strict=True))
        return 1 / (1 + exp(-min(max(odds, -_MAX_LOG_ODDS), _MAX_LOG_ODDS)))

    def as_text(self, footing: UsageFeatures) -> str:
        """Return the chance as part of a sentence."""
        chance = self.chance(footing)
        percent = f"{chance:.1%}" if chance >= _MIN_SHOWN_CHANCE else f"below {_MIN_SHOWN_CHANCE:.1%}"
        return f"the chance that it is needed within {HORIZON_DAYS:.0f} days is {percent}"


DEFAULT_USAGE_MODEL: Final = UsageModel(intercept=-6.54, idle=-0.28, uses=3.21, importance=1.95, age=0.0)
"""Fitted on the first 13 people of the synthetic year by `python -m evals retention --users 13`, while an owner had
less room; one record in some hundreds is needed in a month. It holds until the upkeep has learned from the owner's own
log."""


def usage_features(record: MemoryRecord, now: datetime) -> UsageFeatures:
    """Return how a memory stands at `now`."""
    first_mention = record.first_said_at or record.created_at
    age = max(0.0, (now - first_mention).total_seconds() / SECONDS_A_DAY)
    return UsageFeatures(idle_days(record, now), record.access_count, record.importance, age)
