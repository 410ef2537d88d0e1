"""How likely a row answers the question, as one number in [0, 1] that means the same for every question.

A logistic model on four things: how far the row stands behind the best one, its rank, how much of the question's
wording it holds, and how near its meaning is. Fitted on LoCoMo, MemDaily and BEAM with as many questions asked of the
wrong person's memory, so that a question without an answer gets low scores from its best row on.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from math import exp, log
from typing import Final

_GAP: Final = -0.111
_RANK: Final = -0.891
_COVERAGE: Final = 0.136
_MEANING: Final = 2.513
_BASE: Final = -1.448
_HOPELESS: Final = 700.0
"""Odds beyond which `exp` has no number."""

_BY_RANK: Final = tuple(-_BASE - _RANK * log(rank) for rank in range(1, 1_001))
"""An answer has fifty rows at most."""
_SHARE: Final = (0.0, 0.05, 0.12, 0.2, 0.33, 0.5, 0.7, 1.0)
"""Share of such rows that really are evidence …"""
_SCORE: Final = (0.0, 0.2, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0)
"""… and the score that stands for it, between the anchors on a straight line: 0.6 is one in three, 0.75 one in two."""
_ANCHORS: Final = pairwise(zip(_SHARE, _SCORE, strict=True))
_STRETCHES: Final = tuple(
    (least, (score - least) / (share - from_share), from_share) for (from_share, least), (share, score) in _ANCHORS
)
"""Behind each anchor its score, what a share adds to it, and its share."""
_ENDS: Final = _SHARE[1:-1]
"""Where a stretch ends and another begins."""


def relevance(total: Sequence[float], *, coverage: Sequence[float], meaning: Sequence[float]) -> list[float]:
    """Scores in [0, 1] of rows in rank order, never rising from one row to the next.

    Number by number: an answer has few, and for so few numpy takes four times as long.

    Args:
        total: the fused scores that made the order.
        coverage: share of the question's wording that each row holds, weighted by rarity, in [0, 1].
        meaning: calibrated similarity of row and question, in [0, 1]; the coverage where either has no vector.
    """
    scores: list[float] = []
    least, best = 1.0, total[0] if total else 0.0
    for points, held, near, by_rank in zip(total, coverage, meaning, _BY_RANK, strict=False):
        against = _GAP * (points - best) - _COVERAGE * held - _MEANING * near + by_rank
        share = 1.0 / (1.0 + exp(against if against < _HOPELESS else _HOPELESS))
        score, rise, from_share = _STRETCHES[bisect_right(_ENDS, share)]
        score += rise * (share - from_share)
        least = min(least, score)
        scores.append(least)
    return scores
