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
    fused: float
    """What the order was made by."""
    coverage: float
    """Share of the question's wording that it holds, in [0, 1]."""
    meaning: float
    """Calibrated similarity to the question, in [0, 1]; 0 without vectors."""
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
    rows = [group.lead for group in groups]
    total, coverage = scored.total[rows].tolist(), scored.coverage[rows].tolist()
    meaning = _meaning(scored, rows, calibration=calibration)
    scores = relevance(total, coverage=coverage, meaning=meaning if scored.has_vectors else coverage)
    answers = [
        Ranked(group.lead, score, fused, wording, nearness, group.repeats)
        for group, score, fused, wording, nearness in zip(groups, scores, total, coverage, meaning, strict=True)
        if score >= query.min_score
    ]
    if query.precise:
        return [answer for answer in answers if _is_set_apart(answer, best=answers[0], tuning=tuning)]
    return answers


def _meaning(scored: Scored, rows: list[int], *, calibration: Calibration | None) -> list[float]:
    if calibration is None or not scored.has_vectors:
        return [0.0] * len(rows)
    similar: list[float] = calibration.similarity(scored.dense[rows].astype(np.float32)).tolist()
    return similar


def best_rows(scores: Scores, among: Mask, *, count: int) -> NDArray[np.int64]:
    """The `count` best rows of the mask, best first; equal scores keep the order of arrival."""
    rows = np.flatnonzero(among)
    if len(rows) > count:
        rows = rows[np.argpartition(-scores[rows], count - 1)[:count]]
    return rows[np.lexsort((rows, -scores[rows]))]


def _is_set_apart(answer: Ranked, *, best: Ranked, tuning: Tuning) -> bool:
    speaks_to_it = answer.coverage > 0 or answer.meaning > tuning.precise_meaning
    return speaks_to_it and best.fused - answer.fused < tuning.precise_gap
