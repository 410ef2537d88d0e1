"""How fresh a memory is, when it will have faded, and how its retention ran from the day on which it was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Final

from ebbing.domain.forgetting.curves import SECONDS_A_DAY, Curve, after_signal, never_fades, retention
from ebbing.domain.forgetting.stages import STAGES, STEPS, is_later, is_protected
from ebbing.domain.memory.feedback import Feedback
from ebbing.domain.memory.record import MemoryRecord, Stage

_LAST: Final = datetime(9000, 1, 1, tzinfo=UTC).timestamp()
"""Later than this is never."""
_LEAST_STEP_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Freshness:
    """Where a memory stands on its curve at a moment."""

    retention: float
    """In [0, 1]."""
    never_fades: bool
    since: datetime
    """When its clock began: its last use, else when it was made."""
    stability_days: float
    fades_at: datetime | None
    """When its retention falls below what the curve calls forgotten; None for what never fades."""
    stage_at: Mapping[Stage, datetime]
    """When time alone brings it to each stage that is still to come; empty for what is spared."""


def freshness_of(record: MemoryRecord, now: datetime, *, curve: Curve, has_room: bool) -> Freshness:
    """Return where a memory stands at `now`, if nothing uses it from then on.

    Args:
        has_room: the owner has a limit of text, so that time alone takes the vector and no word.
    """
    since = record.last_accessed_at or record.created_at
    stability = curve.stability_days(record)
    lasting = never_fades(record)

    def moment_of(share: float) -> datetime | None:
        return _after(since, curve.days_until(share * curve.forgotten_below, stability))

    stages: dict[Stage, datetime] = {}
    if not is_protected(record):
        for stage, share in STEPS.items():
            at = moment_of(share)
            is_open = is_later(stage, record.stage) and not (has_room and is_later(stage, Stage.KEYWORD_ONLY))
            if at is not None and is_open:
                stages[stage] = at
    return Freshness(
        retention=retention(record, now, curve=curve),
        never_fades=lasting,
        since=since,
        stability_days=stability,
        fades_at=None if lasting else moment_of(1.0),
        stage_at={stage: stages[stage] for stage in STAGES if stage in stages},
    )


def retention_path(
    record: MemoryRecord, uses: Sequence[Feedback], *, until: datetime, curve: Curve, points: int
) -> list[tuple[datetime, float]]:
    """Return the retention of a memory from the day on which it was made, as (moment, value), each use a step up.

    What the signals do to the memory is played again; from the last of them on it is the memory as it is now.

    Args:
        uses: its signals, the oldest first.
        until: how far the path goes; not before the memory was made.
        points: at least so many, evenly spread; each use adds two.
    """
    standings = _standings(record, uses)
    ends = [at for at, _ in standings[1:]]
    path: list[tuple[datetime, float]] = []
    until = max(until, record.created_at)
    step = max((until - record.created_at).total_seconds() / max(points, 1), _LEAST_STEP_SECONDS)
    for (start, standing), (end, _) in pairwise([*standings, (until, record)]):
        count = int((end - start).total_seconds() / step) + 1
        moments = [start + timedelta(seconds=step * number) for number in range(count)]
        path += [(moment, retention(standing, moment, curve=curve)) for moment in moments if moment < end]
        if end in ends or end == until:
            path.append((end, retention(standing, end, curve=curve)))
    return path


def _standings(record: MemoryRecord, uses: Sequence[Feedback]) -> list[tuple[datetime, MemoryRecord]]:
    """Return the memory as it was from each moment on: first as it was made, last as it is."""
    standing = replace(record, last_accessed_at=None, access_count=0, growth=1.0, strength=1.0)
    standings = [(record.created_at, standing)]
    for use in uses:
        changed = after_signal(standing, use, before=frozenset())
        if changed is not standing and use.at >= standings[-1][0]:
            standings.append((use.at, changed))
            standing = changed
    last = max(record.last_accessed_at or record.created_at, standings[-1][0])
    if standings[-1][0] < last:
        standings.append((last, record))
    else:
        standings[-1] = (standings[-1][0], record)
    return standings


def _after(since: datetime, days: float) -> datetime | None:
    seconds = days * SECONDS_A_DAY
    return since + timedelta(seconds=seconds) if since.timestamp() + seconds < _LAST else None
