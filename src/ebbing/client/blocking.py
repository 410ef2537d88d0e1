"""The client and the host kit for code that does not await: the same methods, on an event loop in the background."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from functools import partial, update_wrapper
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, Unpack

import httpx

from ebbing.client.http import AsyncClient, Paths
from ebbing.client.items import MemoryItem
from ebbing.client.service import HostPolicy, MemoryService, Where, WhereAndHow
from ebbing.client.store import MemoryStore
from ebbing.loop_thread import LoopThread

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def _blocking(
    method: Callable[Concatenate[AsyncClient, _Arguments], Coroutine[Any, Any, _Result]],
) -> Callable[Concatenate[Client, _Arguments], _Result]:
    """Return the method with the same signature and documentation, returning when it is done."""

    def call(self: Client, /, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        return self.run(partial(method, self.twin, *args, **kwargs))

    update_wrapper(call, method)
    return call


class Client:
    """The blocking twin of `AsyncClient`: the same methods with the same arguments, for any number of threads."""

    def __init__(
        self,
        base_url: str = "http://localhost:8830",
        *,
        api_key: str | None = None,
        seconds: float = 10.0,
        paths: Paths | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.twin = AsyncClient(base_url, api_key=api_key, seconds=seconds, paths=paths or Paths(), transport=transport)
        """The same client for code that awaits; it lives on the loop in the background."""
        self._loop = LoopThread()

    add = _blocking(AsyncClient.add)
    search = _blocking(AsyncClient.search)
    get = _blocking(AsyncClient.get)
    get_all = _blocking(AsyncClient.get_all)
    update = _blocking(AsyncClient.update)
    delete = _blocking(AsyncClient.delete)
    forget = _blocking(AsyncClient.forget)
    restore = _blocking(AsyncClient.restore)
    history = _blocking(AsyncClient.history)
    explain = _blocking(AsyncClient.explain)
    get_context = _blocking(AsyncClient.get_context)
    recall = _blocking(AsyncClient.recall)
    remember = _blocking(AsyncClient.remember)
    is_well = _blocking(AsyncClient.is_well)

    def run(self, call: Callable[[], Coroutine[Any, Any, _Result]]) -> _Result:
        """Return what a coroutine function gives on the loop of this client."""
        return self._loop.run(call())

    def close(self) -> None:
        """Close the connections and end the thread; idempotent."""
        if not self._loop.is_stopped:
            self.run(self.twin.aclose)
            self._loop.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class BlockingMemoryService:
    """The blocking twin of `MemoryService`: it raises nothing and keeps to its time.

    Args:
        store: what the service asks, on a loop of its own.
        policy: how much, and how long.
    """

    def __init__(self, store: MemoryStore, policy: HostPolicy | None = None) -> None:
        self.twin = MemoryService(store, policy)
        """The same service for code that awaits; it lives on the loop in the background."""
        self._loop = LoopThread()

    def recall_context(self, user_id: str, query: str, **where: Unpack[Where]) -> str | None:
        """Return what fits a question as a block for the prompt; None where there is nothing to add, or no time."""
        return self._loop.run(self.twin.recall_context(user_id, query, **where))

    def recall(self, user_id: str, query: str, **where: Unpack[Where]) -> list[MemoryItem]:
        """Return what the store finds, best first; nothing where it has no answer in time."""
        return self._loop.run(self.twin.recall(user_id, query, **where))

    def maybe_write(
        self,
        user_id: str,
        user_message: str,
        *,
        assistant_message: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        **where: Unpack[WhereAndHow],
    ) -> bool:
        """Remember a round of a conversation; whether that is known to be done."""
        return self._loop.run(
            self.twin.maybe_write(
                user_id, user_message, assistant_message=assistant_message, metadata=metadata, **where
            )
        )

    def close(self) -> None:
        """Give writes under way their time, close the store and end the thread; idempotent."""
        if not self._loop.is_stopped:
            self._loop.run(self.twin.aclose())
            self._loop.stop()
