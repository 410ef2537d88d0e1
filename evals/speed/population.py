"""Users and memories of the size and skew that a service sees: made, not collected, the same on every machine."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ebbing.ports.models.embedder import Calibration, Vectors

DIM = 384
BIG = 10_000
"""Memories of each of the few big users that a large store has."""
MIDDLE = 1_000
"""Memories of the one user of a known middle size."""
TYPICAL = (40, 250)
"""A user is called typical with at least and at most so many memories."""

_POOL = 16_384
_SYLLABLES = "ka lo mi tun ser bra vel nor pi das rem gul fet zan hol".split()


@dataclass(frozen=True, slots=True)
class User:
    """One owner of memories."""

    name: str
    texts: tuple[str, ...]


class ConstantEmbedder:
    """Takes the same few microseconds for every text: what is measured then is everything but the model.

    A text picks one of 16,384 fixed random unit vectors by its checksum.
    """

    dim = DIM
    calibration = Calibration(unrelated=0.05, related=0.35, paraphrase=0.75, same=0.95)

    def __init__(self, model_id: str = "constant-384") -> None:
        self.model_id = model_id
        pool = np.random.default_rng(7).standard_normal((_POOL, DIM)).astype(np.float32)
        self._pool = pool / np.linalg.norm(pool, axis=1, keepdims=True)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (texts, 384)."""
        return self._pool[[zlib.crc32(text.encode()) % _POOL for text in texts]]

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Shape (texts, 384)."""
        return self.embed(texts)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Shape (texts, 384)."""
        return self.embed(texts)

    async def aclose(self) -> None:
        """Nothing to close."""


def sizes(memories: int, users: int) -> list[int]:
    """How many memories each user has: five of 10,000 in a store of 100,000 or more, one of 1,000, and the rest
    log-normal (median 44 and 99th percentile near 500 at 75 a head), `memories` in all."""
    fixed = ([BIG] * 5 if memories >= 100_000 else []) + [MIDDLE]
    rest, heads = memories - sum(fixed), users - len(fixed)
    if heads < 1 or rest < heads:
        raise ValueError("too few memories for so many users, or no user beside the big ones")
    drawn = np.random.default_rng(11).lognormal(0.0, 1.03, heads)
    counts = np.maximum(1, np.floor(drawn / drawn.sum() * rest)).astype(int)
    counts[int(np.argmax(counts))] += rest - int(counts.sum())
    return [*fixed, *map(int, counts)]


def population(memories: int, users: int) -> list[User]:
    """Users with texts of 10 to 60 words, half English, half Chinese, words Zipf-distributed."""
    counts = sizes(memories, users)
    texts = _texts(sum(counts))
    ends = np.cumsum(counts)
    return [
        User(f"user-{number}", tuple(texts[end - count : end]))
        for number, (count, end) in enumerate(zip(counts, ends, strict=True))
    ]


def questions(user: User, count: int) -> list[str]:
    """Questions of four words that occur in the user's own texts."""
    rng = np.random.default_rng(zlib.crc32(user.name.encode()))
    asked = []
    for _ in range(count):
        text = user.texts[int(rng.integers(len(user.texts)))]
        parts = text.split() if " " in text else [text[at : at + 2] for at in range(0, len(text) - 1, 2)]
        asked.append(" ".join(parts[int(at)] for at in rng.integers(len(parts), size=4)))
    return asked


def _texts(count: int) -> list[str]:
    rng = np.random.default_rng(13)
    english, chinese = _words(20_000)
    lengths = rng.integers(10, 61, count)
    # Zipf's law by the inverse of its continuous distribution function.
    ranks = np.exp(rng.random(int(lengths.sum())) * math.log(len(english))).astype(int) - 1
    texts, at = [], 0
    for row, length in enumerate(lengths):
        words, space = (chinese, "") if row % 2 else (english, " ")
        texts.append(space.join(words[ranks[at : at + length]]))
        at += length
    return texts


def _words(count: int) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
    rng = np.random.default_rng(17)
    english = [
        "".join(_SYLLABLES[at] for at in row[: 1 + row[3] % 3])
        for row in rng.integers(len(_SYLLABLES), size=(count, 4))
    ]
    chinese = [chr(0x4E00 + first) + chr(0x4E00 + second) for first, second in rng.integers(2_000, size=(count, 2))]
    return np.array(english, dtype=object), np.array(chinese, dtype=object)
