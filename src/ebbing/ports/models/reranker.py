"""What reads a question and a few candidates closely, to put them in a better order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Reranker(Protocol):
    """Judges how well each candidate answers a question.

    Scores are finite, the higher the better. They can be compared within one call only: neither their range nor
    their zero means anything, so they are standardised before use. The score of a candidate may depend on the others
    of the call. Any `str` is accepted; the adapter sanitises and cuts.

    Raises:
        RerankError: the model or its endpoint failed; there are no scores.
    """

    @property
    def name(self) -> str:
        """Names the model, for `diagnose` and `explain`."""
        ...

    async def rerank(self, query: str, candidates: Sequence[str]) -> list[float]:
        """A score for each candidate, in their order. May be cancelled at any time: it runs under a deadline."""
        ...

    async def aclose(self) -> None: ...
