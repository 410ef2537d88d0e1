"""The contract of `ports.models.reranker.Reranker` as tests. An adapter proves itself with a class of a few lines:

    class TestMyReranker(RerankerSuite):
        @pytest.fixture(scope="class")
        @classmethod
        def reranker(cls):
            return MyReranker(...)

Needs pytest and a fixture `anyio_backend` that returns "asyncio".
"""

from __future__ import annotations

import math

import anyio
import pytest

from ebbing.ports.models.reranker import Reranker

ENGLISH = (
    "Where does Lin work?",
    ["The weather was fine on Sunday", "Lin works at the children's hospital", "A recipe for plum cake"],
)
CHINESE = ("小林在哪里工作？", ["周日天气很好", "小林在儿童医院工作", "梅子蛋糕的做法"])


@pytest.mark.anyio
class RerankerSuite:
    """Everything that a reranker promises."""

    @pytest.fixture(scope="class")
    @classmethod
    def reranker(cls) -> Reranker:
        """The reranker under test, one for all tests of the class."""
        raise NotImplementedError

    @pytest.mark.parametrize("case", [ENGLISH, CHINESE], ids=["en", "zh"])
    async def test_the_candidate_that_answers_is_scored_highest(
        self, reranker: Reranker, *, case: tuple[str, list[str]]
    ) -> None:
        scores = await reranker.rerank(*case)
        assert scores.index(max(scores)) == 1

    async def test_scores_come_in_the_order_of_the_candidates(self, reranker: Reranker) -> None:
        query, candidates = ENGLISH
        scores = await reranker.rerank(query, candidates)
        turned = await reranker.rerank(query, candidates[::-1])
        assert turned[::-1] == pytest.approx(scores, abs=1e-4)

    async def test_equal_candidates_have_equal_scores(self, reranker: Reranker) -> None:
        query, [first, second, _] = ENGLISH
        scores = await reranker.rerank(query, [first, second, first])
        assert scores[0] == pytest.approx(scores[2], abs=1e-4)

    async def test_no_candidates_have_no_scores(self, reranker: Reranker) -> None:
        assert await reranker.rerank("Where does Lin work?", []) == []

    @pytest.mark.parametrize("query", ["", " ", "？！", "\x00\ud800", "a" * 20_000, "the of and"])
    async def test_any_text_is_accepted(self, reranker: Reranker, query: str) -> None:
        candidates = ["", " \n", "\x00", "\ud83d", "𝕳𝖊𝖑𝖑𝖔 ﷺ", "长" * 20_000, "word"]
        scores = await reranker.rerank(query, candidates)
        assert len(scores) == len(candidates)
        assert all(math.isfinite(score) for score in scores)

    async def test_many_may_ask_at_once(self, reranker: Reranker) -> None:
        query, candidates = ENGLISH
        score_lists: list[list[float]] = []

        async def ask() -> None:
            score_lists.append(await reranker.rerank(query, candidates))

        async with anyio.create_task_group() as group:
            for _ in range(4):
                group.start_soon(ask)
        assert all(scores == pytest.approx(score_lists[0], abs=1e-4) for scores in score_lists)

    async def test_giving_up_leaves_it_usable(self, reranker: Reranker) -> None:
        query, candidates = CHINESE
        with anyio.move_on_after(0.0001):
            await reranker.rerank(query, [f"{text}{number}" for number in range(20) for text in candidates])
        assert len(await reranker.rerank(query, candidates)) == 3

    async def test_it_has_a_name(self, reranker: Reranker) -> None:
        assert reranker.name
