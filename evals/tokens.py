"""Token vectors of the production embedder with a file between runs, for measuring late interaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

import numpy as np

from ebbing.adapters.embedders.e5 import DIM, E5Embedder, Role
from ebbing.ports.models.embedder import Vectors


class KeptTokens:
    """A `TokenEmbedder`: what e5 says of every token, in half precision, by hash of the text."""

    model_id = E5Embedder.model_id

    def __init__(self, file: Path) -> None:
        self._file = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        self._file.execute("PRAGMA journal_mode = WAL")
        self._file.execute("CREATE TABLE IF NOT EXISTS tokens (key BLOB PRIMARY KEY, vectors BLOB) WITHOUT ROWID")

    async def token_vectors(self, texts: Sequence[str], role: Role) -> list[Vectors]:
        """Shapes (tokens, dim)."""
        return [await self._vectors(text, role) for text in texts]

    def token_pieces(self, text: str, role: Role) -> list[tuple[int, str]]:
        """Id and spelling of each token."""
        return self._model.token_pieces(text, role)

    async def _vectors(self, text: str, role: Role) -> Vectors:
        key = blake2b(f"{self.model_id}\0{role}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
        kept = self._file.execute("SELECT vectors FROM tokens WHERE key = ?", (key,)).fetchone()
        if kept is None:
            [vectors] = await self._model.token_vectors([text], role)
            self._file.execute("INSERT OR IGNORE INTO tokens VALUES (?, ?)", (key, vectors.astype("<f2").tobytes()))
            return vectors
        return np.frombuffer(kept[0], "<f2").reshape(-1, DIM).astype(np.float32)

    @cached_property
    def _model(self) -> E5Embedder:
        return E5Embedder.load()
