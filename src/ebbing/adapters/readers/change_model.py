"""The bundled change model: a regression on the vectors of two messages, and the reader's layers that compare both.

Its weights are steps of low rank that are added to those of the reader (LoRA, Hu et al. 2021, arXiv:2106.09685).
`training/change.py` in the repository holds the data, the recipe and the figures.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.adapters.embedders.e5 import E5Embedder
from ebbing.adapters.embedders.model_calls import in_model_thread
from ebbing.adapters.readers.cross_encoder import PairLayers
from ebbing.adapters.readers.reader_weights import Tensors, eight_bit, matrix_of, read_tensors
from ebbing.ports.models.change_model import EarlierAndLater

CHANGE_FILE_NAME: Final = "change.npz"
LEAST_PRIOR: Final = -2.5
"""Log-odds of the regression below which two messages are not read: hardly any of them change anything."""
LEAST_IN_TALK: Final = -1.0
"""Log-odds from which what was read with what was said before is read without it, too."""

_AT_ONCE: Final = 256
"""Pairs of one run: a caller that is cancelled waits no longer than for these."""

Floats = NDArray[np.float32]


class BundledChangeModel:
    """Judges pairs by the bundled weights: microseconds by their vectors, and 5 ms for each that is read as well.

    Safe to use from many threads and tasks.
    """

    def __init__(self, embedder: E5Embedder, *, threads: int = 1) -> None:
        """Load the regression; the layers follow when two messages are read for the first time: some 200 ms, 50 MiB.

        Raises:
            EmbeddingError: the package data is missing.
        """
        tensors = read_tensors(CHANGE_FILE_NAME)
        self.version, self.model_id = str(tensors["version"]), embedder.model_id
        self._prior: Floats = tensors["prior"].astype(np.float32)
        self._slope, self._intercept = (float(number) for number in tensors["scale"].astype(np.float32))
        self._tensors, self._embedder, self._threads = tensors, embedder, threads
        self._loading = threading.Lock()
        self._loaded_layers: PairLayers | None = None

    async def changes(self, pairs: Sequence[EarlierAndLater]) -> list[float]:
        """Return the probability that each later message ends what the earlier one told; see `ChangeModel`."""
        shares: list[float] = []
        for first in range(0, len(pairs), _AT_ONCE):
            odds = await in_model_thread(partial(self.odds, pairs[first : first + _AT_ONCE]), line="passage")
            shares += (1.0 / (1.0 + np.exp(-odds))).tolist()
        return shares

    def odds(self, pairs: Sequence[EarlierAndLater]) -> NDArray[np.float64]:
        """Return the log-odds of each pair, shape (len(pairs),), blocking."""
        features = np.stack([pair_features(pair.earlier_vector, pair.later_vector) for pair in pairs])
        odds = (features @ self._prior[:-1] + self._prior[-1]).astype(np.float64)
        read = np.flatnonzero(odds >= LEAST_PRIOR)
        in_talk = self._read([pairs[int(row)] for row in read], is_alone=False)
        again = (odds[read] + in_talk) * self._slope + self._intercept >= LEAST_IN_TALK
        alone = self._read([pairs[int(row)] for row in read[again]], is_alone=True)
        in_talk[again] = (in_talk[again] + alone) / 2.0  # what holds either way is less often a mistake
        odds[read] += in_talk
        scaled: NDArray[np.float64] = odds * self._slope + self._intercept
        return scaled

    def _read(self, pairs: Sequence[EarlierAndLater], *, is_alone: bool) -> NDArray[np.float64]:
        """Return the log-odds that the layers give, shape (len(pairs),), with what was said before or without."""
        if not pairs:
            return np.zeros(0)
        texts = [("" if is_alone else pair.before, pair.later, pair.earlier) for pair in pairs]
        logits = self._layers().read(texts).astype(np.float64)
        difference: NDArray[np.float64] = logits[:, 1] - logits[:, 0]
        return difference

    def _layers(self) -> PairLayers:
        with self._loading:
            if self._loaded_layers is None:
                own = {name: self._tensors[name] for name in ("segments", "answer_weight", "answer_bias")}
                weights = eight_bit(read_tensors() | own, added=_products(self._tensors))
                del weights["version"]
                self._loaded_layers = PairLayers(self._embedder, weights, threads=self._threads)
            return self._loaded_layers


def pair_features(earlier: Floats, later: Floats) -> Floats:
    """Return what the regression sees of two unit vectors: both, their distance in each direction, and their cosine.

    Shape (3 · dim + 2,).
    """
    cosine = np.float32(earlier @ later)
    near = np.array([8.0 * cosine, 8.0 * cosine**2], np.float32)
    return np.concatenate((3.0 * earlier, 3.0 * later, 6.0 * np.abs(earlier - later), near))


def _products(tensors: Tensors) -> Tensors:
    """Return the matrices that are added to the reader's, by the names of those."""
    names = [name.removesuffix("_up") for name in tensors if name.endswith("_up")]
    return {f"{name}_weight": matrix_of(tensors, f"{name}_up") @ matrix_of(tensors, f"{name}_down") for name in names}
