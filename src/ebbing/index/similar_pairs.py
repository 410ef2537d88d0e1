"""Which rows of one owner are near each other, by their vectors or by the words they share."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.index.shard import Shard

Rows = NDArray[np.int64]

_AT_ONCE: Final = 512
"""Rows that are compared with all others at a time: bounds the RAM of a large owner's matrix."""


def _nearness(shard: Shard, rows: Rows, *, others: Rows) -> NDArray[np.float32]:
    """Cosines of shape (rows, others); −1 where the numbers in the two texts differ: they never say the same."""
    numbers = shard.numbers[rows][:, None] == shard.numbers[others][None, :]
    cosines: NDArray[np.float32] = np.where(numbers, shard.vectors[rows] @ shard.vectors[others].T, np.float32(-1))
    return cosines


def near_pairs(shard: Shard, rows: Rows, *, fresh: NDArray[np.bool_], cosine: float) -> tuple[Rows, Rows]:
    """Pairs of different rows with the same numbers and at least this cosine, of which one at least is `fresh`.

    Each pair comes once, as positions in `rows`; rows without a vector are near nothing.
    """
    firsts, seconds = [], []
    candidates = np.flatnonzero(fresh & shard.embedded[rows])
    for start in range(0, len(candidates), _AT_ONCE):
        part = candidates[start : start + _AT_ONCE]
        first, second = np.nonzero(_nearness(shard, rows[part], others=rows) >= cosine)
        first = part[first]
        once = (first < second) | ((first > second) & ~fresh[second])
        firsts.append(first[once])
        seconds.append(second[once])
    return _joined(firsts), _joined(seconds)


def overlapping_pairs(shard: Shard, rows: Rows, *, fresh: NDArray[np.bool_], least: float) -> tuple[Rows, Rows]:
    """Pairs of different rows with the same numbers that share this part of the terms of the shorter one.

    For rows without vectors; otherwise as `near_pairs`.
    """
    place = np.full(shard.size, -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    terms = [_terms_of(shard, int(row)) for row in rows]
    size = np.fromiter(map(len, terms), dtype=np.int64, count=len(rows))
    firsts, seconds = [], []
    for first in np.flatnonzero(fresh).tolist():
        matches = shard.postings.find(terms[first])
        at = place[matches.rows[matches.tf > 0]]
        common = np.bincount(at[at >= 0], minlength=len(rows))
        alike = common >= least * np.maximum(np.minimum(size, size[first]), 1)
        second = np.flatnonzero(alike & (shard.numbers[rows] == shard.numbers[rows[first]]))
        second = second[(second > first) | ((second < first) & ~fresh[second])]
        firsts.append(np.full(len(second), first, dtype=np.int64))
        seconds.append(second)
    return _joined(firsts), _joined(seconds)


def _terms_of(shard: Shard, row: int) -> NDArray[np.uint64]:
    packed = shard.postings.terms_of(row)
    return np.ascontiguousarray(packed["term"][packed["tf"] > 0])


def _joined(parts: list[Rows]) -> Rows:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
