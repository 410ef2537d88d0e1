"""What the indexes on a server share: their clients wait, so each call runs in a thread; errors are translated."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Final, TypeVar

from anyio import fail_after, to_thread

from ebbing.adapters.vectors.rooms import check_length
from ebbing.domain.errors import VectorIndexError
from ebbing.ports.indexes.vector_index import Seqs, VectorRoom, Vectors

_Result = TypeVar("_Result")
CALL_SECONDS: Final = 60.0
"""How long a call may take, unless it says otherwise."""


class ServerIndex(ABC):
    """A `VectorIndex` whose calls wait for a server. Threads and event loops may share it."""

    _seen: set[str]
    """Tables or collections that were seen to be there. After an error they are looked for again: another process may
    have removed them."""

    async def upsert(self, room: VectorRoom, seqs: Seqs, *, vectors: Vectors) -> None:
        check_length(room, vectors)
        if len(seqs):
            await self._in_a_thread(partial(self._upsert, room, seqs, vectors=vectors))

    async def delete(self, partition: str, seqs: Seqs | None = None) -> None:
        if seqs is None or len(seqs):
            await self._in_a_thread(partial(self._delete, partition, seqs))

    async def search(self, room: VectorRoom, vector: Vectors, *, limit: int) -> Seqs:
        check_length(room, vector)
        return await self._in_a_thread(partial(self._search, room, vector, limit=limit))

    async def count(self, room: VectorRoom) -> int:
        return await self._in_a_thread(partial(self._count, room))

    async def save(self, *, is_complete: bool = True) -> None:
        """Nothing is left to do, unless a subclass says so: every call waits until the server has written."""
        del is_complete

    async def clear(self) -> None:
        await self._in_a_thread(self._clear)

    async def aclose(self) -> None:
        await to_thread.run_sync(self._close)

    async def _in_a_thread(self, work: Callable[[], _Result], *, seconds: float | None = CALL_SECONDS) -> _Result:
        try:
            with fail_after(seconds), self._translated():
                return await to_thread.run_sync(work, abandon_on_cancel=True)
        except TimeoutError as error:
            raise VectorIndexError(
                "the server of the vector index takes too long: look at its load and locks, then retry"
            ) from error
        except VectorIndexError:
            self._seen.clear()
            raise

    @abstractmethod
    def _translated(self) -> AbstractContextManager[None]:
        """Turn what the client raises into a `VectorIndexError` that says what to do."""

    @abstractmethod
    def _upsert(self, room: VectorRoom, seqs: Seqs, *, vectors: Vectors) -> None: ...

    @abstractmethod
    def _delete(self, partition: str, seqs: Seqs | None) -> None: ...

    @abstractmethod
    def _search(self, room: VectorRoom, vector: Vectors, *, limit: int) -> Seqs: ...

    @abstractmethod
    def _count(self, room: VectorRoom) -> int: ...

    @abstractmethod
    def _clear(self) -> None: ...

    @abstractmethod
    def _close(self) -> None: ...
