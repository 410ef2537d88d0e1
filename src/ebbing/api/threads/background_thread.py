"""Long work beside the event loop, so that whoever is served by the loop never waits for a piece of it.

The work runs on a loop and in a thread of its own. The store may be used from there; what keeps connections to an
endpoint open is asked on the loop that it belongs to.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import TypeVar

import anyio

from ebbing.ports.models.chat_model import ChatModel, Completion, Schema, Turn
from ebbing.ports.models.embedder import Calibration, Embedder, Vectors
from ebbing.upkeep.worker.worker import JobHandler

_Result = TypeVar("_Result")
_Work = Callable[[], Awaitable[_Result]]


async def run_in_thread(work: _Work[_Result]) -> _Result:
    """Return what `work` returns or raises, run in another thread.

    When the caller is cancelled the work is too, and its end awaited.
    """
    begun: Future[Callable[[], object]] = Future()
    ended: Future[_Result] = Future()

    async def main() -> _Result | BaseException:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        begun.set_result(lambda: loop.call_soon_threadsafe(task.cancel))
        # `gather` takes whatever the work raises as its result, to be raised where it is waited for.
        [outcome] = await asyncio.gather(work(), return_exceptions=True)
        return outcome

    def run() -> None:
        with suppress(asyncio.CancelledError):
            outcome = asyncio.run(main())
            if isinstance(outcome, BaseException):
                ended.set_exception(outcome)
            else:
                ended.set_result(outcome)
        ended.cancel()  # unless there is a result

    threading.Thread(target=run, name="ebbing-upkeep", daemon=True).start()
    waited = asyncio.wrap_future(ended)
    try:
        return await asyncio.shield(waited)
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True):
            (await asyncio.wrap_future(begun))()
            await asyncio.wait([waited])
        raise


class Host:
    """The loop that it was made on, for work that runs beside it."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()

    async def run(self, work: _Work[_Result]) -> _Result:
        """Return what `work` returns or raises, run on this loop."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_awaited(work), self._loop))

    def duty(self, duty: JobHandler) -> JobHandler:
        """The duty, done on this loop: for what is about models and endpoints rather than about work of its own."""
        return lambda job, at_work: self.run(lambda: duty(job, at_work))

    def soon(self, call: Callable[..., object], *args: object) -> None:
        """Call a function on this loop, in the order in which this was asked for."""
        self._loop.call_soon_threadsafe(call, *args)


async def _awaited(work: _Work[_Result]) -> _Result:
    return await work()


class HostedEmbedder:
    """An `Embedder` that is asked on its host's loop."""

    def __init__(self, embedder: Embedder, host: Host) -> None:
        self._embedder, self._host = embedder, host

    @property
    def model_id(self) -> str:
        """That of the embedder."""
        return self._embedder.model_id

    @property
    def dim(self) -> int:
        """That of the embedder."""
        return self._embedder.dim

    @property
    def calibration(self) -> Calibration:
        """That of the embedder."""
        return self._embedder.calibration

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return the embedder's vectors."""
        return await self._host.run(lambda: self._embedder.embed_queries(texts))

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the embedder's vectors."""
        return await self._host.run(lambda: self._embedder.embed_passages(texts))

    async def aclose(self) -> None:
        """Close nothing: the embedder is its host's."""


class HostedChatModel:
    """A `ChatModel` that is asked on its host's loop."""

    def __init__(self, model: ChatModel, host: Host) -> None:
        self._model, self._host = model, host

    @property
    def model_id(self) -> str:
        """That of the model."""
        return self._model.model_id

    async def complete(
        self,
        messages: Sequence[Turn],
        *,
        schema: Schema | None = None,
        max_tokens: int | None = None,
        temperature: float = 0.0,
        timeout_seconds: float | None = None,
    ) -> Completion:
        """Return the model's answer."""
        return await self._host.run(
            lambda: self._model.complete(
                messages,
                schema=schema,
                max_tokens=max_tokens,
                temperature=temperature,
                timeout_seconds=timeout_seconds,
            )
        )

    async def aclose(self) -> None:
        """Close nothing: the model is its host's."""
