"""From several legs' scores to one, and from scores to the best rows."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
Mask = NDArray[np.bool_]

_SORTED_WHOLE: Final = 2
"""Times the rows that are wanted, up to which sorting all of them is quicker than finding these first."""


def is_whole(mask: Mask) -> bool:
    """Whether every row is in the mask; to look through its bytes takes a fifth of the time of `mask.all()`."""
    return 0 not in mask.tobytes()


def is_empty(mask: Mask) -> bool:
    """Whether no row is in the mask."""
    return 1 not in mask.tobytes()


def zscore(scores: Scores, among: Mask | None, *, weight: float = 1.0, at_least: int = 0) -> Scores:
    """`weight` times (x − mean) / standard deviation, both over the rows in `among`; all 0 where they do not differ.

    Args:
        among: None for all rows.
        at_least: rows that the statistics stand for; those that are lacking count as 0. Of a handful of rows none can
            lie far from their mean.
    """
    chosen = scores if among is None else scores[among]
    count = max(len(chosen), at_least)
    if not count:
        return np.zeros_like(scores)
    mean = float(np.add.reduce(chosen)) / count
    variance = float(chosen.dot(chosen)) / count - mean * mean
    if variance < 1e-12:
        return np.zeros_like(scores)
    levelled: Scores = scores - mean
    levelled *= weight * variance**-0.5
    return levelled


def reciprocal_rank(scores: Scores, among: Mask | None, *, k: int) -> Scores:
    """1 / (k + rank) for rows with a score above 0 (Cormack et al. 2009), scaled so that the best has about 1.

    Args:
        among: None for all rows.
    """
    among = np.ones(len(scores), dtype=np.bool_) if among is None else among
    order = np.argsort(-np.where(among, scores, -np.inf), kind="stable")
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    return np.where(among & (scores > 0), (k + 1) / (k + ranks), 0.0)


def best_rows(scores: Scores, among: Mask, *, count: int) -> NDArray[np.int64]:
    """The `count` best rows of the mask, best first; equal scores keep the order of arrival, at the cut as well."""
    if len(scores) <= _SORTED_WHOLE * count and is_whole(among):
        return (-scores).argsort(kind="stable")[:count]
    rows = among.nonzero()[0]
    points = scores.take(rows)
    if len(rows) > count:
        edge = np.partition(points, len(rows) - count)[len(rows) - count]
        above = np.flatnonzero(points > edge)
        level = np.flatnonzero(points == edge)[: count - len(above)]
        kept = np.concatenate((above, level))
        rows, points = rows[kept], points[kept]
    # Rows come in the order of arrival, so that a stable sort keeps it among equals.
    return rows.take((-points).argsort(kind="stable"))
