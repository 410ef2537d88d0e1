"""From the scores of several retrievers to one, and from scores to the best rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
"""Shape (rows of the shard,)."""
Mask = NDArray[np.bool_]
"""Shape (rows of the shard,)."""


def zscore(scores: Scores, mask: Mask, *, weight: float = 1.0, min_count: int = 0) -> Scores:
    """Return `weight` times (x − mean) / standard deviation, both over the rows of the mask.

    All are 0 where the rows do not differ.

    Args:
        min_count: rows that the statistics stand for; those that are lacking count as 0. Of a handful of rows none can
            lie far from their mean.
    """
    chosen = scores[mask]
    count = max(len(chosen), min_count)
    if not count:
        return np.zeros_like(scores)
    mean = float(chosen.sum()) / count
    variance = float(chosen.dot(chosen)) / count - mean * mean
    if variance < 1e-12:
        return np.zeros_like(scores)
    scaled: Scores = weight * variance**-0.5 * (scores - mean)
    return scaled


def reciprocal_rank(scores: Scores, mask: Mask, *, k: int) -> Scores:
    """Return 1 / (k + rank) for rows with a score above 0 (Cormack et al. 2009).

    It is scaled so that the best has about 1.
    """
    order = np.argsort(-np.where(mask, scores, -np.inf), kind="stable")
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    return np.where(mask & (scores > 0), (k + 1) / (k + ranks), 0.0)


def best_rows(scores: Scores, mask: Mask, *, count: int) -> NDArray[np.int64]:
    """Return the `count` best rows of the mask, best first.

    Equal scores keep the order of arrival, at the cut as well.
    """
    rows = np.flatnonzero(mask)
    points = scores[rows]
    if len(rows) > count:
        threshold = np.partition(points, len(rows) - count)[len(rows) - count]
        rows = rows[points >= threshold]
    order = np.argsort(-scores[rows], kind="stable")
    return rows[order[:count]]
