"""How the service is: alive, and ready to answer."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

import ebbing
from ebbing.interfaces.http.schema.operations import Operation
from ebbing.interfaces.http.schema.responses import encoded
from ebbing.interfaces.http.worker import ServiceWorker

router = APIRouter(tags=["service"], route_class=Operation)


@router.get("/healthz")
@router.get("/health", include_in_schema=False)
async def check_health() -> Response:
    """Check that the process answers."""
    return encoded({"status": "ok", "version": ebbing.__version__})


@router.get("/readyz", responses={503: {"description": "Not yet, or not any more."}})
async def check_readiness(request: Request) -> Response:
    """Check that the service is ready: the store is open and the embedding model is loaded.

    `worker` says how the background worker runs, which may be `restarting`.
    """
    ready: dict[str, Any] = request.app.state.ready
    worker: ServiceWorker | None = request.app.state.worker
    answer = {**ready, "worker": worker.standing if worker else "disabled"}
    return encoded(answer, status=200 if ready["ready"] else 503)
