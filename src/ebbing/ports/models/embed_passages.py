"""Passages embedded in portions, each under a deadline: whatever an embedder does, what came before it is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.errors import EmbeddingError
from ebbing.ports.models.embedder import Embedder, Vectors

PORTION_CHARACTERS: Final = 16_000
"""Characters of a portion: about what the longest text has that an embedder reads, one second of a local model."""
PORTION_TEXTS: Final = 64


@dataclass(frozen=True, slots=True)
class Embedded:
    """What could be had."""

    vectors: tuple[NDArray[np.float32] | None, ...]
    """Shape (dim,) each, in the order of the texts; None from the portion on that failed."""
    failure: EmbeddingError | None = None


class Turn:
    """The time of a portion: an embedder whose callers wait for one another reports when its own work begins."""

    def __init__(self) -> None:
        self._since = monotonic()
        self._moved: Callable[[], float] | None = None

    def wait(self, moved: Callable[[], float]) -> None:
        """Wait for others; `moved` tells when one of them last began or ended."""
        self._moved = moved

    def begin(self) -> None:
        """Begin the work itself."""
        self._since, self._moved = monotonic(), None

    def left(self, seconds: float) -> float:
        """Return what is left of `seconds` of own work, or of waiting for others that do not move."""
        moved = self._moved
        since = self._since if moved is None else max(self._since, moved())
        return since + seconds - monotonic()


TURN: Final[ContextVar[Turn | None]] = ContextVar("turn", default=None)
"""The turn of the portion that is being embedded, for embedders to report to."""


async def embed_passages(embedder: Embedder, texts: Sequence[str], *, seconds: float) -> Embedded:
    """Vectors for texts that are stored, up to the first portion that fails.

    Args:
        seconds: how long a portion may take, above 0, without the time for which it waits for others that move. An
            embedder that takes longer is not waited for, and what comes behind is not tried: it would hang as well.
    """
    vectors: list[NDArray[np.float32] | None] = []
    failure: EmbeddingError | None = None
    for portion in [list(texts)] if len(texts) == 1 else _portions(texts):
        try:
            rows = await _within(embedder, portion, seconds=seconds)
            if getattr(rows, "shape", None) != (len(portion), embedder.dim):
                raise EmbeddingError("the embedder gave no vector for each text")
            vectors.extend(rows)
        except EmbeddingError as error:
            failure = error
            break
    vectors += [None] * (len(texts) - len(vectors))
    return Embedded(tuple(vectors), failure)


async def _within(embedder: Embedder, texts: list[str], *, seconds: float) -> Vectors:
    """One portion; an embedder given in code may raise or return anything, and may never return."""
    turn = Turn()
    before = TURN.set(turn)
    task = asyncio.ensure_future(embedder.embed_passages(texts))
    TURN.reset(before)
    try:
        while not task.done() and (left := turn.left(seconds)) > 0:
            await asyncio.wait({task}, timeout=left)
    finally:
        if not task.done():
            task.cancel()
            task.add_done_callback(_let_it_end)
    if not task.done():
        raise EmbeddingError(f"the embedder was not done within {seconds:g} s")
    error = asyncio.CancelledError() if task.cancelled() else task.exception()
    if isinstance(error, EmbeddingError):
        raise error
    if error is not None:
        # Not chained: its words may hold the texts.
        raise EmbeddingError(f"the embedder raised {type(error).__name__}")
    return task.result()


def _let_it_end(task: asyncio.Future[Vectors]) -> None:
    """Looks at how a task ended that nobody waits for any more, so that nobody is told that nobody looked."""
    if not task.cancelled():
        task.exception()


def _portions(texts: Sequence[str]) -> Iterator[list[str]]:
    portion: list[str] = []
    size = 0
    for text in texts:
        counted = min(len(text), PORTION_CHARACTERS)
        if portion and (size + counted > PORTION_CHARACTERS or len(portion) == PORTION_TEXTS):
            yield portion
            portion, size = [], 0
        portion.append(text)
        size += counted
    if portion:
        yield portion
