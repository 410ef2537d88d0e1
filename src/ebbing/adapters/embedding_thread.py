"""Runs a local model beside the event loop, never on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread

PARALLEL_RUNS = 2
"""Per event loop; more callers wait their turn, so that memory stays bounded."""

_Result = TypeVar("_Result")
_limiter: anyio.lowlevel.RunVar[anyio.CapacityLimiter] = anyio.lowlevel.RunVar("embedding_limiter")


async def in_model_thread(call: Callable[[], _Result]) -> _Result:
    """What `call` returns, computed in a thread. A cancelled caller goes at once; the thread ends by itself."""
    try:
        limiter = _limiter.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(PARALLEL_RUNS)
        _limiter.set(limiter)
    return await anyio.to_thread.run_sync(call, limiter=limiter, abandon_on_cancel=True)
