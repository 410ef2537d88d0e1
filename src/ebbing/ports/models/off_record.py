"""What says how likely a message asks not to be written down: a small trained model beside the embedder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class OffRecordModel(Protocol):
    """Judges messages that may ask so, in Chinese and English, by what they mean. Each is judged by itself."""

    @property
    def model_id(self) -> str:
        """Names the embedder whose vectors it judges."""
        ...

    def judge(self, by_words: Sequence[float], vectors: Sequence[NDArray[np.float32]]) -> list[float]:
        """Return how likely each message asks that it is not written down, in [0, 1].

        Args:
            by_words: how likely its words ask so, in [0, 1].
            vectors: the vector of each as a passage, shape (dim,).
        """
        ...
