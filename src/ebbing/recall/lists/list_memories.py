"""Memories page by page, the newest first, with a filter or as of a moment.

The order and the cursors are those of every other page, so that what is written meanwhile shifts nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.filters.tree import EVERYTHING, Filter, asks_for_ends
from ebbing.domain.memory.record import Kind
from ebbing.domain.memory.scope import Scope
from ebbing.index.cursor import cursor_after, position
from ebbing.index.shard import Shard, micros
from ebbing.ports.stores.memory_store import MemoryStore, Page
from ebbing.recall.as_of import shard_as_of
from ebbing.recall.rows import Mask, apply_filter, load_records, rows_in_scope


async def list_memories(
    store: MemoryStore,
    scope: Scope,
    *,
    kinds: Sequence[Kind],
    filter_: Filter = EVERYTHING,
    as_of: datetime | None = None,
    moment: datetime | None = None,
    limit: int,
    cursor: str | None,
) -> Page:
    """Return a page of at most `limit` records that match, from after `cursor`.

    Args:
        moment: leave out what is superseded or expired then, unless the filter asks for such an end; without `as_of`.

    Raises:
        InvalidInputError: the cursor is not one of ours.
    """
    if as_of is None and filter_ == EVERYTHING:
        return await store.page(scope, kinds=kinds, limit=limit, cursor=cursor, at=moment)
    after = position(cursor)
    shard = await (store.shard(scope) if as_of is None else shard_as_of(store, None, scope=scope, moment=as_of))
    mask = rows_in_scope(shard, scope, kinds=kinds)
    if as_of is None and moment is not None and not asks_for_ends(filter_):
        mask &= (shard.valid_to > micros(moment)) & (shard.expires > micros(moment))
    mask = await apply_filter(store, shard, scope=scope, mask=mask, filter_=filter_)
    rows = _newest_first(shard, mask, after=after)
    shown = rows[:limit].tolist()
    records = await load_records(store, shard, scope=scope, rows=shown, include_deleted=as_of is not None)
    if len(rows) <= limit:
        return Page(tuple(records), None)
    last = shown[-1]
    return Page(tuple(records), cursor_after(int(shard.created[last]), int(shard.seq[last])))


def _newest_first(shard: Shard, mask: Mask, *, after: tuple[int, int]) -> NDArray[np.int64]:
    """Return rows by time said, then by arrival, both falling, from after a place in that order."""
    created, seq = after
    is_after = (shard.created < created) | ((shard.created == created) & (shard.seq < seq))
    rows = np.flatnonzero(mask & is_after)
    return rows[np.lexsort((shard.seq[rows], shard.created[rows]))[::-1]]
