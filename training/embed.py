"""Nearness of texts by the bundled embedder, to choose hard examples."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from ebbing.adapters.embedders.e5 import Centring, E5Embedder
from ebbing.adapters.embedders.e5_weights import locate, read_weights

_known: dict[tuple[str, str], np.ndarray] = {}


@cache
def _embedder() -> E5Embedder:
    return E5Embedder(read_weights(locate()), threads=2, centring=Centring.load(), question_map=None)


def nearness(asked: Sequence[str], texts: Sequence[str]) -> np.ndarray:
    """Return the cosine of each question with each text, shape (questions, texts).

    Questions are not mapped: the map has learned from the authors that judge, too.
    """
    return questions(asked) @ passages(texts).T


def questions(texts: Sequence[str]) -> np.ndarray:
    """Return the vectors of questions before they are mapped, shape (texts, 384)."""
    return _vectors(texts, "query")


def passages(texts: Sequence[str]) -> np.ndarray:
    """Return the vectors of texts as they are stored, shape (texts, 384)."""
    return _vectors(texts, "passage")


def _vectors(texts: Sequence[str], role: str) -> np.ndarray:
    new = [text for text in dict.fromkeys(texts) if (role, text) not in _known]
    if new:
        for text, vector in zip(new, _embedder().embed(new, role), strict=True):
            _known[role, text] = vector
    return np.stack([_known[role, text] for text in texts])
