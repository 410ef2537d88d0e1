"""Vectors of an embedder with a file between runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ebbing.ports.models.embedder import Embedder, Vectors

Role = Literal["query", "passage"]


class KeptVectors:
    """What an embedder says of each text, in a file and in RAM, by hash of model, role and text."""

    def __init__(self, inner: Embedder, file: Path) -> None:
        self._inner = inner
        self._file = sqlite3.connect(file, isolation_level=None, check_same_thread=False, timeout=30)
        self._file.execute("PRAGMA journal_mode = WAL")
        self._file.execute("PRAGMA synchronous = OFF")
        self._file.execute(
            "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"
        )
        self._recent: dict[bytes, NDArray[np.float32]] = {}

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Shape (texts, dim)."""
        return await self._embed(texts, "query")

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Shape (texts, dim)."""
        return await self._embed(texts, "passage")

    async def _embed(self, texts: Sequence[str], role: Role) -> Vectors:
        if not texts:
            return await self._inner.embed_passages(texts)
        keys = [self._key(text, role) for text in texts]
        texts_by_key = dict(zip(keys, texts, strict=True))
        missing = {key: text for key, text in texts_by_key.items() if not self._read(key)}
        if missing:
            embed = self._inner.embed_queries if role == "query" else self._inner.embed_passages
            vectors = dict(zip(missing, await embed(list(missing.values())), strict=True))
            self._recent |= vectors
            rows = [(key, vector.tobytes()) for key, vector in vectors.items()]
            self._file.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)
        return np.stack([self._recent[key] for key in keys])

    def _read(self, key: bytes) -> bool:
        if key not in self._recent:
            row = self._file.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
            if row is None:
                return False
            self._recent[key] = np.frombuffer(row[0], np.float32)
        return True

    def _key(self, text: str, role: Role) -> bytes:
        identity = f"{self._inner.model_id}\0{role}\0{text}".encode("utf-8", "surrogatepass")
        return blake2b(identity, digest_size=16).digest()
