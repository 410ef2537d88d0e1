"""Products of vectors in the thread of whoever asks.

BLAS hands a larger product to threads of its own, and waits for the last of them: where other programs want the same
processors, that makes of half a millisecond fifteen. So what a search multiplies goes to it piece by piece.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

_PIECE: Final = 1 << 18
"""Multiplications of one piece: OpenBLAS uses no other thread for so many."""


def along(matrix: Matrix, vector: Matrix) -> Matrix:
    """Dot products of each row, shape (rows,), with one vector."""
    step = max(1, _PIECE // max(len(vector), 1))
    if len(matrix) <= step:
        products: Matrix = matrix.dot(vector)
        return products
    products = np.empty(len(matrix), dtype=np.float32)
    for at in range(0, len(matrix), step):
        np.matmul(matrix[at : at + step], vector, out=products[at : at + step])
    return products


def between(rows: Matrix, others: Matrix) -> Matrix:
    """Dot products of each row with each other one, shape (rows, others)."""
    step = max(1, int((_PIECE / max(rows.shape[1], 1)) ** 0.5))
    products = np.empty((len(rows), len(others)), dtype=np.float32)
    for first in range(0, len(rows), step):
        for second in range(0, len(others), step):
            piece = (slice(first, first + step), slice(second, second + step))
            np.matmul(rows[piece[0]], others[piece[1]].T, out=products[piece])
    return products
