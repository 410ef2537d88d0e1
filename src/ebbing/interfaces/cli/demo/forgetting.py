"""What two forgetting curves make of the demo's memories: a simulation that changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from ebbing.domain.forgetting.curves import EXPONENTIAL, POWER_LAW, never_fades, reinforce, retention
from ebbing.domain.memory.record import Kind, MemoryRecord
from ebbing.domain.memory.scope import DEFAULT_TENANT
from ebbing.transfer.record_lines import record_from_line

DAYS: Final = 30


@dataclass(frozen=True, slots=True)
class Fading:
    """One record before and after; each number is a retention in [0, 1]."""

    record: MemoryRecord
    now: float
    later: float
    exponential_later: float
    recalled: bool
    """It answered one of the questions, so its clock started again."""

    @property
    def fate(self) -> str:
        """What would become of it on the power law: `protected`, `stays` or `fades`."""
        if never_fades(self.record):
            return "protected"
        return "fades" if self.later < POWER_LAW.forgotten_below else "stays"

    @property
    def fades_exponentially(self) -> bool:
        """Whether it falls below the threshold of the exponential curve."""
        return self.exponential_later < EXPONENTIAL.forgotten_below


def fading(lines: Iterable[Mapping[str, Any]], now: datetime, *, recalled: AbstractSet[str]) -> list[Fading]:
    """Exported records on both curves now and after 30 days, the best kept first.

    Args:
        recalled: ids of the records that were of use at `now`.
    """
    fadings = [_fading(record_from_line(line, tenant=DEFAULT_TENANT), now, recalled=recalled) for line in lines]
    return sorted(fadings, key=lambda fading: (-fading.later, fading.record.created_at, fading.record.id))


def memories(fadings: Iterable[Fading]) -> list[Fading]:
    """Those that were read from messages, without the messages themselves."""
    return [item for item in fadings if item.record.kind is Kind.MEMORY]


def episodes(fadings: Iterable[Fading]) -> list[Fading]:
    """The messages."""
    return [item for item in fadings if item.record.kind is Kind.EPISODE]


def _fading(record: MemoryRecord, now: datetime, *, recalled: AbstractSet[str]) -> Fading:
    used = record.id in recalled
    record = reinforce(record, now) if used else record
    later = now + timedelta(days=DAYS)
    return Fading(
        record,
        now=retention(record, now, curve=POWER_LAW),
        later=retention(record, later, curve=POWER_LAW),
        exponential_later=retention(record, later, curve=EXPONENTIAL),
        recalled=used,
    )
