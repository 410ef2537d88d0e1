"""What is due when: turns that come round, told apart by the moment at which each began."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from ebbing.domain.bounds import require_between

HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)
_MIDNIGHT: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ScheduleEntry:
    """Something that comes round."""

    kind: str
    """The kind of job that it is."""
    every: timedelta
    offset: timedelta = timedelta(0)
    """How long after midnight UTC the first turn of a day begins."""
    for_each_tenant: bool = True

    def last_turn(self, now: datetime) -> datetime:
        """When the turn began in which `now` falls."""
        return now - (now - _MIDNIGHT - self.offset) % self.every


@dataclass(frozen=True, slots=True)
class ScheduledTurn:
    """One time that something is to be done."""

    kind: str
    began: datetime

    @property
    def name(self) -> str:
        """The same in every process that looks at the same clock: `2026-01-01T03:00+00:00`."""
        return self.began.isoformat(timespec="minutes")


def usual(*, hour: int) -> tuple[ScheduleEntry, ...]:
    """The daily round and the cleaning up at an hour of the day (UTC, 0 to 23), what expires and the profiles hourly.

    Raises:
        ConfigurationError: there is no such hour.
    """
    require_between("upkeep: hour", hour, least=0, most=23)
    return (
        ScheduleEntry("expire", HOUR),
        ScheduleEntry("daily", DAY, hour * HOUR),
        ScheduleEntry("cleanup", DAY, hour * HOUR, for_each_tenant=False),
        ScheduleEntry("profile", HOUR),
        ScheduleEntry("reindex", HOUR),
    )


def due(rhythms: Iterable[ScheduleEntry], now: datetime, *, seen: Mapping[str, datetime]) -> list[ScheduledTurn]:
    """The turns that have begun and were not seen yet: of each kind the last one only, however long nobody looked.

    Args:
        seen: when the last turn began that was taken care of, by kind.
    """
    turns = (ScheduledTurn(rhythm.kind, rhythm.last_turn(now)) for rhythm in rhythms)
    return [turn for turn in turns if turn.kind not in seen or turn.began > seen[turn.kind]]
