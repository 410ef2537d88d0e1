"""The production embedder with a file of vectors between runs, so that only the first run waits for the model."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from ebbing.adapters.embedders.e5 import Centring, E5Embedder, QuestionMap, Role
from ebbing.adapters.embedders.model_calls import clean
from ebbing.ports.models.embedder import Calibration, Embedder, Vectors
from ebbing.wiring.build import Components
from ebbing.wiring.components.models import ReaderSlot, fixed_embedder
from evals.tokens import KeptTokens
from evals.vectors import KeptVectors

BATCH = 64
"""Texts between two lines of progress."""


class _RawE5:
    """The model before centring, under a name of its own."""

    model_id = "multilingual-e5-small-q4/raw"
    dim = E5Embedder.dim
    calibration: Calibration = E5Embedder.calibration

    def __init__(self) -> None:
        self._model: E5Embedder | None = None

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Shape (texts, dim)."""
        return await self._loaded().embed_queries(texts)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Shape (texts, dim)."""
        return await self._loaded().embed_passages(texts)

    async def aclose(self) -> None:
        """Nothing to close."""

    def _loaded(self) -> E5Embedder:
        """Loaded late: with a full cache, never."""
        if self._model is None:
            self._model = E5Embedder.load(centred=False)
        return self._model


UNCENTRED: Final = Calibration(unrelated=0.85, related=0.88, paraphrase=0.98, same=0.99)
"""What `scripts/calibrate_embedder.py e5-raw` prints, the lower two in ascending order: without centring, half of the
texts that have nothing to do with each other are nearer than half of those about one thing."""


def with_bundled_models(components: Components) -> Components:
    """Return components of a kept embedder with every trained model that the product ships beside its own embedder.

    The product looks for its own embedder, so without this there would be none. `EBBING_READER=off` leaves it so.
    """
    slot = ReaderSlot(components.settings, fixed_embedder(_bundled_embedder()))
    return replace(components, reader=slot)


@cache
def _bundled_embedder() -> E5Embedder:
    return E5Embedder.load()


class KeptE5:
    """multilingual-e5-small as the product ships it. The file keeps what the model says; centring, which is cheap and
    changes more often, is done on top as the adapter does it (a test holds the two equal)."""

    model_id = E5Embedder.model_id
    dim = E5Embedder.dim

    def __init__(self, folder: Path, *, centred: bool = True) -> None:
        self.calibration = E5Embedder.calibration if centred else UNCENTRED
        folder.mkdir(parents=True, exist_ok=True)
        self._raw = KeptVectors(_RawE5(), folder / "vectors.sqlite")
        self._centring = Centring.load() if centred else None
        self._question_map = QuestionMap.load() if centred else None
        self._tokens = KeptTokens(folder / "tokens.sqlite")

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Shape (texts, dim)."""
        return self._centred(await self._raw.embed_queries(texts), texts, role="query")

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Shape (texts, dim)."""
        return self._centred(await self._raw.embed_passages(texts), texts, role="passage")

    async def token_vectors(self, texts: Sequence[str], role: Role) -> list[Vectors]:
        """Shapes (tokens, dim): for late interaction, which `EBBING_RERANKER=late` switches on."""
        return await self._tokens.token_vectors(texts, role)

    def token_pieces(self, text: str, role: Role) -> list[tuple[int, str]]:
        """Id and spelling of each token."""
        return self._tokens.token_pieces(text, role)

    async def aclose(self) -> None:
        """Left open: one embedder serves many stores, each of which closes it."""

    def _centred(self, vectors: Vectors, texts: Sequence[str], *, role: Role) -> Vectors:
        if self._centring is None:
            return vectors
        centred = self._centring.apply(vectors, [clean(text) for text in texts], role=role)
        if self._question_map is not None and role == "query":
            centred = self._question_map.apply(centred)
        centred[~vectors.any(axis=1)] = 0.0
        return centred


async def warm(embedder: Embedder, passages: Iterable[str], *, questions: Iterable[str] = ()) -> None:
    """Embed every distinct text once, short ones first, and tell how far it is."""
    for texts, embed in ((passages, embedder.embed_passages), (questions, embedder.embed_queries)):
        waiting = sorted(dict.fromkeys(texts), key=len)
        began, told = time.perf_counter(), 0.0
        for at in range(0, len(waiting), BATCH):
            await embed(waiting[at : at + BATCH])
            elapsed = time.perf_counter() - began
            if elapsed - told > 5:
                told = elapsed
                print(
                    f"embedded {min(at + BATCH, len(waiting)):,} of {len(waiting):,}, {elapsed:.0f} s", file=sys.stderr
                )


def passage_vectors(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Shape (texts, dim)."""
    return asyncio.run(embedder.embed_passages(texts)) if texts else np.zeros((0, embedder.dim), np.float32)


def question_vectors(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Shape (texts, dim)."""
    return asyncio.run(embedder.embed_queries(texts)) if texts else np.zeros((0, embedder.dim), np.float32)
