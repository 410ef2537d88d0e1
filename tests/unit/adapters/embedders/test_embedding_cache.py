"""What the cache of vectors promises."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import anyio.lowlevel
import numpy as np
import pytest

from ebbing.adapters.embedders.embedding_cache import ENTRY_OVERHEAD, CachingEmbedder
from ebbing.domain.errors import EmbeddingError
from ebbing.ports.models.embedder import Vectors
from ebbing.testing.models.embedder import FakeEmbedder

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


async def test_what_is_forgotten_is_embedded_anew() -> None:
    inner = CountingEmbedder()
    cache = CachingEmbedder(inner)
    await cache.embed_passages(["tea"])
    await cache.forget()
    await cache.embed_passages(["tea"])
    assert inner.asked == ["tea", "tea"]


async def test_a_failure_of_the_model_reaches_the_caller() -> None:
    inner = CountingEmbedder()
    inner.failures = 1
    cache = CachingEmbedder(inner)
    with pytest.raises(EmbeddingError, match="away"):
        await cache.embed_passages(["tea"])
    assert (await cache.embed_passages(["tea"])).any()
