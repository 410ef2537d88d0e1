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

_GAP: Final = -0.111
_RANK: Final = -0.891
_COVERAGE: Final = 0.136
_MEANING: Final = 2.513
_BASE: Final = -1.448
_MAX_ODDS: Final = 700.0
"""Log odds beyond which `exp` has no number."""

_SHARE: Final = (0.0, 0.05, 0.12, 0.2, 0.33, 0.5, 0.7, 1.0)
"""Share of such rows that really are evidence …"""
_SCORE: Final = (0.0, 0.2, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0)
"""… and the score that stands for it, between the anchors on a straight line: 0.6 is one in three, 0.75 one in two."""

_Numbers = Sequence[float] | NDArray[np.float64]


def relevance(total: _Numbers, *, coverage: _Numbers, meaning: _Numbers) -> list[float]:
    """Return scores in [0, 1] of rows in rank order, never rising from one row to the next.

    Args:
        total: the fused scores that made the order.
        coverage: share of the question's wording that each row holds, weighted by rarity, in [0, 1].
        meaning: calibrated similarity of row and question, in [0, 1]; the coverage where either has no vector.
    """
    if not len(total):
        return []
    points = np.asarray(total, dtype=np.float64)
    ranks = np.arange(1, len(points) + 1)
    odds = _BASE + _GAP * (points[0] - points) + _RANK * np.log(ranks)
    odds = odds + _COVERAGE * np.asarray(coverage) + _MEANING * np.asarray(meaning)
    share = 1.0 / (1.0 + np.exp(np.minimum(-odds, _MAX_ODDS)))
    scores = np.interp(share, _SHARE, _SCORE)
    falling: list[float] = np.minimum.accumulate(scores).tolist()
    return falling


def score_of_share(share: float) -> float:
    """Return the score in [0, 1] that stands for a probability of answering: the same scale as `relevance`."""
    return float(np.interp(share, _SHARE, _SCORE))
