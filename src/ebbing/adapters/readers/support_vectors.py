"""A support vector machine with a Gaussian kernel, from weights of the package data."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.adapters.readers.reader_weights import Tensors, matrix_of

Floats = NDArray[np.float32]


class SupportVectors:
    """What messages are compared with, and what each comparison counts for."""

    def __init__(self, tensors: Tensors) -> None:
        """Take `support` with its scales, `support_weights`, `gamma` and `intercept`."""
        self._vectors: Final = matrix_of(tensors, "support")
        self._norms: Final = (self._vectors**2).sum(axis=1)
        self._weights: Final = tensors["support_weights"].astype(np.float32)
        self._gamma: Final = np.float32(tensors["gamma"])
        self._intercept: Final = np.float32(tensors["intercept"].item())

    def margins(self, inputs: Floats) -> Floats:
        """Return how far each input lies on the side of those that are meant, shape (inputs,)."""
        squares = (inputs**2).sum(axis=1)[:, None] + self._norms - 2.0 * inputs @ self._vectors.T
        margins: Floats = np.exp(-self._gamma * squares) @ self._weights + self._intercept
        return margins
