"""A salience model that finds what it was told to find, for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ebbing.ports.models.salience import Salience


class FakeSalience:
    """Finds texts worth remembering that hold one of its words, each with the kind of the word.

    Args:
        kinds: the kind by a word that makes a text worth remembering, such as `{"allergic": "health"}`.
        model_id: of the embedder whose vectors it judges.
        probability: of a text that holds one of the words.
        less_likely: another probability, by the word.
    """

    version = "fake"

    def __init__(
        self,
        kinds: Mapping[str, str],
        *,
        model_id: str = "fake-64",
        probability: float = 0.99,
        less_likely: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        self.model_id = model_id
        self._kinds, self._probability, self._less_likely = kinds, probability, less_likely
        self.judged: list[str] = []
        """Every text that it was asked about, in order."""
        self.were_in_talk: list[bool] = []
        """Whether the texts of each call were part of a talk."""

    def judge(self, texts: Sequence[str], vectors: Sequence[NDArray[np.float32]], *, in_talk: bool) -> list[Salience]:
        """Return its probability for what holds a word, and 0.01 for anything else."""
        self.judged += texts
        self.were_in_talk.append(in_talk)
        return [self._judged(text) for text, _ in zip(texts, vectors, strict=True)]

    def judge_answers(self, texts: Sequence[str], vectors: Sequence[NDArray[np.float32]]) -> list[Salience]:
        """Return the same for answers with their questions."""
        return self.judge(texts, vectors, in_talk=True)

    def _judged(self, text: str) -> Salience:
        for word, kind in self._kinds.items():
            if word in text:
                return Salience(self._less_likely.get(word, self._probability), kind)
        return Salience(0.01, "fact")
