"""What says whether a later message ends what an earlier one told: a small trained model beside the reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class EarlierAndLater:
    """Two messages, each with its speaker before it ("Dana: …") where that is known."""

    earlier: str
    later: str
    before: str
    """What was said right before the later one; may be empty."""
    earlier_vector: NDArray[np.float32]
    """Of the embedder that `ChangeModel.model_id` names, as it is stored: shape (dim,), of unit length."""
    later_vector: NDArray[np.float32]
    in_company: bool = True
    """Whether they are part of a running talk, or of one among several people. There few messages end anything."""


class ChangeModel(Protocol):
    """Judges pairs of messages in Chinese and English. Each pair is judged by itself; any `str` is accepted.

    Raises:
        EmbeddingError: the model failed.
    """

    @property
    def version(self) -> str:
        """Names the trained weights."""
        ...

    @property
    def model_id(self) -> str:
        """Names the embedder whose vectors it judges."""
        ...

    async def changes(self, pairs: Sequence[EarlierAndLater]) -> list[float]:
        """Return for each pair the probability in [0, 1] that the later one shows the earlier one to hold no more."""
        ...

    async def ends(self, texts: Sequence[tuple[str, str]]) -> list[float]:
        """Return the same for each earlier and later text, by their words alone.

        Say nothing of how often messages end anything: 0.5 where the words leave it open.
        """
        ...
