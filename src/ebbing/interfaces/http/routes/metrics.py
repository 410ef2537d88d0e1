"""`/metrics`: how the service is doing, for Prometheus."""

from __future__ import annotations

from dataclasses import asdict
from time import monotonic
from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from ebbing.interfaces.http.errors import ProblemError, documented
from ebbing.interfaces.http.request_context import Reader
from ebbing.interfaces.http.schema.operations import Operation
from ebbing.ports.job_queue import JobState
from ebbing.ports.memory_store import MemoryStore

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
COUNTED_EVERY: Final = 30.0
"""Seconds between two counts of the store, however often somebody asks."""

router = APIRouter(tags=["service"], route_class=Operation)


@router.get("/metrics", responses=documented())
async def get_metrics(caller: Reader, request: Request) -> Response:
    """Get metrics in Prometheus format. Counts, times and sizes cover all tenants together and name no person."""
    if caller.principal.user is not None:
        raise ProblemError("forbidden", "this is about the whole service, and the credential is for one user")
    meter: Any = caller.memory.components.meter
    meter = getattr(meter, "beside", meter)
    if not hasattr(meter, "text"):
        raise ProblemError("not_found", "metrics are off: set EBBING_METRICS=true")
    state = request.app.state
    if monotonic() - getattr(state, "counted_at", -COUNTED_EVERY) >= COUNTED_EVERY:
        state.counted_at = monotonic()
        meter.stored(*await counted(caller.memory.components.store))
    meter.behind(caller.memory.components.following.waiting)
    return Response(meter.text(), media_type=MEDIA_TYPE)


async def counted(store: MemoryStore) -> tuple[dict[str, int], dict[str, float]]:
    """Memories by layer, and what else the store holds, over all tenants."""
    layers: dict[str, int] = {}
    counts: dict[str, float] = dict.fromkeys(("owners", "memories", "episodes", "deleted"), 0)
    for tenant in await store.tenants():
        stats = asdict(await store.stats(tenant))
        for layer, number in stats["by_layer"].items():
            layers[layer] = layers.get(layer, 0) + number
        for name in ("owners", "memories", "episodes", "deleted"):
            counts[name] += stats[name]
        counts["bytes"] = stats["bytes_on_disk"]
    for state in JobState:
        counts[f"jobs_{state.value}"] = 0
    for (_, state), number in (await store.jobs.counts()).items():
        counts[f"jobs_{state.value}"] += number
    return layers, counts
