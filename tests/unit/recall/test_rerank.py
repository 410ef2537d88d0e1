"""A reranker's opinion is blended into the order, and never costs more than it is worth."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from ebbing.recall.model_scores import RerankOptions, RerankScores, rerank
from ebbing.testing.models.reranker import FakeReranker

pytestmark = pytest.mark.anyio

QUERY = "green tea"
TEXTS = ["coffee", "tea", "green tea", "water"]
SCORES = np.array([4.0, 3.0, 2.0, 1.0])


async def blended(reranker: FakeReranker, **how: float) -> RerankScores:
    return await rerank(reranker, QUERY, candidates=TEXTS, scores=SCORES, options=replace(RerankOptions(), **how))


async def test_the_opinion_is_added_in_standard_deviations() -> None:
    found = await blended(FakeReranker(), weight=2.0)
    opinion = np.array([0.0, 0.5, 1.0, 0.0])
    assert found.opinion is not None
    np.testing.assert_allclose(found.opinion, opinion)
    np.testing.assert_allclose(found.scores, SCORES + 2 * (opinion - opinion.mean()) / opinion.std())
    assert found.failure is None
    assert SCORES.tolist() == [4, 3, 2, 1]


async def test_a_small_weight_does_not_overturn_the_order() -> None:
    found = await blended(FakeReranker(), weight=0.1)
    assert np.argsort(-found.scores).tolist() == [0, 1, 2, 3]


async def test_what_is_below_the_depth_is_not_read() -> None:
    reranker = FakeReranker()
    found = await blended(reranker, depth=2)
    assert reranker.calls == [(QUERY, ("coffee", "tea"))]
    assert found.scores[2:].tolist() == [2, 1]


@pytest.mark.parametrize("how", [{"weight": 0}, {"depth": 1}])
async def test_a_reranker_that_could_change_nothing_is_not_asked(how: dict[str, float]) -> None:
    reranker = FakeReranker()
    found = await blended(reranker, **how)
    assert (found.opinion, found.failure, reranker.calls) == (None, None, [])
    assert found.scores is SCORES


async def test_a_late_reranker_is_not_waited_for_and_is_reported() -> None:
    began = time.perf_counter()
    found = await blended(FakeReranker(seconds=30), timeout_seconds=0.02)
    assert time.perf_counter() - began < 5
    assert found.scores is SCORES
    assert found.failure == "the reranker was not done within 20 ms"


async def test_a_failing_reranker_changes_nothing_and_is_reported() -> None:
    found = await blended(FakeReranker(failing=True))
    assert found.scores is SCORES
    assert found.failure == "the fake reranker was told to fail"


class Confused(FakeReranker):
    """Answers whatever it is given."""

    def __init__(self, said: list[float]) -> None:
        super().__init__()
        self._said = said

    async def rerank(self, query: str, candidates: Sequence[str]) -> list[float]:
        return self._said


@pytest.mark.parametrize("said", [[], [1.0], [1.0] * 5, [1.0, 2.0, float("nan"), 0.0], [1.0, 2.0, float("inf"), 0.0]])
async def test_scores_that_cannot_be_right_are_reported(said: list[float]) -> None:
    found = await blended(Confused(said))
    assert found.scores is SCORES
    assert found.failure == "the reranker gave no finite score for each candidate"


async def test_a_reranker_without_an_opinion_changes_nothing() -> None:
    found = await blended(Confused([0.5] * 4))
    assert found.scores.tolist() == SCORES.tolist()
