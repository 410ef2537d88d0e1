"""What reads a question and a memory together: a small trained model that says how likely the one answers the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Reader(Protocol):
    """Judges pairs of short texts in Chinese and English, also one in each language.

    Each pair is judged by itself: its number does not depend on the others of the call. Any `str` is accepted; the
    adapter sanitises and cuts. Probabilities are calibrated on texts that the model was not trained on.

    Raises:
        EmbeddingError: the model failed.
    """

    @property
    def version(self) -> str:
        """Names the trained weights."""
        ...

    async def answers(self, question: str, memories: Sequence[str], *, before: str = "") -> list[float]:
        """Return, for each memory, the probability in [0, 1] that it answers the question.

        Args:
            question: what is asked.
            memories: texts.
            before: what was said right before the question, which may say what it is about.
        """
        ...
