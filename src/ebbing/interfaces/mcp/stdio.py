"""`ebbing mcp`: the server on standard input and output, for one person."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import anyio

from ebbing.domain.errors import EbbingError
from ebbing.interfaces.mcp.caller import Caller
from ebbing.interfaces.mcp.server import make_server
from ebbing.memory import AsyncMemory
from ebbing.remember.extraction.pattern_warmup import warm_up_patterns
from ebbing.wiring.build import build
from ebbing.wiring.config.settings import Settings


def serve(settings: Settings) -> None:
    """Answer on standard input and output until the host closes them.

    Raises:
        StoreError: the store cannot be opened.
    """
    with suppress(KeyboardInterrupt):
        anyio.run(_serve, settings)


async def _serve(settings: Settings) -> None:
    async with AsyncMemory(components=build(settings)) as memory:
        caller, is_called = Caller(memory, settings.user), asyncio.Event()

        def caller_of(_: object) -> Caller:
            is_called.set()
            return caller

        loading = asyncio.create_task(_warm_up(memory, is_called))
        try:
            await make_server(caller_of, settings.mcp_tools).run_stdio_async()
        finally:
            loading.cancel()
            await asyncio.gather(loading, return_exceptions=True)


async def _warm_up(memory: AsyncMemory, is_called: asyncio.Event) -> None:
    """Load the model and the rules as soon as the first message came in, so that the first question waits less."""
    await is_called.wait()
    with suppress(EbbingError):
        await memory.components.embedder.get()
    await warm_up_patterns(reading=True)
