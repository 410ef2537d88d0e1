"""The application: the façade of one memory behind routes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

import ebbing
from ebbing.domain.errors import EbbingError, StoreClosedError
from ebbing.interfaces.http import errors
from ebbing.interfaces.http.auth import Doorkeeper, listed
from ebbing.interfaces.http.caller import Memories
from ebbing.interfaces.http.gate import Gate
from ebbing.interfaces.http.mem0 import entities as mem0_entities
from ebbing.interfaces.http.mem0 import events as mem0_events
from ebbing.interfaces.http.mem0 import memories as mem0_memories
from ebbing.interfaces.http.mem0 import open_source as mem0_open_source
from ebbing.interfaces.http.mem0 import projects as mem0_projects
from ebbing.interfaces.http.mem0 import webhooks as mem0_webhooks
from ebbing.interfaces.http.observed import Observed
from ebbing.interfaces.http.routes import (
    access,
    health,
    jobs,
    memories,
    metrics,
    moving,
    one_memory,
    people,
    talking,
    tenant,
    webhooks,
)
from ebbing.memory import AsyncMemory
from ebbing.upkeep.stop import Stop
from ebbing.wiring.settings import Settings

_PATIENCE_SECONDS: Final = 10.0
"""How long the worker may take to leave what it has in hand when the service stops."""
_PAUSE_SECONDS: Final = 5.0
_log: Final = logging.getLogger("ebbing.http")
_DESCRIPTION = "Long-term memory for AI assistants: remembers what matters, lets the rest fade, and says why."


def create_app(memory: AsyncMemory, settings: Settings | None = None) -> FastAPI:
    """The service for one memory, which it closes when it stops.

    Args:
        settings: the memory's own unless given.
    """
    settings = settings or memory.parts.settings
    app = FastAPI(
        title="Ebbing",
        version=ebbing.__version__,
        description=_DESCRIPTION,
        lifespan=_lifespan,
        redirect_slashes=False,  # mem0's clients end their paths with a slash, and mean their own shapes by it
        redoc_url=None,
    )
    app.state.memory, app.state.memories = memory, Memories(memory)
    parts = memory.parts
    app.state.doorkeeper = Doorkeeper(settings, keys=parts.store.keys, clock=parts.clock)
    app.state.works = settings.worker
    app.state.ready = {"ready": False, "store": "open", "embedder": "loading"}
    app.router.routes.extend(memories.straight)
    for room in (health, metrics, memories, one_memory, people, talking, moving, jobs, tenant, webhooks, access):
        app.include_router(room.router)
    for room in (mem0_memories, mem0_entities, mem0_events, mem0_projects, mem0_webhooks, mem0_open_source):
        app.include_router(room.router)
    errors.install(app)
    app.add_middleware(Gate, settings=settings, doorkeeper=app.state.doorkeeper, parts=parts)
    key = settings.redaction_key.get_secret_value().encode() if settings.redaction_key else b""
    app.add_middleware(Observed, meter=getattr(parts.meter, "beside", parts.meter), ids=parts.ids, key=key)
    if origins := listed(settings.http_cors_origins):
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(origins),
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=["ETag", "Retry-After", "X-Request-ID"],
            max_age=600,
        )
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    stop = Stop()
    beside = [asyncio.create_task(_warm_up(app))]
    if app.state.works:
        beside.append(asyncio.create_task(_work(app.state.memory, stop)))
    try:
        yield
    finally:
        app.state.ready = {**app.state.ready, "ready": False, "store": "closing"}
        stop.set()
        await asyncio.wait(beside, timeout=_PATIENCE_SECONDS)
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
        await app.state.memory.close()


async def _work(memory: AsyncMemory, stop: Stop) -> None:
    """Does the upkeep's jobs; what goes wrong is told and tried again, and takes no request down with it."""
    while not stop.is_set:
        try:
            await memory.work(stop=stop)
        except StoreClosedError:
            return
        except Exception as error:  # the worker must not end while the service goes on
            _log.error("the worker failed with %s and begins anew", type(error).__name__)
            await stop.wait(_PAUSE_SECONDS)


async def _warm_up(app: FastAPI) -> None:
    """Loads the model while the first requests come in, so that none of them waits for it twice."""
    try:
        embedder = await app.state.memory.parts.embedder.get()
    except EbbingError as error:
        app.state.ready = {**app.state.ready, "embedder": error.code}
        return
    app.state.ready = {**app.state.ready, "ready": True, "embedder": embedder.model_id if embedder else "none"}
