"""Remembers vectors, so that a text that comes again is not embedded again."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ebbing.ports.models.embedder import Embedder, Vectors
from ebbing.ports.stores.erasable import Forgetful

Role = Literal["query", "passage"]

ENTRY_OVERHEAD = 250
"""Bytes that one entry takes beside its numbers: key, array header, place in the dictionary."""


class CachingEmbedder:
    """Any embedder, with a memory; safe to share between threads.

    Keys are hashes of model id, role and text: no text is remembered.

    Args:
        inner: what computes the vectors.
        max_bytes: bound of the vectors in memory; the least recently used leave first.

    Raises:
        EmbeddingError: `inner` failed.
    """

    def __init__(self, inner: Embedder, *, max_bytes: int = 64 * 2**20) -> None:
        self.inner = inner
        self.model_id, self.dim, self.calibration = inner.model_id, inner.dim, inner.calibration
        self.parallel_runs: int | None = getattr(inner, "parallel_runs", None)
        self._free = self._max_bytes = max_bytes
        self._vectors: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Vectors for questions, shape (len(texts), dim)."""
        return await self._embed(texts, "query")

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors for what is stored, shape (len(texts), dim)."""
        return await self._embed(texts, "passage")

    async def _embed(self, texts: Sequence[str], role: Role) -> Vectors:
        if not texts:
            return await self.inner.embed_passages(texts)
        keys = [_key(text, role, model_id=self.model_id) for text in texts]
        texts_by_key = dict(zip(keys, texts, strict=True))
        vectors = self._read(keys)
        missing = {key: text for key, text in texts_by_key.items() if key not in vectors}
        if missing:
            embed = self.inner.embed_queries if role == "query" else self.inner.embed_passages
            computed = dict(zip(missing, await embed(list(missing.values())), strict=True))
            self._remember(computed)
            vectors |= computed
        return np.stack([vectors[key] for key in keys])

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        vectors = {}
        with self._lock:
            for key in keys:
                vector = self._vectors.get(key)
                if vector is not None:
                    self._vectors.move_to_end(key)
                    vectors[key] = vector
        return vectors

    def _remember(self, vectors: dict[bytes, NDArray[np.float32]]) -> None:
        with self._lock:
            for key, vector in vectors.items():
                if key not in self._vectors:
                    # A copy: a row of a batch would keep the whole batch alive.
                    self._vectors[key] = vector.copy()
                    self._free -= vector.nbytes + ENTRY_OVERHEAD
            while self._free < 0:
                _, oldest = self._vectors.popitem(last=False)
                self._free += oldest.nbytes + ENTRY_OVERHEAD

    def forgetful(self) -> Embedder:
        """What computes the vectors, asked past this cache."""
        return self.inner

    async def forget(self) -> None:
        """Let go of all vectors; see `Forgetful`."""
        with self._lock:
            self._vectors.clear()
            self._free = self._max_bytes
        if isinstance(self.inner, Forgetful):
            await self.inner.forget()

    async def aclose(self) -> None:
        """Close the inner embedder."""
        await self.inner.aclose()


def _key(text: str, role: Role, *, model_id: str) -> bytes:
    identity = f"{model_id}\0{role}\0{text}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(identity, digest_size=16).digest()
