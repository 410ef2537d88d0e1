"""Four-bit weights: blocks of 32 numbers with one scale, value = scale · (number - 8), as the carrier has them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BLOCK = 32


def pack(matrix: NDArray[np.float32], scales: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return packed numbers, shape (outputs, blocks, 16), of a matrix with the scales of its blocks."""
    blocks = matrix.reshape(len(matrix), -1, BLOCK)
    numbers = _numbers(blocks, scales.reshape(*blocks.shape[:2], 1)).astype(np.uint8)
    return np.ascontiguousarray(numbers[..., 0::2] | (numbers[..., 1::2] << 4))


def _numbers(blocks: NDArray[np.float32], scales: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.clip(np.round(blocks / scales) + 8.0, 0, 15)


def by_rows(matrix: NDArray[np.float32], *, most: int = 127) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return a matrix as whole numbers of eight bits, and the scale of each row, shape (rows, 1).

    `reader_weights.matrix_of` restores it.

    Args:
        most: the largest number. Smaller ones are less exact, and packed they take less room.
    """
    scales = np.maximum(np.abs(matrix).max(axis=1, keepdims=True), 1e-9) / most
    return np.rint(matrix / scales).astype(np.int8), scales.astype(np.float32)
