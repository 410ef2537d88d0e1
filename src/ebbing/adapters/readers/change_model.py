"""The bundled change model: a regression on the vectors of two messages, and twelve layers that compare both.

Its weights are steps of low rank that are added to those of the embedder (LoRA, Hu et al. 2021, arXiv:2106.09685).
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
SKELETON: Final = "change_skeleton.onnx"
LEAST_IN_COMPANY: Final = -3.5
"""Log-odds of the regression below which two messages of a talk are not read: nine of ten pairs, and a fifth of what
is over."""
LEAST_BY_ITSELF: Final = -4.5
"""The same where messages come by themselves: they more often end something, and talk of more different matters."""

Floats = NDArray[np.float32]


class BundledChangeModel:
    """Judges pairs by the bundled weights: microseconds by their vectors, and 10 ms for each that is read as well.

    Safe to use from many threads and tasks.
    """

    def __init__(self, embedder: E5Embedder, *, threads: int = 1) -> None:
        """Load the regression; the layers follow when two messages are read for the first time: half a second, 60 MiB.

        Raises:
            EmbeddingError: the package data is missing.
        """
        tensors = read_tensors(CHANGE_FILE_NAME)
        self.version, self.model_id = str(tensors["version"]), embedder.model_id
        self._prior: Floats = tensors["prior"].astype(np.float32)
        self._scales = tensors["scales"].astype(np.float64)
        self._tensors, self._embedder, self._threads = tensors, embedder, threads
        self._loading = threading.Lock()
        self._loaded_layers: PairLayers | None = None

    async def changes(self, pairs: Sequence[EarlierAndLater]) -> list[float]:
        """Return the probability that each later message ends what the earlier one told; see `ChangeModel`."""
        odds = await in_model_thread(partial(self.odds, pairs), line="passage")
        shares: list[float] = (1.0 / (1.0 + np.exp(-odds))).tolist()
        return shares

    async def ends(self, texts: Sequence[tuple[str, str]]) -> list[float]:
        """Return the probability by the words of each earlier and later text; see `ChangeModel`."""
        pairs = [("", later, earlier) for earlier, later in texts]
        odds = await in_model_thread(partial(self._read, pairs), line="passage")
        shares: list[float] = (1.0 / (1.0 + np.exp(-odds))).tolist()
        return shares

    def odds(self, pairs: Sequence[EarlierAndLater]) -> NDArray[np.float64]:
        """Return the log-odds of each pair, shape (len(pairs),), blocking."""
        if not pairs:
            return np.zeros(0)
        features = np.stack([pair_features(pair.earlier_vector, pair.later_vector) for pair in pairs])
        odds: NDArray[np.float64] = (features @ self._prior[:-1] + self._prior[-1]).astype(np.float64)
        in_company = np.array([pair.in_company for pair in pairs])
        read = np.flatnonzero(odds >= np.where(in_company, LEAST_IN_COMPANY, LEAST_BY_ITSELF))
        if not len(read):
            return odds
        chosen = [pairs[int(row)] for row in read]
        by_layers = self._read([(pair.before, pair.later, pair.earlier) for pair in chosen])
        of_regression, of_layers, intercept = self._scales[in_company[read].astype(int)].T
        odds[read] = of_regression * odds[read] + of_layers * by_layers + intercept
        return odds

    def _read(self, texts: Sequence[tuple[str, str, str]]) -> NDArray[np.float64]:
        """Return the log-odds of the layers, shape (len(texts),), for what was said before, the later, the earlier."""
        if not texts:
            return np.zeros(0)
        logits = self._layers().read(texts).astype(np.float64)
        difference: NDArray[np.float64] = logits[:, 1] - logits[:, 0]
        return difference

    def _layers(self) -> PairLayers:
        with self._loading:
            if self._loaded_layers is None:
                weights = change_weights(self._embedder.layer_weights(), self._tensors)
                self._loaded_layers = PairLayers(self._embedder, weights, skeleton=SKELETON, threads=self._threads)
            return self._loaded_layers


def pair_features(earlier: Floats, later: Floats) -> Floats:
    """Return what the regression sees of two unit vectors: both, their distance in each direction, and their cosine.

    Shape (3 · dim + 2,).
    """
    cosine = np.float32(earlier @ later)
    near = np.array([8.0 * cosine, 8.0 * cosine**2], np.float32)
    return np.concatenate((3.0 * earlier, 3.0 * later, 6.0 * np.abs(earlier - later), near))


def change_weights(embedder: Tensors, change: Tensors) -> Tensors:
    """Return the eight-bit weights of the layers.

    Args:
        embedder: its four-bit weights.
        change: the tensors of `change.npz`.
    """
    own = {name: change[name] for name in ("segments", "answer_weight", "answer_bias")}

    def step(name: str) -> Floats | None:
        matrix = name.removesuffix("_weight")
        if f"{matrix}_up" not in change:
            return None
        return matrix_of(change, f"{matrix}_up").T @ matrix_of(change, f"{matrix}_down")

    return eight_bit(embedder | own, added=step)
