"""`/metrics`: how the service is doing, for Prometheus."""

from __future__ import annotations

import logging
from time import monotonic
from typing import Any, Final

from fastapi import Request
from starlette.responses import Response

from ebbing.domain.errors import StoreError
from ebbing.interfaces.http.errors import ProblemError
from ebbing.interfaces.http.request_context import Reader
from ebbing.interfaces.http.schema.operations import operations
from ebbing.ports.meter import StoreCounts
from ebbing.ports.stores.memory_store import MemoryStore

_log: Final = logging.getLogger("ebbing.http")
MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
COUNTED_EVERY: Final = 30.0
"""Seconds between two counts of the store, however often somebody asks."""

router = operations("service")


@router.get("/metrics")
async def get_metrics(caller: Reader, request: Request) -> Response:
    """Get metrics in Prometheus format. Counts, times and sizes cover all tenants together and name no person."""
    if caller.principal.user is not None:
        raise ProblemError("forbidden", "this is about the whole service, and the credential is for one user")
    meter: Any = caller.memory.components.meter
    meter = getattr(meter, "inner", meter)
    if not hasattr(meter, "text"):
        raise ProblemError("not_found", "metrics are off: set EBBING_METRICS=true")
    state = request.app.state
    if monotonic() - getattr(state, "counted_at", -COUNTED_EVERY) >= COUNTED_EVERY:
        state.counted_at = monotonic()
        meter.stored(await counted(caller.memory.components.store))
    meter.behind(caller.memory.components.following.waiting)
    return Response(meter.text(), media_type=MEDIA_TYPE)


async def counted(store: MemoryStore) -> StoreCounts:
    """Count what the store holds, over all tenants. Without the jobs where their queue does not answer."""
    counts = StoreCounts()
    for tenant in await store.tenants():
        stats = await store.stats(tenant)
        for layer, memories in stats.by_layer.items():
            counts.by_layer[layer] = counts.by_layer.get(layer, 0) + memories
        counts.by_kind["memory"] += stats.memories
        counts.by_kind["episode"] += stats.episodes
        counts.by_kind["deleted"] += stats.deleted
        counts.owners += stats.owners
        counts.bytes_on_disk = stats.bytes_on_disk
    try:
        by_kind = await store.jobs.counts()
    except StoreError as error:  # of a queue on a server of its own: the rest is known all the same
        _log.warning("the jobs cannot be counted: %s", error.code)
        counts.jobs.clear()
        return counts
    for (_, state), jobs in by_kind.items():
        counts.jobs[state.value] += jobs
    return counts
