"""A service in this process, for tests: real routes on a real memory, no socket."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import httpx

from ebbing.interfaces.http.app import create_app
from ebbing.memory import AsyncMemory
from ebbing.wiring.build import build, load_settings
from tests import redis_server
from tests.servers import emptied

LOCAL = "http://localhost:8830"
STORE: Final = os.environ.get("EBBING_TEST_SERVICE", "")
"""A server of `tests.servers`, where the service is to keep its memories there: read before a fixture takes it away."""


def shared() -> dict[str, str]:
    """Return the settings for what replicas share beside the store."""
    if not redis_server.ADDRESS:
        return {}
    return {"redis_url": redis_server.ADDRESS, "job_queue": "bullmq" if find_spec("bullmq") else "store"}


@asynccontextmanager
async def service(
    path: Path | None = None, *, base_url: str = LOCAL, peer: str = "127.0.0.1", **settings: Any
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a service with these settings; keywords alone are searched, so that no model is loaded.

    Args:
        peer: the address that the client seems to have.
    """
    where: dict[str, Any] = {"path": path}
    if path is None:
        where = {"store": emptied(STORE), **shared()} if STORE else {"store": "ephemeral"}
    memory = AsyncMemory(components=build(load_settings({"embedder": "none", "worker": False, **where, **settings})))
    app = create_app(memory)
    transport = httpx.ASGITransport(app, client=(peer, 50_000))
    async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, base_url=base_url) as client:
        yield client
