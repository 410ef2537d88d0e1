"""What the indexes with collections share: one collection for each model, made when its length is known."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from ebbing.adapters.vectors.rooms import COLLECTION, collection_name, digest
from ebbing.adapters.vectors.server_index import ServerIndex
from ebbing.domain.errors import VectorIndexError
from ebbing.ports.indexes.vector_index import VectorRoom


class _Closable(Protocol):
    def close(self) -> None: ...


_Client = TypeVar("_Client", bound=_Closable)


class CollectionIndex(ServerIndex, Generic[_Client]):
    """A `VectorIndex` that holds the rows of all owners in one collection a model."""

    def __init__(self, connect: Callable[[], _Client], *, collection: str) -> None:
        """`connect` is called at the first use, so that a server which is down fails no start."""
        self._connect, self._prefix = connect, collection
        self._client: _Client | None = None
        self._seen = set()

    def _close(self) -> None:
        client, self._client = self._client, None
        self._seen.clear()
        if client is not None:
            client.close()

    def _opened(self) -> _Client:
        if self._client is None:
            self._client = self._connect()
        return self._client

    def _find(self, room: VectorRoom) -> str | None:
        """Return the collection of a room; None if there is none."""
        name = collection_name(self._prefix, room)
        if name not in self._seen and not self._is_there(name):
            return None
        self._seen.add(name)
        return name

    def _made(self, room: VectorRoom) -> str:
        """Return the collection of a room, which is made if there is none."""
        name = self._find(room)
        if name is None:
            name = collection_name(self._prefix, room)
            self._make(name, room.dim)
            self._seen.add(name)
        return name

    def _collections(self) -> list[str]:
        own = f"{self._prefix}_"
        return [name for name in self._names() if name.startswith(own) and COLLECTION.search(name)]

    def _clear(self) -> None:
        for name in self._collections():
            self._drop(name)
        self._seen.clear()

    @abstractmethod
    def _names(self) -> list[str]:
        """Return the collections of the server, other programs' too."""

    @abstractmethod
    def _is_there(self, name: str) -> bool: ...

    @abstractmethod
    def _make(self, name: str, dim: int) -> None: ...

    @abstractmethod
    def _drop(self, name: str) -> None: ...


def owner_key(room: VectorRoom) -> str:
    """Return the key under which the rows of an owner lie in a collection."""
    return digest(f"{room.tenant}\x1f{room.partition}")


def check_version(server: str, version: str, *, least: tuple[int, int]) -> None:
    """Refuse a server that is too old; one that does not name its version in numbers is taken to be new enough.

    Raises:
        VectorIndexError: it is.
    """
    numbers = re.match(r"v?(\d+)\.(\d+)", version)
    if numbers and (int(numbers[1]), int(numbers[2])) < least:
        raise VectorIndexError(
            f"{server} {numbers[1]}.{numbers[2]} is too old: install version {least[0]}.{least[1]} or newer"
        )
