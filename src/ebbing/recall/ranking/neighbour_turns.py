"""What was said around an answer: the turns before and after it, in the order in which they were said."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import Shard
from ebbing.index.turn_neighbours import neighbours
from ebbing.ports.memory_store import MemoryStore
from ebbing.recall.base.row_filter import fresh_records


def expand(
    shard: Shard,
    rows: Sequence[int],
    *,
    before: int,
    after: int,
    among: NDArray[np.bool_] | None = None,
) -> list[list[int]]:
    """For each row, that row with up to `before` and `after` turns of the same run around it, in the order said.

    Turns outside the mask `among` (those that the caller may see) are passed over and do not count. A row that is no
    utterance has no neighbours and comes back alone. Windows of rows that were said close together overlap.
    """
    near = neighbours(shard)
    windows: list[list[int]] = []
    for row in rows:
        earlier = _walk(near.previous, row, count=before, among=among)
        windows.append([*reversed(earlier), row, *_walk(near.next, row, count=after, among=among)])
    return windows


async def read_windows(
    store: MemoryStore, shard: Shard, *, scope: Scope, windows: Sequence[Sequence[int]], deleted: bool = False
) -> list[list[MemoryRecord]]:
    """The records of each window, read in one call; rows that are gone or outside the scope are left out.

    Args:
        deleted: the shard shows the past, to which records belong that were deleted since.
    """
    rows = list(dict.fromkeys(row for window in windows for row in window))
    records = await fresh_records(store, shard, scope=scope, rows=rows, deleted=deleted)
    found = {record.id: record for record in records if scope.covers(record.whose)}
    return [[found[shard.ids[row]] for row in window if shard.ids[row] in found] for window in windows]


def _walk(step: NDArray[np.int64], row: int, *, count: int, among: NDArray[np.bool_] | None) -> list[int]:
    """The nearest `count` rows in one direction, the nearest first."""
    found: list[int] = []
    at = int(step[row])
    while at >= 0 and len(found) < count:
        if among is None or among[at]:
            found.append(at)
        at = int(step[at])
    return found
