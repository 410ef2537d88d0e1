"""What happened to an owner's memories: day by day, and memory by memory between two moments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.api.calls.call_context import CallContext
from ebbing.api.overview.items import iso
from ebbing.domain.memory.history import Event, HistoryEntry
from ebbing.domain.memory.record import Kind, MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.cursor import cursor_after, position
from ebbing.index.shard import ALWAYS, micros, moment
from ebbing.recall.rows import rows_in_scope
from ebbing.results import DifferenceItem, DifferencesAnswer, TimelineAnswer, TimelineBucket

MANY_DAYS: Final = 400
"""More days than these are told by month."""
_DAY_MICROS: Final = 86_400_000_000


async def timeline_of(context: CallContext, scope: Scope) -> TimelineAnswer:
    """Return how many memories came, ended and went on each day on which any did; see `OverviewApi.timeline`."""
    shard = await context.store.shard(scope, deleted=True)
    now = micros(context.clock.now())
    opened = shard.detached()
    opened.alive[:] = shard.deleted != ALWAYS
    rows = rows_in_scope(opened, scope, kinds=(Kind.MEMORY,))
    ends = np.minimum(shard.valid_to, shard.expires)
    columns = {
        "added": shard.recorded[rows],
        "ended": ends[rows & (ends <= now)],
        "gone": shard.deleted[rows & ~shard.alive],
    }
    times = np.concatenate([*columns.values()])
    if not times.size:
        return {"bucket": "day", "buckets": [], "first_at": None, "last_at": None}
    first, last = int(times.min()), int(times.max())
    bucket = "day" if (last - first) // _DAY_MICROS <= MANY_DAYS else "month"
    counts = {name: _by_bucket(column, bucket) for name, column in columns.items()}
    starts = sorted(set().union(*counts.values()))
    return {
        "bucket": bucket,
        "buckets": [_bucket(start, counts) for start in starts],
        "first_at": iso(moment(first)),
        "last_at": iso(moment(last)),
    }


def _by_bucket(times: NDArray[np.int64], bucket: str) -> Counter[str]:
    """Return how many of the times lie in each day or month, by its first day."""
    counts = Counter[str]()
    days, numbers = np.unique(times // _DAY_MICROS, return_counts=True)
    for day, number in zip(days.tolist(), numbers.tolist(), strict=True):
        date = moment(day * _DAY_MICROS).astimezone(UTC).date()
        counts[str(date.replace(day=1) if bucket == "month" else date)] += number
    return counts


async def differences_of(
    context: CallContext, scope: Scope, *, since: datetime, until: datetime, limit: int, cursor: str | None
) -> DifferencesAnswer:
    """Return what happened to each memory between two moments, newest first; see `OverviewApi.differences`."""
    shard = await context.store.shard(scope, deleted=True)
    is_added = (shard.deleted != ALWAYS) & (shard.recorded > micros(since)) & (shard.recorded <= micros(until))
    added = {shard.ids[row] for row in np.flatnonzero(is_added)}
    histories = await context.store.histories(scope, changed_after=since)
    entries = [entry for entry in histories if entry.updated_at is not None and since < entry.updated_at <= until]
    ids = list({*added, *(entry.memory_id for entry in entries)})
    records: dict[str, MemoryRecord] = {}
    for record in await context.store.get(scope, ids, deleted=True):
        if record.kind is Kind.MEMORY and scope.covers(record.belongs_to):
            records[record.id] = record
    items = [_difference_item(entry) for entry in entries if entry.memory_id in records]
    first_words = {entry.memory_id: entry.old_memory for entry in reversed(entries) if entry.old_memory is not None}
    added_records = [records[memory_id] for memory_id in added & records.keys()]
    items += [_addition_item(record, text=first_words.get(record.id)) for record in added_records]
    items.sort(key=lambda item: (item["at"], item["memory_id"]), reverse=True)
    start = 0 if cursor is None else max(position(cursor)[0], 0)
    end = start + limit
    return {
        "differences": items[start:end],
        "next_cursor": cursor_after(end, 0) if end < len(items) else None,
        "total": len(items),
    }


def _difference_item(entry: HistoryEntry) -> DifferenceItem:
    return {
        "memory_id": entry.memory_id,
        "event": entry.event.value,
        "at": (entry.updated_at or entry.created_at).isoformat(),
        "before": entry.old_memory,
        "after": entry.new_memory,
        "reason": entry.reason,
    }


def _addition_item(record: MemoryRecord, *, text: str | None) -> DifferenceItem:
    """Return that a memory was stored, in its first wording where it has another one by now."""
    return {
        "memory_id": record.id,
        "event": Event.ADD.value,
        "at": record.recorded_at.isoformat(),
        "before": None,
        "after": record.content if text is None else text,
        "reason": record.provenance.reason,
    }


def _bucket(start: str, counts: Mapping[str, Mapping[str, int]]) -> TimelineBucket:
    return {
        "at": start,
        "added": counts["added"][start],
        "ended": counts["ended"][start],
        "gone": counts["gone"][start],
    }
