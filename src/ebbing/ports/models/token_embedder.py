"""What gives every token of a text a vector of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, runtime_checkable

from ebbing.ports.models.embedder import Vectors


@runtime_checkable
class TokenEmbedder(Protocol):
    """Texts in, one unit vector a token out: what late interaction compares.

    Any `str` is accepted; of a long text the first tokens count. A blank text has no tokens.

    Raises:
        EmbeddingError: the model failed.
    """

    @property
    def model_id(self) -> str:
        """Names the model: vectors of two ids are never compared."""
        ...

    async def token_vectors(self, texts: Sequence[str], role: Literal["query", "passage"]) -> list[Vectors]:
        """For each text an array of shape (tokens, dim), rows of length 1, `dim` even."""
        ...

    def token_pieces(self, text: str, role: Literal["query", "passage"]) -> list[tuple[int, str]]:
        """Id and spelling of each of these tokens; "▁" marks the beginning of a word."""
        ...
