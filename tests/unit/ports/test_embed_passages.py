"""Whatever an embedder does on the way in, what came before it is kept, and nobody waits for ever."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from ebbing.domain.errors import EmbeddingError
from ebbing.ports.models.embed_passages import PORTION_CHARACTERS, PORTION_TEXTS, embed_passages
from ebbing.ports.models.embedder import Vectors
from ebbing.testing.models.embedder import FakeEmbedder

pytestmark = pytest.mark.anyio


class Scripted(FakeEmbedder):
    """Does with the n-th portion what it is told to, and embeds the others."""

    def __init__(self, **does: Callable[[Sequence[str]], Any]) -> None:
        super().__init__(16)
        self.does = {int(name.removeprefix("at")): what for name, what in does.items()}
        self.sizes: list[int] = []

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.sizes.append(len(texts))
        if what := self.does.get(len(self.sizes)):
            answer = what(texts)
            return await answer if asyncio.iscoroutine(answer) else answer
        return self.embed(texts)


def raises(error: BaseException) -> Callable[[Sequence[str]], Any]:
    def fail(_: Sequence[str]) -> Any:
        raise error

    return fail


async def test_texts_go_in_portions_of_bounded_size() -> None:
    embedder = Scripted()
    texts = [*("x" * number for number in range(100)), "y" * 2 * PORTION_CHARACTERS, "z" * PORTION_CHARACTERS, "end"]
    done = await embed_passages(embedder, texts, seconds=5)
    assert embedder.sizes == [PORTION_TEXTS, 100 - PORTION_TEXTS, 1, 1, 1]
    assert np.array_equal([vector for vector in done.vectors if vector is not None], embedder.embed(texts))
    assert (await embed_passages(embedder, [], seconds=5)).vectors == ()


@pytest.mark.parametrize(
    ("does", "why"),
    [
        (raises(EmbeddingError("endpoint down")), "endpoint down"),
        (raises(ValueError("the secret text")), "raised ValueError"),
        (raises(KeyError("the secret text")), "raised KeyError"),
        (raises(asyncio.CancelledError()), "raised CancelledError"),
        (lambda texts: np.zeros((len(texts), 3), np.float32), "no vector for each"),
        (lambda texts: np.zeros((1, 16), np.float32), "no vector for each"),
        (lambda texts: None, "no vector for each"),
        (lambda texts: asyncio.sleep(60), "not done within"),
    ],
)
async def test_what_fails_costs_only_what_comes_after_it(does: Callable[[Sequence[str]], Any], why: str) -> None:
    texts = [f"text {number}" for number in range(PORTION_TEXTS + 5)]
    began = time.monotonic()
    done = await embed_passages(Scripted(at2=does), texts, seconds=0.2)
    assert time.monotonic() - began < 5
    assert [vector is None for vector in done.vectors] == [False] * PORTION_TEXTS + [True] * 5
    assert why in str(done.failure)
    assert "secret" not in str(done.failure)
    assert done.failure is not None
    assert done.failure.__cause__ is None


async def test_an_embedder_that_cannot_be_cancelled_is_not_waited_for() -> None:
    async def stubborn(texts: Sequence[str]) -> Vectors:
        for _ in range(6):
            try:
                await asyncio.sleep(0.3)
            except asyncio.CancelledError:
                continue
        raise RuntimeError("too late to tell anybody")

    began = time.monotonic()
    done = await embed_passages(Scripted(at1=stubborn), ["text"], seconds=0.1)
    assert time.monotonic() - began < 1
    assert done.failure is not None
    await asyncio.sleep(2)


async def test_a_caller_who_is_cancelled_takes_the_embedder_along() -> None:
    ended = asyncio.Event()

    async def slow(texts: Sequence[str]) -> Vectors:
        try:
            await asyncio.sleep(30)
        finally:
            ended.set()
        raise AssertionError

    task = asyncio.create_task(embed_passages(Scripted(at1=slow), ["text"], seconds=60))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(ended.wait(), 1)
