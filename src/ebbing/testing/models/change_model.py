"""A change model without weights, for tests: it judges as a test tells it to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ebbing.domain.errors import EmbeddingError
from ebbing.ports.models.change_model import EarlierAndLater


class FakeChangeModel:
    """Judges by the function that it was given.

    Args:
        ends: the probability that a later text leaves an earlier one without ground.
        believes: the probability by which an ending of a rule is believed.
        model_id: of the embedder whose vectors it judges.
        is_failing: whether it raises `EmbeddingError` instead.
    """

    version = "fake"

    def __init__(
        self,
        ends: Callable[[str, str], float],
        *,
        believes: Callable[[str, str], float] = lambda _earlier, _later: 1.0,
        model_id: str = "fake-64",
        is_failing: bool = False,
    ) -> None:
        self.model_id = model_id
        self._ends, self._believes, self._is_failing = ends, believes, is_failing
        self.asked_of_endings: list[tuple[str, str]] = []
        """Every earlier and later text of an ending that it was asked about, in order."""
        self.judged: list[EarlierAndLater] = []
        """Every pair that it was asked about, in order."""

    async def changes(self, pairs: Sequence[EarlierAndLater]) -> list[float]:
        """Return a probability for each pair."""
        if self._is_failing:
            raise EmbeddingError("the fake change model was told to fail")
        self.judged += pairs
        return [self._ends(pair.earlier, pair.later) for pair in pairs]

    async def ends(self, texts: Sequence[tuple[str, str]]) -> list[float]:
        """Return a probability for each pair of texts: every ending is believed, or as a test says."""
        if self._is_failing:
            raise EmbeddingError("the fake change model was told to fail")
        self.asked_of_endings += texts
        return [self._believes(earlier, later) for earlier, later in texts]
