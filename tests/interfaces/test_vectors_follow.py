"""While many wait for a local model, what is said is stored at once, and its vectors follow."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest

from ebbing import AsyncMemory
from ebbing.domain.errors import EmbeddingError
from ebbing.ports.models.embedder import Vectors
from ebbing.remember.extraction.pattern_warmup import warm_up_patterns
from ebbing.remember.vectors import deferred_embedding as follow
from ebbing.testing.clock import ManualClock
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.wiring.build import build, load_settings

pytestmark = pytest.mark.anyio
FIRST = 4
"""Adds whose vectors are waited for: twice as many as the model works on at a time."""
ADDS = 12


PATIENCE_SECONDS = 60
"""For a machine that does much else at once. Nothing here waits longer, so that a failed test ends too."""


class Busy(FakeEmbedder):
    """A local model that computes nothing until it may."""

    parallel_runs = 2

    def __init__(self) -> None:
        super().__init__()
        self.may = threading.Event()
        self.error: EmbeddingError | None = None
        self.asked = 0
        """How many adds wait for it, or have."""

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if threading.current_thread().name != "ebbing-vectors":
            self.asked += 1
        await anyio.to_thread.run_sync(self.may.wait, PATIENCE_SECONDS, abandon_on_cancel=True)
        if self.error is not None:
            raise self.error
        return self.embed(texts)


def opened(path: Path, embedder: FakeEmbedder, clock: ManualClock | None = None, **settings: Any) -> AsyncMemory:
    asked = load_settings({"path": path, "defer_embeddings": True, **settings})
    return AsyncMemory(components=build(asked, embedder=embedder, clock=clock or ManualClock()))


async def add_all(memory: AsyncMemory, embedder: Busy, *, infer: bool = True) -> set[asyncio.Task[Any]]:
    """Begins all adds; what is not answered while the model is busy."""
    await warm_up_patterns(reading=True)
    adds = [
        asyncio.create_task(
            memory.add(f"I own {number} red kites.", user_id=f"user {number % 3}", infer=infer), name=str(number)
        )
        for number in range(ADDS)
    ]
    waiting = set(adds)
    while len(waiting) > embedder.asked:
        done, waiting = await asyncio.wait(waiting, timeout=0.05)
        assert not any(add.exception() for add in done)
    return waiting


async def bare(memory: AsyncMemory) -> int:
    await memory.maintenance.diagnose()  # which looks at the embedder
    return (await memory.components.store.stats("default")).without_vector


async def until_none_is_bare(memory: AsyncMemory) -> None:
    give_up = time.monotonic() + PATIENCE_SECONDS
    while await bare(memory):
        assert time.monotonic() < give_up
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("infer", [True, False])
async def test_what_is_added_while_others_wait_is_found_by_words_at_once_and_by_meaning_soon(
    tmp_path: Path, infer: bool
) -> None:
    embedder = Busy()
    async with opened(tmp_path, embedder) as memory:
        waiting = await add_all(memory, embedder, infer=infer)
        assert len(waiting) == FIRST
        number = next(number for number in range(ADDS) if str(number) not in {add.get_name() for add in waiting})
        asked: dict[str, Any] = {"user_id": f"user {number % 3}", "include": "all"}
        found = await memory.search(f"Who owns {number} red kites?", **asked)
        assert any(f"own {number} red kites" in one["memory"] for one in found["results"])
        assert await bare(memory) >= ADDS - FIRST
        embedder.may.set()
        await asyncio.gather(*waiting)
        await until_none_is_bare(memory)
        assert not memory.components.following.waiting
        found = await memory.search(f"Who owns {number} red kites?", **asked)
        assert "semantic" in found["results"][0]["retriever_scores"]
        assert await memory.maintenance.verify() == []


@pytest.mark.parametrize("infer", [True, False])
async def test_the_answer_of_an_add_counts_the_texts_that_wait_for_their_vectors(tmp_path: Path, infer: bool) -> None:
    embedder = Busy()
    embedder.may.set()
    async with opened(tmp_path, embedder) as memory:
        with_vectors = await memory.add("I own a red kite.", user_id="ada", infer=infer)
        assert "vectors_pending" not in with_vectors
        before = await bare(memory)
        embedder.error = EmbeddingError("gone")
        without = await memory.add("I own a blue boat.", user_id="ada", infer=infer)
        assert without["vectors_pending"] == await bare(memory) - before > 0


async def test_what_a_process_owed_that_ended_is_made_good_by_a_worker(tmp_path: Path) -> None:
    clock, embedder = ManualClock(), Busy()
    memory = opened(tmp_path, embedder, clock)
    waiting = await add_all(memory, embedder)
    for add in waiting:
        add.cancel()
    memory.components.following._waiting.clear()  # as a kill does
    embedder.may.set()
    await memory.close()
    async with opened(tmp_path, FakeEmbedder(), clock) as memory:
        assert await bare(memory) > 0
        clock.advance(follow.JOB_DELAY + timedelta(seconds=1))
        assert (await memory.jobs.run_worker(until_idle=True))["failed"] == 0
        assert await bare(memory) == 0


async def test_a_model_that_fails_meanwhile_leaves_the_vectors_to_the_worker(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock, embedder = ManualClock(), Busy()
    async with opened(tmp_path, embedder, clock) as memory:
        waiting = await add_all(memory, embedder)
        embedder.error = EmbeddingError("down")
        embedder.may.set()
        await asyncio.gather(*waiting)
        while memory.components.following._thread is not None:  # noqa: ASYNC110 – it tells nobody
            await asyncio.sleep(0.01)
        assert "vectors do not follow" in caplog.text
        embedder.error = None
        clock.advance(follow.JOB_DELAY + timedelta(seconds=1))
        await memory.jobs.run_worker(until_idle=True)
        assert await bare(memory) == 0


@pytest.mark.parametrize("settings", [{"defer_embeddings": False}, {"strict_embeddings": True}])
async def test_adds_wait_for_their_vectors_where_that_is_asked_for(tmp_path: Path, settings: dict[str, Any]) -> None:
    embedder = Busy()
    async with opened(tmp_path, embedder, **settings) as memory:
        waiting = await add_all(memory, embedder)
        assert len(waiting) == ADDS
        embedder.may.set()
        await asyncio.gather(*waiting)
        assert await bare(memory) == 0


async def test_adds_wait_again_when_too_much_is_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "MAX_WAITING_TEXTS", 0)
    embedder = Busy()
    async with opened(tmp_path, embedder) as memory:
        waiting = await add_all(memory, embedder)
        assert len(waiting) == ADDS
        embedder.may.set()
        await asyncio.gather(*waiting)


async def test_nothing_waits_of_an_owner_who_was_erased(tmp_path: Path) -> None:
    embedder = Busy()
    async with opened(tmp_path, embedder) as memory:
        waiting = await add_all(memory, embedder)
        before = memory.components.following.waiting
        await memory.delete_all(user_id="user 0")
        assert memory.components.following.waiting < before
        embedder.may.set()
        await asyncio.gather(*waiting)
        await until_none_is_bare(memory)
