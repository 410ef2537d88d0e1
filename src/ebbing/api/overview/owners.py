"""Who is there, and how much is known of each."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.api.calls.call_context import CallContext
from ebbing.api.overview.items import iso
from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.record import Kind
from ebbing.domain.memory.scope import Owner, Scope
from ebbing.index.cursor import cursor_after, position
from ebbing.index.shard import KINDS, Shard, micros, moment
from ebbing.results import OwnerOverview, OwnerPage
from ebbing.validation import MAX_PAGE

OWNER_KINDS: Final = ("user", "agent", "run")
OWNER_ORDERS: Final = ("memories", "name")
WEEKS: Final = 12
_WEEK: Final = timedelta(days=7)


async def list_owners(
    context: CallContext,
    *,
    query: str | None,
    kind: str | None,
    order: str,
    limit: int,
    cursor: str | None,
) -> OwnerPage:
    """Return a page of the tenant's owners; see `OverviewApi.owners`."""
    if kind is not None and kind not in OWNER_KINDS:
        raise InvalidInputError(f"kind must be one of {', '.join(OWNER_KINDS)}")
    if order not in OWNER_ORDERS:
        raise InvalidInputError(f"order must be one of {', '.join(OWNER_ORDERS)}")
    counts = Counter[Owner]()
    for share in await context.store.shares(context.tenant):
        counts[share.owner] += share.memories
    part = (query or "").strip().casefold()
    owners = [owner for owner in counts if kind in {None, owner.kind} and (not part or part in owner.name.casefold())]
    owners.sort(key=lambda owner: ((-counts[owner] if order == "memories" else 0), owner.name, owner.kind))
    start = 0 if cursor is None else max(position(cursor)[0], 0)
    end = start + min(limit, MAX_PAGE)
    page = [await overview_of(context, owner) for owner in owners[start:end]]
    return {
        "owners": page,
        "next_cursor": cursor_after(end, 0) if end < len(owners) else None,
        "total": len(owners),
    }


async def overview_of(context: CallContext, owner: Owner) -> OwnerOverview:
    """Return how much is known of an owner, since when, and how it grew."""
    shard = await context.store.shard(Scope.of(owner))
    living = shard.alive
    created = shard.created[living]
    is_memory = living & (shard.kind == KINDS.index(Kind.MEMORY))
    return {
        "kind": owner.kind,
        "name": owner.name,
        "memories": int(is_memory.sum()),
        "episodes": int(living.sum()) - int(is_memory.sum()),
        "first_at": iso(moment(int(created.min()))) if created.size else None,
        "last_at": iso(moment(int(created.max()))) if created.size else None,
        "added_by_week": _by_week(shard, is_memory, now=context.clock.now()),
    }


def _by_week(shard: Shard, mask: NDArray[np.bool_], *, now: datetime) -> list[int]:
    """Return how many rows were stored in each of the last weeks, the oldest first."""
    edges = [micros(now - _WEEK * number) for number in range(WEEKS, -1, -1)]
    counts, _ = np.histogram(shard.recorded[mask], bins=edges)
    return [int(count) for count in counts]
