"""Reranking by late interaction: every word of the question looks for its best match in every candidate.

The score of a candidate is the mean over the question's content tokens, weighted by how few candidates hold them, of
max(0, largest cosine with one of the candidate's tokens − 0.35): the MaxSim of Khattab and Zaharia (2020,
arXiv:2004.12832) with a floor, over the default embedder's own token vectors instead of a model trained for it.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.errors import EmbeddingError, RerankError
from ebbing.language.text.analyzer import query_terms
from ebbing.ports.models.embedder import Vectors
from ebbing.ports.models.token_embedder import TokenEmbedder

FLOOR: Final = 0.35
"""A smaller cosine is no match: two unrelated tokens often reach it."""
READ_AT_ONCE: Final = 4
"""Texts read in one run of the model; what was read stays when a search does not wait any longer."""
ENTRY_OVERHEAD: Final = 500
"""Bytes that one text takes beside its tokens."""
_HALF: Final = 8.0
_CJK: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_BEGIN: Final = "▁"


@dataclass(frozen=True, slots=True)
class _Tokens:
    """The tokens of one text, 4 bits a number: about 200 bytes a token."""

    ids: NDArray[np.int32]
    packed: NDArray[np.uint8]
    """Shape (tokens, dim / 2): the even numbers in the low half of a byte, the odd ones in the high half."""
    scale: NDArray[np.float32]
    """Shape (tokens,)."""

    @property
    def nbytes(self) -> int:
        return self.ids.nbytes + self.packed.nbytes + self.scale.nbytes + ENTRY_OVERHEAD


@dataclass(frozen=True, slots=True)
class _Question:
    ids: NDArray[np.int32]
    vectors: Vectors
    content: NDArray[np.bool_]
    """Which tokens belong to words that carry a topic."""


class LateReranker:
    """A `Reranker` that needs nothing but the default embedder.

    A text is read once, about 10 ms a sentence, and its tokens are kept in RAM, some 200 bytes each; keys are hashes,
    no text is kept. Fifty texts that were read before take about 2 ms. Scores lie in [0, 1].

    Args:
        embedder: where token vectors come from.
        max_bytes: bound of the tokens in RAM; the least recently used texts leave first.
    """

    def __init__(self, embedder: TokenEmbedder, *, max_bytes: int = 128 * 2**20) -> None:
        self._embedder = embedder
        self._texts = _KnownTexts(max_bytes)

    @property
    def name(self) -> str:
        """Late interaction, and over which model's tokens."""
        return f"late:{self._embedder.model_id}"

    async def rerank(self, query: str, candidates: Sequence[str]) -> list[float]:
        """A score in [0, 1] for each candidate; texts that were not read before are read first."""
        try:
            question = await self._ask(query)
            read = await self.read(candidates)
        except EmbeddingError as error:
            raise RerankError(f"late interaction has no token vectors: {error}") from error
        filled = [place for place, tokens in enumerate(read) if len(tokens.ids)]
        scores = np.zeros(len(candidates))
        if filled and len(question.ids):
            scores[filled] = _scores(question, [read[place] for place in filled])
        return [float(score) for score in scores]

    async def read(self, texts: Sequence[str]) -> list[_Tokens]:
        """The tokens of texts, read where they are not known; may be called ahead of a question.

        Raises:
            EmbeddingError: the model failed.
        """
        keys = [_key(text) for text in texts]
        tokens = self._texts.get(keys)
        waiting = {key: text for key, text in zip(keys, texts, strict=True) if key not in tokens}
        todo = list(waiting)
        for at in range(0, len(todo), READ_AT_ONCE):
            some = todo[at : at + READ_AT_ONCE]
            vectors = await self._embedder.token_vectors([waiting[key] for key in some], "passage")
            fresh = {
                key: _packed(rows, self._embedder.token_pieces(waiting[key], "passage"))
                for key, rows in zip(some, vectors, strict=True)
            }
            self._texts.put(fresh)
            tokens |= fresh
        return [tokens[key] for key in keys]

    async def forget(self) -> None:
        """Lets go of all tokens, by which a text could be spelt again; see `Forgetful`."""
        self._texts.clear()

    async def aclose(self) -> None:
        """Forgets what it read; the embedder belongs to somebody else."""
        self._texts.clear()

    async def _ask(self, query: str) -> _Question:
        [vectors] = await self._embedder.token_vectors([query], "query")
        pieces = self._embedder.token_pieces(query, "query")
        return _Question(_ids(pieces), vectors, _content([piece for _, piece in pieces]))


class _KnownTexts:
    """Tokens by key within a bound of bytes; safe to share between threads."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = self._free = max_bytes
        self._tokens: OrderedDict[bytes, _Tokens] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, keys: Sequence[bytes]) -> dict[bytes, _Tokens]:
        vectors = {}
        with self._lock:
            for key in keys:
                tokens = self._tokens.get(key)
                if tokens is not None:
                    self._tokens.move_to_end(key)
                    vectors[key] = tokens
        return vectors

    def put(self, read: dict[bytes, _Tokens]) -> None:
        with self._lock:
            for key, tokens in read.items():
                if key not in self._tokens:
                    self._tokens[key] = tokens
                    self._free -= tokens.nbytes
            while self._free < 0:
                _, oldest = self._tokens.popitem(last=False)
                self._free += oldest.nbytes

    def clear(self) -> None:
        with self._lock:
            self._tokens.clear()
            self._free = self._max_bytes


def _scores(question: _Question, read: Sequence[_Tokens]) -> NDArray[np.float64]:
    starts = np.cumsum([0, *(len(tokens.ids) for tokens in read[:-1])])
    best = np.maximum.reduceat(_cosines(question.vectors, read), starts, axis=1)
    same = np.concatenate([tokens.ids for tokens in read])[None, :] == question.ids[:, None]
    held_by = np.logical_or.reduceat(same, starts, axis=1).sum(axis=1)
    weights = np.log((len(read) + 1) / (held_by + 0.5)) * question.content
    weights = np.maximum(weights, 0.0)
    if not weights.any():
        weights = np.ones(len(weights))
    scores: NDArray[np.float64] = (weights / weights.sum()) @ np.clip(best - FLOOR, 0.0, 1.0)
    return scores


def _cosines(vectors: Vectors, read: Sequence[_Tokens]) -> NDArray[np.float32]:
    """Shape (question's tokens, all candidates' tokens)."""
    packed = np.concatenate([tokens.packed for tokens in read])
    scale = np.concatenate([tokens.scale for tokens in read])
    low = (packed & 15).astype(np.float32)
    high = (packed >> 4).astype(np.float32)
    products = vectors[:, 0::2] @ low.T + vectors[:, 1::2] @ high.T
    cosines: NDArray[np.float32] = (products - _HALF * vectors.sum(axis=1, keepdims=True)) * scale
    return cosines


def _packed(vectors: Vectors, pieces: Sequence[tuple[int, str]]) -> _Tokens:
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    scale = np.where(largest > 0, largest / (_HALF - 1), 1.0).astype(np.float32)
    levels = (np.rint(vectors / scale[:, None]) + _HALF).astype(np.uint8)
    return _Tokens(_ids(pieces), levels[:, 0::2] | levels[:, 1::2] << 4, scale)


def _ids(pieces: Sequence[tuple[int, str]]) -> NDArray[np.int32]:
    return np.array([number for number, _ in pieces], dtype=np.int32)


def _content(pieces: Sequence[str]) -> NDArray[np.bool_]:
    """Which pieces belong to words with a topic: no punctuation, no stop words, in Latin script or Chinese."""
    begins = np.cumsum([piece.startswith(_BEGIN) for piece in pieces])
    words: dict[int, str] = {}
    for word, piece in zip(begins.tolist(), pieces, strict=True):
        words[word] = words.get(word, "") + piece.lstrip(_BEGIN)
    topical = {word: bool(query_terms(text)) for word, text in words.items()}
    return np.array(
        [topical[word] and _tells(piece.lstrip(_BEGIN)) for word, piece in zip(begins.tolist(), pieces, strict=True)],
        dtype=bool,
    )


def _tells(piece: str) -> bool:
    return bool(query_terms(piece)) or (piece.isalnum() and not _CJK.search(piece))


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
