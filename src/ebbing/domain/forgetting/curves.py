"""Forgetting curves: the strength of a memory over the time since its last use.

A curve gives a number to order memories by and to act on at a threshold of its own. It is no probability: measured on
real logs, the raw value of either curve predicts worse than a constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import exp, log
from types import MappingProxyType
from typing import Final, Protocol

from ebbing.domain.bounds import require_between
from ebbing.domain.forgetting.stability import FSRS
from ebbing.domain.memory.feedback import REINFORCING, Feedback, Signal
from ebbing.domain.memory.record import MemoryRecord, MemoryType

PINNED: Final = "pinned"
"""Tag of what the user wants kept whatever happens."""
LASTING_TAGS: Final = frozenset({"identity", "constraint", PINNED})
"""A person's name or allergy is not forgotten for want of being asked."""
SECONDS_A_DAY: Final = 86_400.0
_SHORTEST_DAYS: Final = 0.001
"""Stability under which corrections do not shorten it any more."""


class Curve(Protocol):
    """Turns the time since a memory was last of use into how well it is remembered."""

    @property
    def forgotten_below(self) -> float:
        """Retention under which a memory has faded, in [0, 1]."""
        ...

    def stability_days(self, record: MemoryRecord) -> float:
        """Return how slowly this memory fades: the time constant of the curve, in days, above 0."""
        ...

    def remembered(self, days: float, stability_days: float) -> float:
        """Retention in [0, 1] after so many days; 1 at 0, never rising."""
        ...

    def days_until(self, remembered: float, stability_days: float) -> float:
        """Return after how many days retention is down to `remembered`, in (0, 1]: the inverse of `remembered`."""
        ...


@dataclass(frozen=True, slots=True)
class ExponentialCurve:
    """R = e^(-t/S), S = min(cap, (base + 2 · importance + 0.1 · uses) · factor of the type), after Ebbinghaus (1885).

    With the cap of 10 days, anything that is not used again has faded after 23 days at the latest.
    """

    base_days: float = 1.0
    days_per_importance: float = 2.0
    days_per_use: float = 0.1
    type_factors: Mapping[MemoryType, float] = field(
        default_factory=lambda: MappingProxyType({MemoryType.PREFERENCE: 1.5, MemoryType.FACT: 1.3})
    )
    longest_days: float = 10.0
    """Cap of the stability."""
    forgotten_below: float = 0.1

    def __post_init__(self) -> None:
        require_between("forgetting: base_days", self.base_days, least=0.01, most=3_650)
        require_between("forgetting: days_per_importance", self.days_per_importance, least=0, most=3_650)
        require_between("forgetting: days_per_use", self.days_per_use, least=0, most=365)
        require_between("forgetting: longest_days", self.longest_days, least=0.01, most=36_500)
        require_between("forgetting: forgotten_below", self.forgotten_below, least=0, most=1)
        for factor in self.type_factors.values():
            require_between("forgetting: type_factors", factor, least=0.01, most=100)

    def stability_days(self, record: MemoryRecord) -> float:
        """S in days, at most `longest_days`."""
        days = self.base_days + self.days_per_importance * record.importance + self.days_per_use * record.access_count
        return min(self.longest_days, days * self.type_factors.get(record.type, 1.0))

    def remembered(self, days: float, stability_days: float) -> float:
        """e^(-t/S)."""
        return exp(-days / stability_days)

    def days_until(self, remembered: float, stability_days: float) -> float:
        """-S · ln R."""
        return -stability_days * log(remembered)


@dataclass(frozen=True, slots=True)
class PowerLawCurve:
    """R = (1 + f · t/S)^(-d), f = 0.9^(-1/d) - 1, so that R = 0.9 at t = S: the curve of the FSRS-6 scheduler.

    S = S0 · growth, S0 = least · e^(importance · ln spread): an unimportant memory starts at `least_days`, the most
    important at `least_days · spread`. The growth is kept with each memory: a use raises it, the more so the later it
    comes, and a correction lowers it (`SpacedUse`).
    """

    decay: float = 0.1542
    """d; the default weight w20 of FSRS-6, which allows 0.1 to 0.8."""
    least_days: float = 0.5
    spread: float = 60.0
    longest_days: float = 3_650.0
    """Cap of the stability."""
    forgotten_below: float = 0.7

    def __post_init__(self) -> None:
        require_between("forgetting: decay", self.decay, least=0.1, most=0.8)
        require_between("forgetting: least_days", self.least_days, least=0.01, most=365)
        require_between("forgetting: spread", self.spread, least=1, most=10_000)
        require_between("forgetting: longest_days", self.longest_days, least=0.01, most=36_500)
        require_between("forgetting: forgotten_below", self.forgotten_below, least=0, most=1)

    def stability_days(self, record: MemoryRecord) -> float:
        """S in days: the time after which retention is 0.9, at most `longest_days`."""
        return min(self.longest_days, self.least_days * exp(record.importance * log(self.spread)) * record.growth)

    def remembered(self, days: float, stability_days: float) -> float:
        """(1 + f · t/S)^(-d)."""
        factor = 0.9 ** (-1 / self.decay) - 1
        return float((1 + factor * days / stability_days) ** -self.decay)

    def days_until(self, remembered: float, stability_days: float) -> float:
        """S · (R^(-1/d) - 1) / f."""
        factor = 0.9 ** (-1 / self.decay) - 1
        return float(stability_days * (remembered ** (-1 / self.decay) - 1) / factor)


EXPONENTIAL: Final = ExponentialCurve()
POWER_LAW: Final = PowerLawCurve()


def never_fades(record: MemoryRecord) -> bool:
    """Return whether a memory is kept whatever time passes: who somebody is, what they require or forbid, what is
    pinned.
    """
    return record.type is MemoryType.CONSTRAINT or not LASTING_TAGS.isdisjoint(record.tags)


def idle_days(record: MemoryRecord, now: datetime) -> float:
    """Days since the memory was last recalled or reinforced, else since it was made; 0 for a time to come."""
    return max(0.0, (now - (record.last_accessed_at or record.created_at)).total_seconds() / SECONDS_A_DAY)


def retention(record: MemoryRecord, now: datetime, *, curve: Curve = POWER_LAW) -> float:
    """Return how well the memory is remembered at `now`, in [0, 1]; 1 for what never fades."""
    if never_fades(record):
        return 1.0
    return curve.remembered(idle_days(record, now), curve.stability_days(record))


def reinforce(record: MemoryRecord, now: datetime) -> MemoryRecord:
    """Return the memory after it was of use at `now`: its clock starts again and it fades more slowly from there.

    A use before the last one counts, but does not turn the clock back.
    """
    before, remembered = _standing(record, now)
    longer = FSRS.after_use(before, idle_days=idle_days(record, now), remembered=remembered)
    return replace(
        record,
        last_accessed_at=max(now, record.last_accessed_at or record.created_at),
        access_count=record.access_count + 1,
        strength=1.0,
        growth=record.growth * max(1.0, min(longer, POWER_LAW.longest_days) / before),
    )


def lapse(record: MemoryRecord, now: datetime) -> MemoryRecord:
    """Return the memory after somebody said at `now` that it is wrong: it fades faster from there, and its clock goes
    on.
    """
    before, remembered = _standing(record, now)
    shorter = max(FSRS.after_lapse(before, remembered=remembered), _SHORTEST_DAYS)
    weaker = replace(record, growth=record.growth * min(1.0, shorter / before))
    return replace(weaker, strength=min(record.strength, retention(weaker, now)))


def _standing(record: MemoryRecord, now: datetime) -> tuple[float, float]:
    """Stability in days and retention on the power law, by which uses are reckoned whatever curve is chosen."""
    stability = POWER_LAW.stability_days(record)
    return stability, POWER_LAW.remembered(idle_days(record, now), stability)


def after_signal(record: MemoryRecord, feedback: Feedback, *, before: AbstractSet[Signal]) -> MemoryRecord:
    """Return the memory after somebody said what became of it; `before` holds what was said of the same answer already.

    A use reinforces it, once an answer; being corrected is a lapse. Being ignored changes nothing: an answer is given
    more memories than it needs.
    """
    if feedback.signal in REINFORCING:
        return reinforce(record, feedback.at) if REINFORCING.isdisjoint(before) else record
    return lapse(record, feedback.at) if feedback.signal is Signal.CORRECTED else record
