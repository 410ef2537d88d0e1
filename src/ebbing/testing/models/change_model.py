"""A change model without weights, for tests: it judges as a test tells it to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ebbing.domain.errors import EmbeddingError
from ebbing.ports.models.change_model import EarlierAndLater


class FakeChangeModel:
    """Judges by the function that it was given.

    Args:
        ends: the probability that a later text leaves an earlier one without ground.
        model_id: of the embedder whose vectors it judges.
        is_failing: whether it raises `EmbeddingError` instead.
    """

    version = "fake"

    def __init__(
        self, ends: Callable[[str, str], float], *, model_id: str = "fake-64", is_failing: bool = False
    ) -> None:
        self.model_id = model_id
        self._ends, self._is_failing = ends, is_failing
        self.judged: list[EarlierAndLater] = []
        """Every pair that it was asked about, in order."""

    async def changes(self, pairs: Sequence[EarlierAndLater]) -> list[float]:
        """Return a probability for each pair."""
        if self._is_failing:
            raise EmbeddingError("the fake change model was told to fail")
        self.judged += pairs
        return [self._ends(pair.earlier, pair.later) for pair in pairs]

    async def ends(self, texts: Sequence[tuple[str, str]]) -> list[float]:
        """Return 1.0 for each pair of texts, so that every ending of a rule is believed."""
        if self._is_failing:
            raise EmbeddingError("the fake change model was told to fail")
        return [1.0 for _ in texts]
