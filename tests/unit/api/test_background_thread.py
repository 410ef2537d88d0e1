"""Work beside the event loop: it neither holds up the loop nor outlives who asked for it."""

from __future__ import annotations

import asyncio
import threading
import time

import anyio
import pytest

from ebbing.api.threads.background_thread import Host, HostedChatModel, HostedEmbedder, run_in_thread
from ebbing.domain.errors import StoreError
from ebbing.ports.models.chat_model import Turn
from ebbing.testing.models.chat_model import ScriptedChatModel
from ebbing.testing.models.embedder import FakeEmbedder

pytestmark = pytest.mark.anyio


async def test_the_loop_goes_on_while_the_work_keeps_its_thread_busy() -> None:
    async def busy() -> str:
        time.sleep(0.3)  # noqa: ASYNC251 - a piece that does not let go
        return threading.current_thread().name

    ticks = 0
    working = asyncio.ensure_future(run_in_thread(busy))
    while not working.done():
        await asyncio.sleep(0.01)
        ticks += 1
    assert await working == "ebbing-upkeep"
    assert ticks > 5


async def test_what_the_work_raises_reaches_who_asked_for_it() -> None:
    async def failing() -> None:
        raise StoreError("disk full")

    with pytest.raises(StoreError, match="disk full"):
        await run_in_thread(failing)


async def test_work_whose_caller_is_cancelled_has_ended_before_the_caller_has() -> None:
    ended = threading.Event()

    async def long() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)  # what it tidies up takes its time
            ended.set()

    with anyio.move_on_after(0.1) as limit:
        await run_in_thread(long)
    assert limit.cancelled_caught
    assert ended.is_set()

    working = asyncio.ensure_future(run_in_thread(long))
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working


async def test_what_belongs_to_the_host_is_asked_on_the_hosts_loop() -> None:
    threads: list[str] = []

    class Embedder(FakeEmbedder):
        async def embed_passages(self, texts: object) -> object:  # type: ignore[override]
            threads.append(threading.current_thread().name)
            return await super().embed_passages(texts)  # type: ignore[arg-type]

    host, model, inner = Host(), ScriptedChatModel({"ok": True}), Embedder()
    embedder, chat = HostedEmbedder(inner, host), HostedChatModel(model, host)
    order: list[int] = []

    async def work() -> tuple[object, ...]:
        for number in range(3):
            host.soon(order.append, number)
        vectors = await embedder.embed_passages(["tea"])
        queries = await embedder.embed_queries(["tea"])
        answer = await chat.complete([Turn("user", "ok?")], schema={"type": "object"})
        await embedder.aclose()
        await chat.aclose()
        return vectors.shape, queries.shape, answer.parsed

    assert await run_in_thread(work) == ((1, inner.dim), (1, inner.dim), {"ok": True})
    assert threads == [threading.current_thread().name]
    assert order == [0, 1, 2]
    assert (embedder.model_id, embedder.dim, embedder.calibration) == (inner.model_id, inner.dim, inner.calibration)
    assert chat.model_id == model.model_id
