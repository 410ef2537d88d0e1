"""A reader without a model, for tests: it answers what a test tells it to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ebbing.domain.errors import EmbeddingError
from ebbing.ports.reader import Change, KnownPair, MemoryClaim, Verdict

APART = Change(same=0.0, richer=0.0, replaces=0.0, apart=1.0)


class FakeReader:
    """Judges by the functions that it was given.

    Args:
        worth: probability that a claim is worth keeping.
        change: how a new statement stands to a known memory.
        answer: probability that a memory answers a question.
        kind: what every claim is taken for.
        is_failing: whether it raises `EmbeddingError` instead.
    """

    version = "fake"

    def __init__(
        self,
        *,
        worth: Callable[[MemoryClaim], float] = lambda _: 1.0,
        change: Callable[[KnownPair], Change] = lambda _: APART,
        answer: Callable[[str, str], float] = lambda _question, _memory: 0.5,
        kind: str = "fact",
        is_failing: bool = False,
    ) -> None:
        self.claims: list[MemoryClaim] = []
        """What it was asked to judge, the latest last."""
        self.before = ""
        """The turn before the last question."""
        self._worth, self._change, self._answer = worth, change, answer
        self._kind, self._is_failing = kind, is_failing

    async def worth(self, claims: Sequence[MemoryClaim]) -> list[Verdict]:
        """Return a verdict for each claim."""
        self._fail()
        self.claims += claims
        return [Verdict(self._worth(claim), self._kind, "self", "fragment") for claim in claims]

    async def changes(self, pairs: Sequence[KnownPair]) -> list[Change]:
        """Return a change for each pair."""
        self._fail()
        return [self._change(pair) for pair in pairs]

    async def answers(self, question: str, memories: Sequence[str], *, before: str = "") -> list[float]:
        """Return a probability for each memory."""
        self.before = before
        self._fail()
        return [self._answer(question, memory) for memory in memories]

    def _fail(self) -> None:
        if self._is_failing:
            raise EmbeddingError("the fake reader was told to fail")
