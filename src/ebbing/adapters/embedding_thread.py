"""Runs a local model beside the event loop, never on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread

PARALLEL_RUNS = 2
"""Per event loop and line; more callers wait their turn, so that memory stays bounded."""

Line = Literal["query", "passage"]
"""Who waits for whom: a search never for what is being stored, of which there may be much."""

_Result = TypeVar("_Result")
_limiters: anyio.lowlevel.RunVar[dict[Line, anyio.CapacityLimiter]] = anyio.lowlevel.RunVar("embedding_limiters")


async def in_model_thread(call: Callable[[], _Result], *, line: Line) -> _Result:
    """What `call` returns, computed in a thread. A cancelled caller goes at once; the thread ends by itself."""
    return await anyio.to_thread.run_sync(call, limiter=_limiter(line), abandon_on_cancel=True)


def waiting_in(line: Line) -> int:
    """How many callers on this event loop wait for their turn."""
    return _limiter(line).statistics().tasks_waiting


def _limiter(line: Line) -> anyio.CapacityLimiter:
    try:
        limiters = _limiters.get()
    except LookupError:
        limiters = {}
        _limiters.set(limiters)
    if line not in limiters:
        limiters[line] = anyio.CapacityLimiter(PARALLEL_RUNS)
    return limiters[line]
