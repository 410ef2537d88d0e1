"""Memories page by page, the newest first, with a filter or as of a moment: in the order and with the cursors of
every other page, so that what is written meanwhile shifts nothing."""

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
from ebbing.ports.memory_store import MemoryStore, Page
from ebbing.recall.base.as_of import shard_as_of
from ebbing.recall.base.row_filter import Mask, covered, fresh_records, narrowed


async def listed(
    store: MemoryStore,
    scope: Scope,
    *,
    kinds: Sequence[Kind],
    wanted: Filter = EVERYTHING,
    as_of: datetime | None = None,
    at: datetime | None = None,
    limit: int,
    cursor: str | None,
) -> Page:
    """A page of at most `limit` records that match, from after `cursor`.

    Without `as_of`: with `at` what is superseded or expired then is left out, unless the filter asks for such an end.

    Raises:
        InvalidInputError: the cursor is not one of ours.
    """
    if as_of is None and wanted == EVERYTHING:
        return await store.page(scope, kinds=kinds, limit=limit, cursor=cursor, at=at)
    after = position(cursor)
    shard = await (store.shard(scope) if as_of is None else shard_as_of(store, None, scope=scope, moment=as_of))
    among = covered(shard, scope, kinds=kinds)
    if as_of is None and at is not None and not asks_for_ends(wanted):
        among &= (shard.valid_to > micros(at)) & (shard.expires > micros(at))
    among = await narrowed(store, shard, scope=scope, among=among, wanted=wanted)
    rows = _newest_first(shard, among, after=after)
    shown = [int(row) for row in rows[:limit]]
    records = await fresh_records(store, shard, scope=scope, rows=shown, deleted=as_of is not None)
    more = len(rows) > limit
    return Page(
        tuple(records), cursor_after(int(shard.created[shown[-1]]), int(shard.seq[shown[-1]])) if more else None
    )


def _newest_first(shard: Shard, among: Mask, *, after: tuple[int, int]) -> NDArray[np.int64]:
    """Rows by time said, then by arrival, both falling, from after a place in that order."""
    created, seq = after
    rows = np.flatnonzero(among & ((shard.created < created) | ((shard.created == created) & (shard.seq < seq))))
    return rows[np.lexsort((shard.seq[rows], shard.created[rows]))[::-1]]
