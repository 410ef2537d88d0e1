"""Which rows are near each other: each pair once, and only where one of the two is new."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from ebbing.index.near_rows import near_pairs, overlapping_pairs
from ebbing.index.shard import Shard
from ebbing.testing.models.embedder import FakeEmbedder
from tests.unit.upkeep.house import ADA, House

pytestmark = pytest.mark.anyio
TEXTS = (
    "I love green tea",
    "I love green tea!",
    "I love green tea so",
    "trains to Leeds run late",
    "I love 3 green teas",
)


async def shard_of(*texts: str) -> Shard:
    house = House(embedder=FakeEmbedder(256))
    for text in texts:
        await house.said(text)
    return await house.store.shard(ADA)


def near(shard: Shard, fresh: list[bool]) -> set[tuple[int, int]]:
    rows: NDArray[np.int64] = np.arange(shard.size)
    found = near_pairs(shard, rows, fresh=np.array(fresh), cosine=0.6)
    by_words = overlapping_pairs(shard, rows, fresh=np.array(fresh), least=0.9)
    pairs = [(int(one), int(other)) for one, other in zip(*found, strict=True)]
    told = {(min(pair), max(pair)) for pair in pairs}
    assert len(told) == len(pairs)
    assert {(min(pair), max(pair)) for pair in zip(*map(np.ndarray.tolist, by_words), strict=True)} == told
    return told


async def test_every_pair_comes_once_and_other_numbers_make_other_statements() -> None:
    shard = await shard_of(*TEXTS)
    assert near(shard, [True] * 5) == {(0, 1), (0, 2), (1, 2)}


async def test_rows_that_were_compared_before_are_not_compared_again() -> None:
    shard = await shard_of(*TEXTS)
    assert near(shard, [False, False, True, False, False]) == {(0, 2), (1, 2)}
    assert near(shard, [False] * 5) == set()
