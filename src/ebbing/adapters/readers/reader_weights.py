"""The weights of the bundled reader: stored with four bits, multiplied with eight.

The package data hold blocks of 32 four-bit numbers with a scale each. A product of such blocks runs at the speed of
floats on many processors, one of whole numbers with a scale for each column three times as fast.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import as_file, files
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.errors import EmbeddingError

Tensors = dict[str, NDArray[np.generic]]
"""Initialisers of a graph, by name."""

LARGEST_PAIR: Final = 127
"""Sum of two neighbouring weights of one sign, before rounding."""
_SMALLEST_SCALE: Final = np.float32(1e-12)
"""Of a column of zeros."""
_WEIGHT: Final = "_weight"
_SCALES: Final = "_scales"


def read_tensors(file_name: str = "reader.npz") -> Tensors:
    """Return what a file of the package data holds: whole numbers as they are, and 16-bit floats as 32-bit ones.

    Raises:
        EmbeddingError: the package data is missing.
    """
    try:
        with as_file(files("ebbing.adapters").joinpath("data", file_name)) as path, np.load(path) as data:
            tensors = {name: data[name] for name in data.files}
    except (OSError, ValueError) as error:
        raise EmbeddingError(f"cannot read {file_name} of the package: reinstall ebbing") from error
    return {name: array.astype(np.float32) if array.dtype == np.float16 else array for name, array in tensors.items()}


def matrix_of(tensors: Tensors, name: str) -> NDArray[np.float32]:
    """Return a matrix that is stored as whole numbers of eight bits, with a scale for each row beside them."""
    scales = tensors[f"{name}{_SCALES}"].astype(np.float32)
    matrix: NDArray[np.float32] = tensors[name].astype(np.float32) * scales
    return matrix


def eight_bit(tensors: Tensors, *, added: Callable[[str], NDArray[np.float32] | None] | None = None) -> Tensors:
    """Return the tensors with each four-bit matrix as an eight-bit matrix with a scale for each column.

    Args:
        tensors: what the package data hold.
        added: gives the matrix, shape (outputs, inputs), that is added to the one of a name, or None.
    """
    converted = dict(tensors)
    for name in tensors:
        scales = name.removesuffix(_WEIGHT) + _SCALES
        if scales in tensors:
            blocks = tensors[name].astype(np.uint8, copy=False)
            matrix = restored(blocks, tensors[scales].astype(np.float32, copy=False))
            step = added(name) if added is not None else None
            if step is not None:
                matrix += step
            converted[name], converted[scales] = by_columns(matrix)
    return converted


def restored(packed: NDArray[np.uint8], scales: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the matrix that four-bit blocks stand for, shape (outputs, inputs).

    Args:
        packed: two numbers a byte, shape (outputs, blocks, 16).
        scales: of each block, shape (outputs · blocks,).
    """
    numbers = np.empty((*packed.shape[:2], 16, 2), np.float32)
    numbers[..., 0] = packed & 15
    numbers[..., 1] = packed >> 4
    numbers -= 8.0
    numbers *= scales.reshape(*packed.shape[:2], 1, 1)
    return numbers.reshape(len(packed), -1)


def by_columns(matrix: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return a matrix of whole numbers, shape (inputs, outputs), and the scale of each output.

    Processors without VNNI multiply two neighbouring weights by inputs of up to 255 and add both products in 16 bits,
    where a sum above 32,767 is cut. So no two neighbours of one sign sum to more than 128: 128 · 255 = 32,640.

    Args:
        matrix: shape (outputs, inputs), with an even number of inputs.
    """
    pairs = matrix.reshape(len(matrix), -1, 2)
    largest = np.maximum(np.abs(pairs).max(axis=(1, 2)), np.abs(pairs[..., 0] + pairs[..., 1]).max(axis=1))
    by_output = np.maximum(largest / LARGEST_PAIR, _SMALLEST_SCALE).astype(np.float32)
    whole = np.rint(matrix / by_output[:, None]).astype(np.int8)
    return np.ascontiguousarray(whole.T), by_output
