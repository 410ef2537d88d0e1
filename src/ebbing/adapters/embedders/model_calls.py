"""What the calls of models share: text that is safe for them, and threads in which they run beside the event loop."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import monotonic
from typing import Literal, TypeVar

import numpy as np
from anyio.lowlevel import RunVar
from numpy.typing import NDArray

from ebbing.ports.models.embed_passages import TURN, Turn

# Makes any `str` safe for a tokenizer or an endpoint: the step before every embedding.

MAX_CHARACTERS = 16_000
"""What lies beyond is not embedded (about 4,000 English tokens, or 10,000 Chinese ones)."""

_CONTROL: dict[int, str | None] = dict.fromkeys((*range(0x20), 0x7F, 0x8F, 0x9F))
# What the SentencePiece model behind e5 and USE treats as a space, down to U+2581, its own word mark.
_SPACES = (0x09, 0x0A, 0x0C, 0x0D, 0x1680, *range(0x200B, 0x2010), 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD)
_REPLACEMENTS = {**_CONTROL, **dict.fromkeys(_SPACES, " "), **dict.fromkeys(range(0xD800, 0xE000), " ")}


def clean(text: str, max_characters: int = MAX_CHARACTERS) -> str:
    """`text` in NFKC, without control characters or lone surrogates, single spaces, at most `max_characters` long.

    The cut comes before and after the normalisation, because one character may become eighteen.
    """
    normal = unicodedata.normalize("NFKC", text[:max_characters])
    return " ".join(normal[:max_characters].translate(_REPLACEMENTS).split())


# Runs a local model beside the event loop, never on it.

PARALLEL_RUNS = 2
"""Per event loop and line; more callers wait their turn, so that memory stays bounded."""

Line = Literal["query", "passage"]
"""Who waits for whom: a search never for what is being stored, of which there may be much."""

_Result = TypeVar("_Result")


class _Pool:
    """The threads of one line, and when a call last began or ended in them."""

    def __init__(self, line: Line) -> None:
        self.threads = ThreadPoolExecutor(PARALLEL_RUNS, thread_name_prefix=f"ebbing-{line}")
        self._moved = monotonic()

    def moved(self) -> float:
        return self._moved

    def run(self, call: Callable[[], _Result], turn: Turn | None) -> _Result:
        """What `call` returns; its turn begins here, in the thread."""
        self._moved = monotonic()
        if turn is not None:
            turn.begin()
        try:
            return call()
        finally:
            self._moved = monotonic()


_pools: RunVar[dict[Line, _Pool]] = RunVar("embedding_threads")


async def in_model_thread(call: Callable[[], _Result], *, line: Line) -> _Result:
    """What `call` returns, computed in a thread. A cancelled caller goes at once; the thread ends by itself.

    Threads of its own, not anyio's: on a busy loop, where each turn takes long, that is two turns instead of five.
    """
    pool, turn = _pool_of(line), TURN.get()
    if turn is not None:
        turn.wait(pool.moved)
    return await asyncio.get_running_loop().run_in_executor(pool.threads, partial(pool.run, call, turn))


def _pool_of(line: Line) -> _Pool:
    try:
        pools = _pools.get()
    except LookupError:
        pools = {}
        _pools.set(pools)
    if line not in pools:
        pools[line] = _Pool(line)
    return pools[line]


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return rows divided by their length, same shape; a row of zeros stays one."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    lengths[lengths == 0] = 1.0
    rows: NDArray[np.float32] = vectors / lengths
    return rows
