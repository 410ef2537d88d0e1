"""What the cache of vectors promises."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import anyio
import anyio.lowlevel
import numpy as np
import pytest

from ebbing.adapters.embedders.embedding_cache import ENTRY_OVERHEAD, CachingEmbedder
from ebbing.domain.errors import EmbeddingError
from ebbing.ports.embedder import Vectors
from ebbing.testing.embedder import FakeEmbedder

pytestmark = pytest.mark.anyio


class CountingEmbedder(FakeEmbedder):
    """Remembers what it was asked; may fail, and may wait for the test."""

    def __init__(self, *, model_id: str = "counting", gate: anyio.Event | None = None) -> None:
        super().__init__(16)
        self.model_id = model_id
        self.asked: list[str] = []
        self.failures = 0
        self.gate = gate

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.asked.extend(texts)
        if self.gate is not None:
            await self.gate.wait()
        if self.failures:
            self.failures -= 1
            raise EmbeddingError("the endpoint is away")
        return self.embed(texts)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return -(await self.embed_passages(texts))


async def test_a_text_is_embedded_only_once() -> None:
    inner = CountingEmbedder()
    cache = CachingEmbedder(inner)
    first = await cache.embed_passages(["tea", "coffee", "tea"])
    again = await cache.embed_passages(["coffee", "water", "tea"])
    assert inner.asked == ["tea", "coffee", "water"]
    np.testing.assert_array_equal(first, inner.embed(["tea", "coffee", "tea"]))
    np.testing.assert_array_equal(again, inner.embed(["coffee", "water", "tea"]))


async def test_a_question_and_a_passage_are_kept_apart() -> None:
    cache = CachingEmbedder(CountingEmbedder())
    passage = await cache.embed_passages(["tea"])
    question = await cache.embed_queries(["tea"])
    np.testing.assert_array_equal(question, -passage)


async def test_callers_at_the_same_time_share_one_computation() -> None:
    gate = anyio.Event()
    inner = CountingEmbedder(gate=gate)
    cache = CachingEmbedder(inner)
    answers: list[Vectors] = []

    async def ask(*texts: str) -> None:
        answers.append(await cache.embed_passages(texts))

    async with anyio.create_task_group() as tasks:
        for texts in (["tea"], ["tea"], ["coffee", "tea"], ["coffee"]):
            tasks.start_soon(ask, *texts)
        await anyio.wait_all_tasks_blocked()
        gate.set()
    assert sorted(inner.asked) == ["coffee", "tea"]
    assert sorted(len(answer) for answer in answers) == [1, 1, 1, 2]
    assert all(np.linalg.norm(answer, axis=1) == pytest.approx(1) for answer in answers)


async def test_whoever_waited_for_a_failure_tries_again() -> None:
    gate = anyio.Event()
    inner = CountingEmbedder(gate=gate)
    inner.failures = 1
    cache = CachingEmbedder(inner)
    outcomes: list[str] = []

    async def ask() -> None:
        try:
            await cache.embed_passages(["tea"])
            outcomes.append("vector")
        except EmbeddingError:
            outcomes.append("error")

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        gate.set()
    assert sorted(outcomes) == ["error", "vector", "vector"]
    assert inner.asked == ["tea", "tea"]


async def test_a_cancelled_computation_does_not_leave_the_others_waiting() -> None:
    gate = anyio.Event()
    inner = CountingEmbedder(gate=gate)
    cache = CachingEmbedder(inner)
    answers: list[Vectors] = []

    async def ask() -> None:
        answers.append(await cache.embed_passages(["tea"]))

    async with anyio.create_task_group() as tasks:
        with anyio.CancelScope() as first:
            async with anyio.create_task_group() as leaders:
                leaders.start_soon(ask)
                await anyio.wait_all_tasks_blocked()
                tasks.start_soon(ask)
                await anyio.wait_all_tasks_blocked()
                first.cancel()
        gate.set()
    assert len(answers) == 1


async def test_the_least_recently_used_vector_leaves_first() -> None:
    inner = CountingEmbedder()
    room_for_two = 2 * (inner.dim * 4 + ENTRY_OVERHEAD)
    cache = CachingEmbedder(inner, max_bytes=room_for_two)
    for text in ("tea", "coffee", "tea", "water"):
        await cache.embed_passages([text])
    inner.asked.clear()
    await cache.embed_passages(["tea", "water"])
    assert inner.asked == []
    await cache.embed_passages(["coffee"])
    assert inner.asked == ["coffee"]


async def test_a_call_larger_than_the_whole_cache_is_answered() -> None:
    cache = CachingEmbedder(CountingEmbedder(), max_bytes=100)
    texts = [f"text {number}" for number in range(50)]
    assert (await cache.embed_passages(texts)).shape == (50, 16)


async def test_a_changed_answer_does_not_change_the_cache() -> None:
    cache = CachingEmbedder(CountingEmbedder())
    first = await cache.embed_passages(["tea"])
    first[:] = 0
    assert (await cache.embed_passages(["tea"])).any()


async def test_the_file_keeps_vectors_between_runs(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    first = CachingEmbedder(CountingEmbedder(), path=path)
    vectors = await first.embed_passages(["tea", "咖啡", "a\ud800"])
    await first.aclose()
    inner = CountingEmbedder()
    second = CachingEmbedder(inner, path=path)
    np.testing.assert_array_equal(await second.embed_passages(["tea", "咖啡", "a\ud800"]), vectors)
    assert inner.asked == []
    await second.aclose()


async def test_the_file_of_one_model_gives_nothing_to_another(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    first = CachingEmbedder(CountingEmbedder(), path=path)
    await first.embed_passages(["tea"])
    await first.aclose()
    inner = CountingEmbedder(model_id="another")
    second = CachingEmbedder(inner, path=path)
    await second.embed_passages(["tea"])
    assert inner.asked == ["tea"]
    await second.aclose()


async def test_the_file_holds_no_text(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    cache = CachingEmbedder(CountingEmbedder(), path=path)
    await cache.embed_passages(["a secret about tea"])
    await cache.aclose()
    assert b"secret" not in path.read_bytes()
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM vectors").fetchone() == (1,)
    connection.close()


async def test_two_caches_share_one_file(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    caches = [CachingEmbedder(CountingEmbedder(), path=path) for _ in range(2)]
    async with anyio.create_task_group() as tasks:
        for number in range(40):
            tasks.start_soon(caches[number % 2].embed_passages, [f"text {number // 3}"])
    for cache in caches:
        await cache.aclose()


async def test_a_file_that_is_no_cache_is_named_as_the_trouble(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are notes, and no database at all " * 100)
    with pytest.raises(EmbeddingError, match="another path"):
        CachingEmbedder(CountingEmbedder(), path=path)


async def test_a_failure_of_the_model_reaches_the_caller() -> None:
    inner = CountingEmbedder()
    inner.failures = 1
    cache = CachingEmbedder(inner)
    with pytest.raises(EmbeddingError, match="away"):
        await cache.embed_passages(["tea"])
    assert (await cache.embed_passages(["tea"])).any()
