"""Memories as people look through them: by state, in an order, with their number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.filters.tree import EVERYTHING, Filter
from ebbing.domain.memory.record import Kind, MemoryRecord, Stage
from ebbing.domain.memory.scope import Scope
from ebbing.index.cursor import cursor_after, position
from ebbing.index.shard import ALWAYS, Shard, micros
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.recall.as_of import shard_as_of
from ebbing.recall.rows import Mask, apply_filter, load_records, rows_in_scope


class State(StrEnum):
    """What became of a memory."""

    CURRENT = "current"
    """It holds."""
    ENDED = "ended"
    """It was superseded or has expired."""
    FADED = "faded"
    """It holds, and has lost its vector or part of its wording."""
    GONE = "gone"
    """It was deleted, or another memory tells it."""
    ALL = "all"


class Order(StrEnum):
    """The order in which memories are shown."""

    NEWEST = "newest"
    OLDEST = "oldest"
    FRESHEST = "freshest"
    STALEST = "stalest"


@dataclass(frozen=True, slots=True)
class View:
    """Which memories are shown, and how."""

    kinds: Sequence[Kind]
    now: datetime
    freshness: Callable[[MemoryRecord], float]
    """Retention of a record in [0, 1]."""
    filter: Filter = EVERYTHING
    state: State = State.CURRENT
    order: Order = Order.NEWEST
    as_of: datetime | None = None
    """What was believed at this moment, whatever `state` says."""


@dataclass(frozen=True, slots=True)
class BrowsePage:
    """Some records, where to go on, and how many there are in all."""

    records: tuple[MemoryRecord, ...]
    next_cursor: str | None
    total: int


async def browse(store: MemoryStore, scope: Scope, *, view: View, limit: int, cursor: str | None) -> BrowsePage:
    """Return a page of at most `limit` records, from after `cursor`.

    By age a page goes on where the last one ended, whatever was written meanwhile. By freshness it goes on after so
    many memories.

    Raises:
        InvalidInputError: the cursor is not one of ours.
    """
    shard = await _shard(store, scope, view=view)
    mask = _in_state(shard, rows_in_scope(shard, scope, kinds=view.kinds), view=view)
    mask = await apply_filter(store, shard, scope=scope, mask=mask, filter_=view.filter)
    with_deleted = view.as_of is not None or view.state in {State.GONE, State.ALL}

    async def read(rows: Sequence[int]) -> list[MemoryRecord]:
        return await load_records(store, shard, scope=scope, rows=rows, include_deleted=with_deleted)

    if view.state is State.FADED and view.as_of is None:
        records = await read(np.flatnonzero(mask).tolist())
        faded = {record.id for record in records if record.stage is not Stage.FULL}
        mask = mask & np.fromiter((memory_id in faded for memory_id in shard.ids), dtype=np.bool_, count=shard.size)
    total = int(mask.sum())
    if view.order in {Order.NEWEST, Order.OLDEST}:
        rows, next_cursor = _by_age(shard, mask, view=view, limit=limit, cursor=cursor)
        return BrowsePage(tuple(await read(rows)), next_cursor, total)
    records = await read(np.flatnonzero(mask).tolist())
    records.sort(key=view.freshness, reverse=view.order is Order.FRESHEST)
    start = 0 if cursor is None else max(position(cursor)[0], 0)
    end = start + limit
    return BrowsePage(tuple(records[start:end]), cursor_after(end, 0) if end < len(records) else None, total)


async def _shard(store: MemoryStore, scope: Scope, *, view: View) -> Shard:
    if view.as_of is not None:
        return await shard_as_of(store, None, scope=scope, moment=view.as_of)
    if view.state not in {State.GONE, State.ALL}:
        return await store.shard(scope)
    whole = await store.shard(scope, deleted=True)
    return whole.cached(f"rows of the state {view.state}", lambda: _opened(whole, view.state))


def _opened(whole: Shard, state: State) -> Shard:
    """Return the shard with rows alive that are deleted or told by another, and those that are not unless `GONE`."""
    opened = whole.detached()
    is_row = whole.deleted != ALWAYS
    opened.alive[:] = is_row & ~whole.alive if state is State.GONE else is_row
    return opened


def _in_state(shard: Shard, mask: Mask, *, view: View) -> Mask:
    if view.as_of is not None or view.state in {State.GONE, State.ALL}:
        return mask
    now = micros(view.now)
    holds: Mask = (shard.valid_to > now) & (shard.expires > now)
    return mask & ~holds if view.state is State.ENDED else mask & holds


def _by_age(
    shard: Shard, mask: Mask, *, view: View, limit: int, cursor: str | None
) -> tuple[Sequence[int], str | None]:
    """Return the rows of a page by time said, then by arrival, and the cursor after it."""
    if cursor is not None:
        created, seq = position(cursor)
        before = (shard.created < created) | ((shard.created == created) & (shard.seq < seq))
        is_last = (shard.created == created) & (shard.seq == seq)
        mask = mask & (before if view.order is Order.NEWEST else ~before & ~is_last)
    rows: NDArray[np.int64] = np.flatnonzero(mask)
    rows = rows[np.lexsort((shard.seq[rows], shard.created[rows]))]
    if view.order is Order.NEWEST:
        rows = rows[::-1]
    shown = rows[:limit].tolist()
    if len(rows) <= limit:
        return shown, None
    last = shown[-1]
    return shown, cursor_after(int(shard.created[last]), int(shard.seq[last]))
