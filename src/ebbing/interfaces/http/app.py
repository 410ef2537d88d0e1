"""The application: the façade of one memory behind routes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

import ebbing
from ebbing.domain.errors import EbbingError
from ebbing.interfaces.http import errors
from ebbing.interfaces.http.chat_proxy import routes as chats
from ebbing.interfaces.http.chat_proxy.proxy import ANSWER_HEADERS, ChatProxy
from ebbing.interfaces.http.mcp_path import McpPath
from ebbing.interfaces.http.mem0.routes import ROUTERS as MEM0_ROUTERS
from ebbing.interfaces.http.middleware.access_log import Observed
from ebbing.interfaces.http.middleware.admission import PUBLIC, Gate
from ebbing.interfaces.http.middleware.auth import Doorkeeper, listed
from ebbing.interfaces.http.request_context import Memories
from ebbing.interfaces.http.routes import (
    assistant,
    changes,
    memories,
    memory_by_id,
    overview,
    people,
    sessions,
    transfer,
)
from ebbing.interfaces.http.routes.pages import console, reference
from ebbing.interfaces.http.routes.service import access, health, jobs, metrics, tenant, webhooks
from ebbing.interfaces.http.schema.openapi import completed
from ebbing.interfaces.http.schema.operations import operation_id
from ebbing.interfaces.http.worker import ServiceWorker, WorkerInside
from ebbing.memory import AsyncMemory
from ebbing.remember.extraction.pattern_warmup import warm_up_patterns
from ebbing.upkeep.worker.stop_signal import Stop
from ebbing.wiring.config.settings import Settings

_PATIENCE_SECONDS: Final = 10.0
"""How long the worker may take to leave what it has in hand when the service stops."""
_DESCRIPTION = "Long-term memory for AI assistants: remembers what matters, lets the rest fade, and says why."


class Service(FastAPI):
    """The application, with an OpenAPI document that names servers, credentials and errors."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document, made once."""
        if not self.openapi_schema:
            self.openapi_schema = completed(super().openapi(), public=PUBLIC)
        return self.openapi_schema


def create_app(
    memory: AsyncMemory, settings: Settings | None = None, *, worker: ServiceWorker | None = None
) -> Service:
    """The service for one memory, which it closes when it stops.

    Args:
        settings: the memory's own unless given.
        worker: who does the upkeep's jobs, if the settings want it done; this process unless given.
    """
    settings = settings or memory.components.settings
    app = Service(
        title="Ebbing",
        version=ebbing.__version__,
        description=_DESCRIPTION,
        lifespan=_lifespan,
        redirect_slashes=False,  # mem0's clients end their paths with a slash, and mean their own shapes by it
        docs_url=None,  # our own page: theirs loads programs from another host
        redoc_url=None,
        generate_unique_id_function=operation_id,
    )
    app.state.memory, app.state.memories = memory, Memories(memory)
    components = memory.components
    app.state.doorkeeper = Doorkeeper(settings, keys=components.store.keys, clock=components.clock)
    app.state.worker = (worker or WorkerInside(memory)) if settings.worker else None
    app.state.chat_proxy = ChatProxy(memory, settings)
    app.state.ready = {"ready": False, "store": "open", "embedder": "loading"}
    _include_routes(app, settings)
    app.state.mcp = McpPath(app.state.memories, settings)
    app.router.routes.append(app.state.mcp.route)
    errors.install(app)
    _add_layers(app, settings)
    return app


def _include_routes(app: Service, settings: Settings) -> None:
    for module in (
        reference,
        health,
        metrics,
        overview,
        memories,
        memory_by_id,
        changes,
        people,
        sessions,
        assistant,
        transfer,
        jobs,
        tenant,
        webhooks,
        access,
        chats,
    ):
        app.include_router(module.router)
    for router in MEM0_ROUTERS:
        app.include_router(router)
    if settings.console:
        app.include_router(console.router)


def _add_layers(app: Service, settings: Settings) -> None:
    """Add what a request passes on its way to a route; the layer that is added last is the outermost."""
    components = app.state.memory.components
    app.add_middleware(Gate, settings=settings, doorkeeper=app.state.doorkeeper, components=components)
    key = settings.redaction_key.get_secret_value().encode() if settings.redaction_key else b""
    meter = getattr(components.meter, "inner", components.meter)
    app.add_middleware(Observed, meter=meter, ids=components.ids, key=key)
    if origins := listed(settings.http_cors_origins):
        app.add_middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=["ETag", "Retry-After", "X-Request-ID", *ANSWER_HEADERS],
            max_age=600,
        )


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    stop = Stop()
    tasks = [asyncio.create_task(_warm_up(app))]
    if app.state.worker is not None:
        tasks.append(asyncio.create_task(app.state.worker.keep_on(stop)))
    try:
        yield
    finally:
        app.state.ready = {**app.state.ready, "ready": False, "store": "closing"}
        stop.set()
        await app.state.chat_proxy.aclose()
        await asyncio.wait(tasks, timeout=_PATIENCE_SECONDS)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await app.state.mcp.close()
        await app.state.memory.close()


async def _warm_up(app: FastAPI) -> None:
    """Loads the model while the first requests come in, so that none of them waits for it twice; then the patterns."""
    try:
        embedder = await app.state.memory.components.embedder.get()
    except EbbingError as error:
        app.state.ready = {**app.state.ready, "embedder": error.code}
    else:
        app.state.ready = {**app.state.ready, "ready": True, "embedder": embedder.model_id if embedder else "none"}
    await warm_up_patterns(reading=True)
