"""From scores to an answer: order the rows, group duplicates, rate each, and cut."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import Final

import numpy as np

from ebbing.domain.filters.query import Query
from ebbing.index.shard import Shard, micros
from ebbing.ports.embedder import Calibration
from ebbing.recall.base.fusion import Mask, best_rows
from ebbing.recall.base.recall_settings import RecallSettings
from ebbing.recall.query.parse_query import Question
from ebbing.recall.ranking.calibrated_score import relevance, score_of_share
from ebbing.recall.ranking.deduplicate import Groups, group_duplicates
from ebbing.recall.ranking.updated_values import demote_superseded, prefer_newer_value
from ebbing.recall.scoring.score_rows import RowScores

ANSWERING_SIMILARITY: Final = 0.6
"""Similarity that a fact counts as having which holds the attribute that the question asks for."""


@dataclass(frozen=True, slots=True)
class RankedRow:
    """One row of an answer."""

    row: int
    score: float
    """Calibrated, in [0, 1]."""
    total: float
    """The fused score that made the order."""
    coverage: float
    """Share of the question's wording that the row holds, in [0, 1]."""
    meaning: float
    """Calibrated similarity to the question, in [0, 1]; 0 without vectors."""
    duplicates: tuple[int, ...]
    """Rows that say the same, best first."""


def rank(
    shard: Shard,
    scores: RowScores,
    *,
    mask: Mask,
    query: Query,
    question: Question,
    calibration: Calibration | None,
    settings: RecallSettings,
) -> list[RankedRow]:
    """Return the best rows of the mask, best first, at most `query.top_k`.

    With `query.precise` only what the score curve sets apart stays: rows near the best one that share wording or
    meaning with the question, and facts that hold the attribute which it asks for. A question with one answer then gets
    one row, and one without gets none.
    """
    order = best_rows(scores.total, mask, count=max(settings.collapse_depth, query.top_k))
    if question.value:
        order = prefer_newer_value(shard, scores, order=order, settings=settings)
    moment = micros(query.as_of or query.now)
    order = demote_superseded(shard, scores, order=order, mask=mask, moment=moment, settings=settings)
    groups = group_duplicates(shard, order, count=query.top_k, calibration=calibration, settings=settings)
    if len(groups) < query.top_k and len(order) < np.count_nonzero(mask):
        groups |= _rows_below(shard, scores, groups=groups, mask=mask, count=query.top_k - len(groups))
    ranked = _rate(scores, groups, calibration=calibration)
    if query.min_score > 0:
        ranked = [row for row in ranked if row.score >= query.min_score]
    if query.precise:
        ranked = [row for row in ranked if _is_set_apart(scores, row, best=ranked[0].total, settings=settings)]
    return ranked


def _rows_below(shard: Shard, scores: RowScores, *, groups: Groups, mask: Mask, count: int) -> Groups:
    """Return the best rows that no group holds, where one statement fills the whole depth."""
    shown = [row for lead, duplicates in groups.items() for row in (lead, *duplicates)]
    has_shown_text = np.isin(shard.digest, shard.digest[shown])
    rows = best_rows(scores.total, mask & ~has_shown_text, count=count)
    return dict.fromkeys(rows.tolist(), ())


def _rate(scores: RowScores, groups: Groups, *, calibration: Calibration | None) -> list[RankedRow]:
    rows = np.array(list(groups), dtype=np.int64)
    total, coverage = scores.total[rows], scores.coverage[rows]
    meaning = np.zeros(len(rows))
    if calibration is not None:
        similarity = calibration.similarity(scores.cosine[rows].astype(np.float32))
        meaning = np.where(scores.compared[rows], similarity, 0.0)
    evidence = np.where(scores.compared[rows], meaning, coverage)
    evidence = np.where(scores.answering[rows], np.maximum(evidence, ANSWERING_SIMILARITY), evidence)
    relevances = relevance(total, coverage=coverage, meaning=evidence)
    if scores.answer_probability is not None:
        read = scores.answer_probability[rows].tolist()
        relevances = [
            old if isnan(share) else score_of_share(share) for old, share in zip(relevances, read, strict=True)
        ]
    columns = (rows.tolist(), relevances, total.tolist(), coverage.tolist(), meaning.tolist(), groups.values())
    return [RankedRow(*values) for values in zip(*columns, strict=True)]


def _is_set_apart(scores: RowScores, ranked: RankedRow, *, best: float, settings: RecallSettings) -> bool:
    """Return whether a row speaks to the question by its meaning and wording, and stands near the best one."""
    row = ranked.row
    if scores.answer_probability is not None and scores.answer_probability[row] < settings.precise_answer:
        return False
    if scores.answering[row]:
        return True
    if best - ranked.total >= settings.precise_gap:
        return False
    shares_words = ranked.coverage >= settings.precise_coverage
    if not scores.compared[row]:
        return shares_words
    if scores.foreign[row]:
        return ranked.meaning >= settings.precise_other_language
    if ranked.meaning > settings.precise_meaning:
        return True
    evidence = ranked.meaning + settings.precise_coverage_share * ranked.coverage
    return shares_words and evidence >= settings.precise_evidence
