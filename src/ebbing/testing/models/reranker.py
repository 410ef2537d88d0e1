"""A reranker without a model, for tests."""

from __future__ import annotations

from collections.abc import Sequence

import anyio

from ebbing.domain.errors import RerankError
from ebbing.language.text.analyzer import query_terms


class FakeReranker:
    """Scores a candidate by the share of the question's words that it holds; meaning it does not know.

    Args:
        seconds: how long it takes.
        failing: whether it raises `RerankError` instead.
    """

    name = "fake"

    def __init__(self, *, seconds: float = 0.0, failing: bool = False) -> None:
        self.calls: list[tuple[str, tuple[str, ...]]] = []
        """What it was asked, the latest last."""
        self._seconds, self._failing = seconds, failing

    async def rerank(self, query: str, candidates: Sequence[str]) -> list[float]:
        """Shares in [0, 1]."""
        self.calls.append((query, tuple(candidates)))
        await anyio.sleep(self._seconds)
        if self._failing:
            raise RerankError("the fake reranker was told to fail")
        terms = set(query_terms(query))
        return [len(terms.intersection(query_terms(text))) / max(len(terms), 1) for text in candidates]

    async def aclose(self) -> None:
        """Nothing to close."""
