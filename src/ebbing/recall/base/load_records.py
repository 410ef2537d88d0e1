"""The records of rows: read from the store where the shard has not cached them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import Shard
from ebbing.index.turn_neighbours import find_neighbours
from ebbing.ports.memory_store import MemoryStore
from ebbing.recall.base.fusion import Mask


async def load_records(
    store: MemoryStore, shard: Shard, *, scope: Scope, rows: Sequence[int], include_deleted: bool = False
) -> list[MemoryRecord]:
    """Return the records of rows in their order; what is gone by now is left out.

    The shard caches a record until its row changes: the shard is current as of this search, and so is the record.
    """
    ids = [shard.ids[row] for row in rows]
    missing = [memory_id for memory_id in ids if shard.record(memory_id) is None]
    if missing:
        read = await store.get(scope, missing, deleted=include_deleted)
        shard.records.update((record.id, record) for record in read)
    records = [shard.record(memory_id) for memory_id in ids]
    return [record for record in records if record is not None]


async def load_windows(
    store: MemoryStore,
    shard: Shard,
    *,
    scope: Scope,
    windows: Sequence[Sequence[int]],
    include_deleted: bool = False,
) -> list[list[MemoryRecord]]:
    """Return the records of each window, read in one call; rows that are gone or outside the scope are left out.

    Args:
        include_deleted: the shard shows the past, to which records belong that were deleted since.
    """
    rows = list(dict.fromkeys(row for window in windows for row in window))
    records = await load_records(store, shard, scope=scope, rows=rows, include_deleted=include_deleted)
    by_id = {record.id: record for record in records if scope.covers(record.whose)}
    return [[by_id[shard.ids[row]] for row in window if shard.ids[row] in by_id] for window in windows]


def expand(shard: Shard, rows: Sequence[int], *, before: int, after: int, mask: Mask | None = None) -> list[list[int]]:
    """Return for each row a window: itself and up to `before` and `after` turns of its run, in the order said.

    Turns outside the mask (those that the caller may see) are passed over and do not count. A row that is no utterance
    has no neighbours and comes back alone. Windows of rows that were said close together overlap.
    """
    neighbours = find_neighbours(shard)
    windows: list[list[int]] = []
    for row in rows:
        earlier = _walk(neighbours.previous, row, count=before, mask=mask)
        later = _walk(neighbours.next, row, count=after, mask=mask)
        windows.append([*reversed(earlier), row, *later])
    return windows


def _walk(step: NDArray[np.int64], start: int, *, count: int, mask: Mask | None) -> list[int]:
    """Return the nearest `count` rows in one direction, the nearest first."""
    rows: list[int] = []
    row = int(step[start])
    while row >= 0 and len(rows) < count:
        if mask is None or mask[row]:
            rows.append(row)
        row = int(step[row])
    return rows
