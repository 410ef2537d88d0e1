"""The bundled salience model: a support vector machine on the embedder's vector, and weights for pieces of words.

The vector says what a message is about, the pieces how it says it. `training/` in the repository holds the data, the
recipe and the figures.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.adapters.readers.reader_weights import read_tensors
from ebbing.adapters.readers.support_vectors import Floats, SupportVectors
from ebbing.ports.models.salience import KINDS, Salience

SALIENCE_FILE_NAME: Final = "salience.npz"
PLACES: Final = 1 << 16
"""Weights of pieces; a piece finds its own by a hash."""
LONGEST_PIECE: Final = 4
"""Characters."""
MAX_CHARACTERS: Final = 400
"""Of a message, whose beginning says enough of how it speaks."""
VECTOR_SCALE: Final = 8.0
"""Of the vector beside the three numbers of `shape_of`."""
BY_ITSELF: Final = 1.4
"""What stands beside them for a message that comes by itself, and 0 for one of a talk …"""
_COMPANY: Final = 8
"""… in so many columns: one large number would make the steps of the others coarse."""


def places_of(text: str) -> NDArray[np.int64]:
    """Return the places of the pieces of a text, each once, in order.

    A piece is a row of one to four characters of a word with a blank on either side; a run of Chinese is one word.
    """
    pieces: set[str] = set()
    for word in text[:MAX_CHARACTERS].lower().split():
        padded = f" {word} "
        for length in range(1, LONGEST_PIECE + 1):
            pieces.update(padded[start : start + length] for start in range(len(padded) - length + 1))
    hashes = {zlib.crc32(piece.encode("utf-8", "replace")) % PLACES for piece in pieces}
    return np.array(sorted(hashes), dtype=np.int64)


def dense_inputs(texts: Sequence[str], vectors: Sequence[Floats], *, in_talk: Sequence[bool]) -> Floats:
    """Return what the support vector machine sees: vector, form and company of each, shape (messages, dim + 11)."""
    company = np.where(in_talk, 0.0, BY_ITSELF)[:, None]
    parts = [
        VECTOR_SCALE * np.asarray(vectors),
        np.array([*map(shape_of, texts)]),
        np.repeat(company, _COMPANY, axis=1),
    ]
    return np.concatenate(parts, axis=1, dtype=np.float32)


def shape_of(text: str) -> tuple[float, float, float]:
    """Return what the form of a message shows: its length, and whether it asks or exclaims at its end."""
    end = text.rstrip()[-1:]
    return 0.003 * min(len(text), MAX_CHARACTERS), float(end in {"?", "？"}), float(end in {"!", "！"})


class SalienceHeads:
    """Judges messages by the bundled weights: a millisecond beside the vector. Safe to use from many threads."""

    def __init__(self, model_id: str) -> None:
        """Load the weights, for the vectors of the embedder that `model_id` names.

        Raises:
            EmbeddingError: the package data is missing.
        """
        self.model_id = model_id
        tensors = read_tensors(SALIENCE_FILE_NAME)
        self._meaning = SupportVectors(tensors)
        for name in ("support", "support_scales", "support_weights", "gamma", "intercept"):
            del tensors[name]
        self.version = str(tensors.pop("version"))
        weights = {name: array.astype(np.float32) for name, array in tensors.items()}
        self._rarity, self._pieces = weights["rarity"], weights["pieces"]
        self._kinds, self._kinds_bias = weights["kinds"], weights["kinds_bias"]
        self._blend, self._blend_of_answers = weights["blend"], weights["blend_of_answers"]

    def judge(self, texts: Sequence[str], vectors: Sequence[Floats], *, in_talk: bool) -> list[Salience]:
        """Return the judgement of each message; see `SalienceModel`."""
        return self._judge(texts, vectors, in_talk=in_talk, blend=self._blend)

    def judge_answers(self, texts: Sequence[str], vectors: Sequence[Floats]) -> list[Salience]:
        """Return the judgement of each answer with its question; see `SalienceModel`."""
        return self._judge(texts, vectors, in_talk=True, blend=self._blend_of_answers)

    def _judge(
        self, texts: Sequence[str], vectors: Sequence[Floats], *, in_talk: bool, blend: Floats
    ) -> list[Salience]:
        if not texts:
            return []
        dense = dense_inputs(texts, vectors, in_talk=[in_talk] * len(texts))
        wording = np.array([self._wording(text) for text in texts], dtype=np.float32)
        by_meaning, by_wording, base = blend
        logits = base + by_meaning * self._meaning.margins(dense) + by_wording * wording
        probabilities = 1.0 / (1.0 + np.exp(-logits))
        kinds = np.argmax(dense @ self._kinds + self._kinds_bias, axis=1)
        return [Salience(float(share), KINDS[kind]) for share, kind in zip(probabilities, kinds, strict=True)]

    def _wording(self, text: str) -> float:
        """Return the sum of the weights of a text's pieces, each by its rarity, over the length of these rarities."""
        places = places_of(text)
        rarity = self._rarity[places]
        length = float(np.sqrt((rarity**2).sum()))
        return float((rarity * self._pieces[places]).sum()) / length if length else 0.0
