"""The production embedder with a file of vectors between runs, so that only the first run waits for the model."""

from __future__ import annotations

import asyncio
import hashlib
import sys
import time
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np

from ebbing.adapters.e5 import E5Embedder
from ebbing.adapters.embedding_cache import CachingEmbedder
from ebbing.ports.embedder import Embedder, Vectors

BATCH = 64
"""Texts between two lines of progress."""


def cached_embedder(folder: Path, *, threads: int = 1) -> CachingEmbedder:
    """multilingual-e5-small as the product ships it, remembering its vectors in `folder`.

    The file is named for the data that the adapter ships (graph and means), so that a change of these is not measured
    with old vectors.
    """
    folder.mkdir(parents=True, exist_ok=True)
    data = sorted(files("ebbing.adapters").joinpath("data").iterdir(), key=lambda entry: entry.name)
    digest = hashlib.blake2b(b"".join(entry.read_bytes() for entry in data if entry.is_file()), digest_size=6)
    path = folder / f"vectors-{digest.hexdigest()}.sqlite"
    return CachingEmbedder(E5Embedder.load(threads=threads), path=path, max_bytes=256 * 2**20)


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
                print(f"embedded {at + BATCH:,} of {len(waiting):,} texts, {elapsed:.0f} s", file=sys.stderr)


def passage_vectors(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Shape (texts, dim)."""
    return asyncio.run(embedder.embed_passages(texts)) if texts else np.zeros((0, embedder.dim), np.float32)


def question_vectors(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Shape (texts, dim)."""
    return asyncio.run(embedder.embed_queries(texts)) if texts else np.zeros((0, embedder.dim), np.float32)
