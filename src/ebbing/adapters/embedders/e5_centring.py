"""Language centring: takes away what e5 says about the language, and leaves what it says about the meaning.

Every e5 vector carries a large common part, and that part differs between languages and between questions and
passages. In a store that mixes Chinese and English, a Chinese question therefore finds Chinese memories first, whatever
they say. Subtracting the mean vector of the text's language and role mends it (compare "all-but-the-top", Mu &
Viswanath 2018, arXiv:1702.01417, of which this is the first step, taken per language).

The means are constants of the model id, made by `scripts/build_e5_means.py`.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Role = Literal["query", "passage"]
ROLES: tuple[Role, ...] = ("query", "passage")
FILE_NAME = "e5_means.npy"
TOKENS_FILE_NAME = "e5_token_means.npy"
"""The same for the vectors of single tokens."""
LETTERS_PER_HAN = 3.0
"""So many Latin letters say about as much as one Han character."""


def chinese_share(text: str) -> float:
    """How much of the text is Chinese rather than English, in [0, 1]; 0.5 when it is neither."""
    han = sum("\u3400" <= character <= "\u9fff" for character in text)
    latin = sum(character.isascii() and character.isalpha() for character in text)
    other = sum(character.isalpha() for character in text) - han - latin
    if 2 * other > han + latin or not han + latin:
        return 0.5
    return han / (han + latin / LETTERS_PER_HAN)


@dataclass(frozen=True, slots=True)
class Centring:
    """Mean vectors, shape (role, language, dim), in the order query, passage and English, Chinese."""

    means: NDArray[np.float32]

    @classmethod
    def load(cls, name: str = FILE_NAME) -> Centring:
        """The means that belong to the model."""
        data = files("ebbing.adapters").joinpath("data", name).read_bytes()
        return cls(np.load(io.BytesIO(data), allow_pickle=False).astype(np.float32))

    def apply(self, vectors: NDArray[np.float32], texts: Sequence[str], *, role: Role) -> NDArray[np.float32]:
        """Centred vectors, renormalised; same shape. The mean is blended by the text's share of Chinese."""
        english, chinese = self.means[ROLES.index(role)]
        share = np.array([chinese_share(text) for text in texts], np.float32)[:, None]
        return unit(vectors - (share * chinese + (1 - share) * english))


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows divided by their length; a row of zeros stays one."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    lengths[lengths == 0] = 1.0
    rows: NDArray[np.float32] = vectors / lengths
    return rows
