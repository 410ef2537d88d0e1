"""How likely a row answers the question, as one number in [0, 1] that means the same for every question.

A logistic model on four things: how far the row stands behind the best one, its rank, how much of the question's
wording it holds, and how near its meaning is. Fitted on LoCoMo, MemDaily and BEAM with as many questions asked of the
wrong person's memory, so that a question without an answer gets low scores from its best row on.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from math import exp, log
from typing import Final

_GAP: Final = -0.111
_RANK: Final = -0.891
_COVERAGE: Final = 0.136
_MEANING: Final = 2.513
_BASE: Final = -1.448

_SHARE: Final = (0.0, 0.05, 0.12, 0.2, 0.33, 0.5, 0.7, 1.0)
"""Share of such rows that really are evidence …"""
_SCORE: Final = (0.0, 0.2, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0)
"""… and the score that stands for it: 0.6 is one in three, 0.75 one in two."""


def relevance(total: Sequence[float], *, coverage: Sequence[float], meaning: Sequence[float]) -> list[float]:
    """Scores in [0, 1] of rows in rank order, never rising from one row to the next.

    Args:
        total: the fused scores that made the order.
        coverage: share of the question's wording that each row holds, weighted by rarity, in [0, 1].
        meaning: calibrated similarity of row and question, in [0, 1]; the coverage where either has no vector.
    """
    scores: list[float] = []
    least = 1.0
    for place, (points, wording, nearness) in enumerate(zip(total, coverage, meaning, strict=True), start=1):
        gap = total[0] - points
        odds = _BASE + _GAP * gap + _RANK * log(place) + _COVERAGE * wording + _MEANING * nearness
        least = min(least, _score(1.0 / (1.0 + exp(-odds))))
        scores.append(least)
    return scores


def _score(share: float) -> float:
    """The score that stands for a share of evidence, between the anchors on a straight line."""
    upper = min(bisect_left(_SHARE, share), len(_SHARE) - 1) or 1
    low, high = _SHARE[upper - 1], _SHARE[upper]
    return _SCORE[upper - 1] + (_SCORE[upper] - _SCORE[upper - 1]) * (share - low) / (high - low)
