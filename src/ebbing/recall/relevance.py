"""How likely a row answers the question, as one number in [0, 1] that means the same for every question.

A logistic model on four things: how far the row stands behind the best one, its rank, how much of the question's
wording it holds, and how near its meaning is. Fitted on LoCoMo, MemDaily and BEAM with as many questions asked of the
wrong person's memory, so that a question without an answer gets low scores from its best row on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

Points = Sequence[float] | NDArray[np.float64]

_GAP: Final = -0.111
_RANK: Final = -0.891
_COVERAGE: Final = 0.136
_MEANING: Final = 2.513
_BASE: Final = -1.448

_AGAINST: Final = np.array([_GAP, -_COVERAGE, -_MEANING])
"""Odds against a row: by its points (the best row's count the other way), its coverage and its meaning."""
_BY_RANK: Final = -_BASE - _RANK * np.log(np.arange(1, 1_001))
"""An answer has fifty rows at most."""
_SHARE: Final = np.array([0.0, 0.05, 0.12, 0.2, 0.33, 0.5, 0.7, 1.0])
"""Share of such rows that really are evidence …"""
_SCORE: Final = np.array([0.0, 0.2, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0])
"""… and the score that stands for it, between the anchors on a straight line: 0.6 is one in three, 0.75 one in two."""


def relevance(total: Points, *, coverage: Points, meaning: Points) -> list[float]:
    """Scores in [0, 1] of rows in rank order, never rising from one row to the next.

    Args:
        total: the fused scores that made the order.
        coverage: share of the question's wording that each row holds, weighted by rarity, in [0, 1].
        meaning: calibrated similarity of row and question, in [0, 1]; the coverage where either has no vector.
    """
    points = np.asarray(total, dtype=np.float64)
    if not len(points):
        return []
    told = np.array((points, coverage, meaning), dtype=np.float64)
    against = _AGAINST @ told + (_BY_RANK[: len(points)] - _AGAINST[0] * told[0, 0])
    scores: list[float] = np.minimum.accumulate(np.interp(1.0 / (1.0 + np.exp(against)), _SHARE, _SCORE)).tolist()
    return scores
