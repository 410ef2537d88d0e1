"""Remembers vectors, so that no text is embedded twice."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import anyio
import anyio.lowlevel
import anyio.to_thread
import numpy as np
from numpy.typing import NDArray

from ebbing.adapters.system import forks
from ebbing.domain.errors import EmbeddingError
from ebbing.ports.embedder import Calibration, Embedder, Vectors
from ebbing.ports.erasable import Forgetful

Role = Literal["query", "passage"]
Vector = NDArray[np.float32]
Found = dict[bytes, Vector]

ENTRY_OVERHEAD = 250
"""Bytes that one entry takes beside its numbers: key, array header, place in the dictionary."""


class CachingEmbedder:
    """Any embedder, with a memory.

    A text that several callers ask for at the same time is embedded once. Keys are hashes of model id, role and text;
    no text is kept, neither in memory nor in the file.

    Args:
        inner: what computes the vectors.
        max_bytes: bound of the vectors in memory; the least recently used leave first.
        path: a file (SQLite) that keeps every vector between runs, without a bound; several processes may share it.

    Raises:
        EmbeddingError: `inner` failed, or the file cannot be used.
    """

    def __init__(self, inner: Embedder, *, max_bytes: int = 64 * 2**20, path: Path | str | None = None) -> None:
        self._inner = inner
        self._recent = _RecentVectors(max_bytes)
        self._file = _VectorFile(Path(path)) if path is not None else None
        self._flights: dict[tuple[object, bytes], _Flight] = {}

    @property
    def inner(self) -> Embedder:
        """What computes the vectors."""
        return self._inner

    @property
    def model_id(self) -> str:
        """The inner embedder's: a cached vector is the same vector."""
        return self._inner.model_id

    @property
    def dim(self) -> int:
        """Length of the vectors."""
        return self._inner.dim

    @property
    def calibration(self) -> Calibration:
        """The inner embedder's."""
        return self._inner.calibration

    @property
    def parallel_runs(self) -> int | None:
        """The inner embedder's, if it computes here; see `LocalEmbedder`."""
        return getattr(self._inner, "parallel_runs", None)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Vectors for questions, shape (len(texts), dim)."""
        return await self._embed(texts, "query")

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors for what is stored, shape (len(texts), dim)."""
        return await self._embed(texts, "passage")

    def forgetful(self) -> Embedder:
        """What computes the vectors, asked past this cache."""
        return self._inner

    async def forget(self) -> None:
        """Lets go of all vectors, in RAM and in the file; see `Forgetful`."""
        self._recent.clear()
        if self._file is not None:
            await anyio.to_thread.run_sync(self._file.clear)
        if isinstance(self._inner, Forgetful):
            await self._inner.forget()

    async def aclose(self) -> None:
        """Close the file and the inner embedder."""
        if self._file is not None:
            await anyio.to_thread.run_sync(self._file.close)
        await self._inner.aclose()

    async def _embed(self, texts: Sequence[str], role: Role) -> Vectors:
        if not texts:
            return await self._inner.embed_passages(texts)
        keys = [_key(text, role, model_id=self.model_id) for text in texts]
        texts_by_key = dict(zip(keys, texts, strict=True))
        vectors = self._recent.get(texts_by_key)
        while missing := {key: text for key, text in texts_by_key.items() if key not in vectors}:
            vectors |= await self._fly(missing, role)
        return np.stack([vectors[key] for key in keys])

    async def _fly(self, missing: Mapping[bytes, str], role: Role) -> Found:
        """Compute what nobody computes yet, then wait for what others do; what failed there is not in the answer."""
        loop = anyio.lowlevel.current_token()
        others = {key: self._flights[loop, key] for key in missing if (loop, key) in self._flights}
        vectors: Found = {}
        mine = {key: text for key, text in missing.items() if key not in others}
        if mine:
            vectors |= await self._lead(mine, role, loop=loop)
        for key, flight in others.items():
            await flight.landed.wait()
            if key in flight.vectors:
                vectors[key] = flight.vectors[key]
        return vectors

    async def _lead(self, mine: Mapping[bytes, str], role: Role, *, loop: object) -> Found:
        flight = _Flight()
        self._flights |= dict.fromkeys(((loop, key) for key in mine), flight)
        try:
            flight.vectors = await self._compute(mine, role)
        finally:
            # Also after an error or a cancellation: whoever waited then tries for himself.
            for key in mine:
                del self._flights[loop, key]
            flight.landed.set()
        return flight.vectors

    async def _compute(self, texts: Mapping[bytes, str], role: Role) -> Found:
        vectors: Found = {}
        if self._file is not None:
            vectors = await anyio.to_thread.run_sync(self._file.read, list(texts))
        rest = {key: text for key, text in texts.items() if key not in vectors}
        if rest:
            embed = self._inner.embed_queries if role == "query" else self._inner.embed_passages
            fresh = dict(zip(rest, await embed(list(rest.values())), strict=True))
            if self._file is not None:
                await anyio.to_thread.run_sync(self._file.write, fresh)
            vectors |= fresh
        self._recent.put(vectors)
        return vectors


class _Flight:
    """One computation under way."""

    def __init__(self) -> None:
        self.landed = anyio.Event()
        self.vectors: Found = {}


class _RecentVectors:
    """Vectors by key within a bound of bytes; safe to share between threads."""

    def __init__(self, max_bytes: int) -> None:
        self._most = self._free = max_bytes
        self._vectors: OrderedDict[bytes, Vector] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, keys: Iterable[bytes]) -> Found:
        return {key: vector for key in keys if (vector := self.one(key)) is not None}

    def one(self, key: bytes) -> Vector | None:
        with self._lock:
            vector = self._vectors.get(key)
            if vector is not None:
                self._vectors.move_to_end(key)
            return vector

    def put(self, vectors: Found) -> None:
        with self._lock:
            for key, vector in vectors.items():
                if key not in self._vectors:
                    # A copy: a row of a batch would keep the whole batch alive.
                    self._vectors[key] = vector.copy()
                    self._free -= vector.nbytes + ENTRY_OVERHEAD
            while self._free < 0:
                _, oldest = self._vectors.popitem(last=False)
                self._free += oldest.nbytes + ENTRY_OVERHEAD

    def clear(self) -> None:
        with self._lock:
            self._vectors.clear()
            self._free = self._most


class _VectorFile:
    """Vectors by key in one SQLite file; safe to share between threads and processes."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._is_closed = self._is_held = False
        with forks.opening, _typed_errors():
            self._open()
            forks.register(self)

    def _open(self) -> sqlite3.Connection:
        """The connection, opened where it is not; to be called with the lock held."""
        if self._is_closed:
            raise sqlite3.ProgrammingError("the cache is closed")
        if self._connection is None:
            self._connection = db = sqlite3.connect(self._path, timeout=30, check_same_thread=False)
            # A cache may lose its last writes in a power cut, but must not wait for the disk.
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = OFF")
            db.execute("PRAGMA secure_delete = ON")
            db.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID")
        return self._connection

    def close_for_fork(self, deadline: float) -> Iterable[Path]:
        """See `forks.Forkable`; a child that inherits the cache opens the file itself."""
        self._is_held = self._lock.acquire(timeout=max(0.0, deadline - time.monotonic()))
        if not self._is_held:
            return (self._path,)
        self._close()
        return ()

    def resume_after_fork(self) -> None:
        """See `forks.Forkable`."""
        if self._is_held:
            self._lock.release()

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def read(self, keys: Sequence[bytes]) -> Found:
        vectors: Found = {}
        with self._lock, _typed_errors():
            db = self._open()
            for key in keys:
                row = db.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    vectors[key] = np.frombuffer(row[0], np.float32)
        return vectors

    def write(self, vectors: Found) -> None:
        rows = [(key, vector.tobytes()) for key, vector in vectors.items()]
        with self._lock, _typed_errors(), self._open() as db:
            db.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)

    def clear(self) -> None:
        """Empties the file and its log; the log later, where another process is reading."""
        with self._lock, _typed_errors():
            db = self._open()
            with db:
                db.execute("DELETE FROM vectors")
            db.execute("VACUUM")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._close()


def _key(text: str, role: Role, *, model_id: str) -> bytes:
    identity = f"{model_id}\0{role}\0{text}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(identity, digest_size=16).digest()


@contextmanager
def _typed_errors() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise EmbeddingError("the file of cached vectors cannot be used: delete it, or give another path") from error
