"""A reader without a model, for tests: it answers what a test tells it to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ebbing.domain.errors import EmbeddingError


class FakeReader:
    """Judges by the function that it was given.

    Args:
        answer: the probability that a memory answers a question.
        is_failing: whether it raises `EmbeddingError` instead.
    """

    version = "fake"

    def __init__(
        self, *, answer: Callable[[str, str], float] = lambda _question, _memory: 0.5, is_failing: bool = False
    ) -> None:
        self._answer, self._is_failing = answer, is_failing
        self.before: list[str] = []
        """What was said before each question, in order."""

    async def answers(self, question: str, memories: Sequence[str], *, before: str = "") -> list[float]:
        """Return a probability for each memory, whatever was said before."""
        if self._is_failing:
            raise EmbeddingError("the fake reader was told to fail")
        self.before.append(before)
        return [self._answer(question, memory) for memory in memories]
