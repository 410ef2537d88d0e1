"""A learned map that brings the vector of a question nearer to the vectors of what answers it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray

FILE_NAME = "question_map.npz"


@dataclass(frozen=True, slots=True)
class QuestionMap:
    """A linear step that is added to the vectors of questions.

    An embedder places a question beside texts that sound like it. Those that answer it sound otherwise: "who can let me
    in?" is answered by "Terry at number 9 has the spare key". The step was learned from questions and what answers them
    (`training/question_map.py`). The vectors of what is stored stay as they are.
    """

    weight: NDArray[np.float32]
    """Shape (dim, dim)."""
    bias: NDArray[np.float32]
    """Shape (dim,)."""

    @classmethod
    def load(cls) -> QuestionMap:
        """Read the map that belongs to the bundled model."""
        with as_file(files("ebbing.adapters") / "data" / FILE_NAME) as path, np.load(path, allow_pickle=False) as data:
            return cls(data["weight"].astype(np.float32), data["bias"].astype(np.float32))

    def apply(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return unit vectors, shape (questions, dim), for unit vectors of the same shape."""
        moved = vectors + vectors @ self.weight + self.bias
        lengths = np.linalg.norm(moved, axis=-1, keepdims=True)
        unit: NDArray[np.float32] = moved / np.maximum(lengths, np.finfo(np.float32).tiny)
        return unit
