"""Handlers of events for code that does not await."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from functools import partial

import anyio.to_thread

from ebbing.domain.errors import InvalidInputError
from ebbing.ports.event_bus import Handler, MemoryEvent


def in_a_thread(handler: Handler) -> Handler:
    """Return the handler, off the event loop, so that it may block and use the blocking memory; an async one as it is.

    Raises:
        InvalidInputError: it cannot be called.
    """
    if not callable(handler):
        raise InvalidInputError("handler must be a function that takes what happened")
    if inspect.iscoroutinefunction(handler):
        return handler

    async def call(event: MemoryEvent) -> None:
        answer: Awaitable[None] | None = await anyio.to_thread.run_sync(partial(handler, event))
        if answer is not None:
            await answer

    return call
