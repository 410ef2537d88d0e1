"""From scores to an answer: order, tell repeats once, rate, and stop where the curve says so."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ebbing.domain.query import Query
from ebbing.index.shard import Shard, micros
from ebbing.ports.embedder import Calibration
from ebbing.recall.collapse import Groups, collapse
from ebbing.recall.fuse import Mask, Scores, best_rows
from ebbing.recall.newer import newer_first
from ebbing.recall.outdated import behind_their_update
from ebbing.recall.relevance import relevance
from ebbing.recall.score import Scored
from ebbing.recall.tuning import Tuning
from ebbing.recall.understand import Question


@dataclass(slots=True)
class Ranked:
    """One row of the answer. Not frozen, like `Hit`, for speed."""

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
    at = micros(query.as_of or query.now)
    order = behind_their_update(shard, scored, order=order, among=among, at=at, tuning=tuning)
    groups = collapse(shard, order, count=query.top_k, calibration=calibration, tuning=tuning)
    if len(groups) < query.top_k and len(order) < (living := int(np.count_nonzero(among))):
        # One statement fills the whole depth: what stands below it is looked at as well, without its repeats.
        order = best_rows(scored.total, among & ~_told(shard, groups), count=living)
        groups |= dict.fromkeys(order[: query.top_k - len(groups)].tolist(), ())
    rows = np.array(list(groups), dtype=np.int64)
    total, coverage, compared = scored.total[rows], scored.coverage[rows], scored.compared[rows]
    meaning = _meaning(scored.dense[rows], compared, calibration=calibration)
    scores = relevance(total, coverage=coverage, meaning=np.where(compared, meaning, coverage))
    found = zip(groups, scores, total.tolist(), coverage.tolist(), meaning.tolist(), groups.values(), strict=True)
    answers = [Ranked(*told) for told in found if told[1] >= query.min_score]
    if query.precise:
        return [answer for answer in answers if _is_set_apart(answer, best=answers[0], tuning=tuning)]
    return answers


def _told(shard: Shard, groups: Groups) -> Mask:
    """Rows that a group holds, or whose text one of its rows has."""
    rows = [row for lead, repeats in groups.items() for row in (lead, *repeats)]
    told: Mask = np.isin(shard.digest, shard.digest[rows])
    return told


def _meaning(cosines: Scores, compared: Mask, *, calibration: Calibration | None) -> Scores:
    """Calibrated similarity to the question; 0 for a row whose meaning was not compared with it."""
    if calibration is None:
        return np.zeros(len(cosines))
    similar: Scores = np.where(compared, calibration.similarity(cosines.astype(np.float32)), 0.0)
    return similar


def _is_set_apart(answer: Ranked, *, best: Ranked, tuning: Tuning) -> bool:
    speaks_to_it = answer.coverage > 0 or answer.meaning > tuning.precise_meaning
    return speaks_to_it and best.fused - answer.fused < tuning.precise_gap
