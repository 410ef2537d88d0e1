"""The remembering proxy on a real socket, for tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import uvicorn

from ebbing.interfaces.http.app import create_app
from ebbing.memory import AsyncMemory
from ebbing.wiring.build import build, load_settings
from tests.interfaces.http.scripted_endpoint import Endpoint

CHAT = "/v1/chat/completions"


@asynccontextmanager
async def proxy(endpoint: Endpoint | None, **settings: Any) -> AsyncIterator[tuple[httpx.AsyncClient, Any]]:
    """A client of a service with a proxy on a real socket, and the application."""
    url = {} if endpoint is None else {"proxy_url": endpoint.url}
    values = {"store": "ephemeral", "embedder": "none", "worker": False, "user": "emma", "metrics": True}
    memory = AsyncMemory(components=build(load_settings({**values, **url, **settings})))
    app = create_app(memory)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, lifespan="on", ws="none"))
    serving = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.01)
    address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    try:
        async with httpx.AsyncClient(base_url=address, timeout=20) as client:
            yield client, app
    finally:
        server.should_exit = True
        await serving


def chat(*texts: str, **more: Any) -> dict[str, Any]:
    """A request whose messages are the user's and the assistant's in turn."""
    messages = [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(texts)]
    return {"model": "echo", "messages": messages, **more}


async def settled(app: Any) -> None:
    """Wait until all that was said is remembered."""
    async with asyncio.timeout(20):
        while not app.state.chat_proxy.is_idle:  # noqa: ASYNC110 - clients have no event for it either
            await asyncio.sleep(0.005)


async def stored(app: Any, user: str = "emma", include: Any = "memories") -> list[str]:
    """Return what is remembered of somebody."""
    answer = await app.state.memory.get_all(user_id=user, include=include)
    return sorted(item["memory"] for item in answer["results"])
