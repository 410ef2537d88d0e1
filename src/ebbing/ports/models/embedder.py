"""What turns text into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""Shape (texts, dim), rows of length 1; a row of zeros means "this text has no vector"."""


_LEVELS: Final = (0.0, 0.5, 0.85, 1.0)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Maps a model's cosine to a similarity in [0, 1] that means the same for every model.

    0 is "unrelated", 1 is "the same statement". Between the anchors the map is linear; outside it is clipped.
    """

    unrelated: float
    """Cosine at or below which two texts have nothing to do with each other (similarity 0)."""
    related: float
    """Cosine of two texts about the same thing that do not say the same (similarity 0.5)."""
    paraphrase: float
    """Cosine at which 1 % of different statements would be taken for the same one (similarity 0.85)."""
    same: float
    """Cosine at or above which two texts say the same (similarity 1)."""

    def similarity(self, cosine: NDArray[np.float32]) -> NDArray[np.float32]:
        """Calibrated similarity in [0, 1], same shape as `cosine`."""
        anchors = (self.unrelated, self.related, self.paraphrase, self.same)
        similarity: NDArray[np.float32] = np.interp(cosine, anchors, _LEVELS).astype(np.float32)
        return similarity

    def cosine(self, similarity: float) -> float:
        """The cosine at which a similarity in [0, 1] is reached: to compare many cosines without mapping each."""
        anchors = (self.unrelated, self.related, self.paraphrase, self.same)
        return float(np.interp(similarity, _LEVELS, anchors))


class Embedder(Protocol):
    """Texts in, unit vectors out.

    The vector of a text never depends on the other texts of the call, nor on earlier calls. Any `str` is accepted
    (empty, NUL, lone surrogates, a megabyte): the adapter sanitises, cuts and chunks. Blank text gives a row of zeros.

    Raises:
        EmbeddingError: the model or its endpoint failed; nothing was embedded.
    """

    @property
    def model_id(self) -> str:
        """Names model, quantisation and post-processing: vectors of two ids are never compared."""
        ...

    @property
    def dim(self) -> int: ...

    @property
    def calibration(self) -> Calibration: ...

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Vectors for questions, shape (len(texts), dim)."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors for what is stored, shape (len(texts), dim)."""
        ...

    async def aclose(self) -> None: ...


@runtime_checkable
class RemembersVectors(Protocol):
    """An embedder that keeps vectors of what it was asked."""

    def forgetful(self) -> Embedder:
        """The same vectors from an embedder that keeps none of them."""
        ...
