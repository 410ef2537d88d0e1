"""From scores to an answer: order, tell repeats once, rate, and stop where the curve says so."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.query import Query
from ebbing.index.shard import Shard
from ebbing.ports.embedder import Calibration
from ebbing.recall.collapse import collapse
from ebbing.recall.fuse import Mask, Scores
from ebbing.recall.newer import newer_first
from ebbing.recall.relevance import relevance
from ebbing.recall.score import Scored
from ebbing.recall.tuning import Tuning
from ebbing.recall.understand import Question


@dataclass(frozen=True, slots=True)
class Ranked:
    """One row of the answer."""

    row: int
    score: float
    """Calibrated, in [0, 1]."""
    repeats: tuple[int, ...] = ()
    """Rows that say the same, best first."""


def rank(
    shard: Shard,
    scored: Scored,
    *,
    among: Mask,
    query: Query,
    question: Question,
    calibration: Calibration | None,
    tuning: Tuning,
) -> list[Ranked]:
    """The best rows of the mask, best first, at most `query.top_k`.

    With `query.precise` only what the score curve sets apart is kept: rows near the best one that share wording or
    meaning with the question. A question with one answer then gets one row, and one without gets none.
    """
    order = best_rows(scored.total, among, count=max(tuning.collapse_depth, query.top_k))
    if question.value:
        order = newer_first(shard, scored, order=order, tuning=tuning)
    groups = collapse(shard, order, count=query.top_k, calibration=calibration, tuning=tuning)
    rows = np.array([group.lead for group in groups], dtype=np.int64)
    meaning = scored.meaning[rows] if scored.has_vectors else scored.coverage[rows]
    scores = relevance(scored.total[rows], coverage=scored.coverage[rows], meaning=meaning)
    keep = scores >= query.min_score
    if query.precise:
        keep &= _set_apart(scored, rows, tuning=tuning)
    return [
        Ranked(group.lead, float(score), group.repeats)
        for group, score, kept in zip(groups, scores, keep, strict=True)
        if kept
    ]


def best_rows(scores: Scores, among: Mask, *, count: int) -> NDArray[np.int64]:
    """The `count` best rows of the mask, best first; equal scores keep the order of arrival."""
    rows = np.flatnonzero(among)
    if len(rows) > count:
        rows = rows[np.argpartition(-scores[rows], count - 1)[:count]]
    return rows[np.lexsort((rows, -scores[rows]))]


def _set_apart(scored: Scored, rows: NDArray[np.int64], *, tuning: Tuning) -> Mask:
    if not len(rows):
        return np.zeros(0, dtype=bool)
    near_the_best = scored.total[rows[0]] - scored.total[rows] < tuning.precise_gap
    speaks_to_it = (scored.coverage[rows] > 0) | (scored.meaning[rows] > tuning.precise_meaning)
    apart: Mask = near_the_best & speaks_to_it
    return apart
