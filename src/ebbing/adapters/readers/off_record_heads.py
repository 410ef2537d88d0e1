"""The bundled model of requests off the record: a support vector machine on the embedder's vector, beside the words.

Words alone know what they have seen ("don't save this"); the vector also knows what means the same ("let that one go
with the tide"). `training/` in the repository holds the data, the recipe and the figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ebbing.adapters.readers.reader_weights import read_tensors
from ebbing.adapters.readers.support_vectors import Floats, SupportVectors

OFF_RECORD_FILE_NAME: Final = "off_record.npz"
_SUREST: Final = 1e-6
"""Nearest to 0 and 1 that words count."""


def odds_of(by_words: Sequence[float]) -> Floats:
    """Return the logarithm of the odds of some probabilities, shape (messages,)."""
    shares = np.clip(np.asarray(by_words, dtype=np.float64), _SUREST, 1.0 - _SUREST)
    odds: Floats = np.log(shares / (1.0 - shares)).astype(np.float32)
    return odds


class OffRecordHeads:
    """Judges messages by the bundled weights: well under a millisecond each. Safe to use from many threads."""

    def __init__(self, model_id: str) -> None:
        """Load the weights, for the vectors of the embedder that `model_id` names.

        Raises:
            EmbeddingError: the package data is missing.
        """
        self.model_id = model_id
        tensors = read_tensors(OFF_RECORD_FILE_NAME)
        self._meaning = SupportVectors(tensors)
        self._blend = tensors["blend"].astype(np.float32)

    def judge(self, by_words: Sequence[float], vectors: Sequence[Floats]) -> list[float]:
        """Return the probability of each message; see `OffRecordModel`."""
        if not by_words:
            return []
        of_words, of_meaning, base = self._blend
        meanings = self._meaning.margins(np.asarray(vectors, np.float32))
        logits = base + of_words * odds_of(by_words) + of_meaning * meanings
        return [float(share) for share in 1.0 / (1.0 + np.exp(-logits))]
