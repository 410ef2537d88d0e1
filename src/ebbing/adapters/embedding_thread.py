"""Runs a local model beside the event loop, never on it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, TypeVar

from anyio.lowlevel import RunVar

PARALLEL_RUNS = 2
"""Per event loop and line; more callers wait their turn, so that memory stays bounded."""

Line = Literal["query", "passage"]
"""Who waits for whom: a search never for what is being stored, of which there may be much."""

_Result = TypeVar("_Result")
_threads: RunVar[dict[Line, ThreadPoolExecutor]] = RunVar("embedding_threads")


async def in_model_thread(call: Callable[[], _Result], *, line: Line) -> _Result:
    """What `call` returns, computed in a thread. A cancelled caller goes at once; the thread ends by itself.

    Threads of its own, not anyio's: on a busy loop, where each turn takes long, that is two turns instead of five.
    """
    return await asyncio.get_running_loop().run_in_executor(_threads_of(line), call)


def _threads_of(line: Line) -> ThreadPoolExecutor:
    try:
        threads = _threads.get()
    except LookupError:
        threads = {}
        _threads.set(threads)
    if line not in threads:
        threads[line] = ThreadPoolExecutor(PARALLEL_RUNS, thread_name_prefix=f"ebbing-{line}")
    return threads[line]
