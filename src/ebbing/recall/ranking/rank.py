"""From scores to an answer: order, tell repeats once, rate, and stop where the curve says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Final, TypeVar

import numpy as np

from ebbing.domain.filters.query import Query
from ebbing.index.shard import Shard, micros
from ebbing.ports.embedder import Calibration
from ebbing.recall.base.fusion import Mask, best_rows
from ebbing.recall.base.recall_settings import RecallSettings
from ebbing.recall.query.parse_query import Question
from ebbing.recall.ranking.deduplicate import Groups, collapse
from ebbing.recall.ranking.demote_outdated import behind_their_update
from ebbing.recall.ranking.prefer_newer_value import newer_first
from ebbing.recall.scoring.calibrated_score import relevance
from ebbing.recall.scoring.score_rows import Scored

_Column = TypeVar("_Column")
ANSWERING: Final = 0.6
"""Similarity that a fact counts as having which holds the attribute that the question asks for."""


@dataclass(slots=True)
class Ranking:
    """The rows of an answer, best first, as parallel lists: an object for each of twenty costs microseconds."""

    rows: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    """Calibrated, in [0, 1]."""
    fused: list[float] = field(default_factory=list)
    """What the order was made by."""
    coverage: list[float] = field(default_factory=list)
    """Share of the question's wording that a row holds, in [0, 1]."""
    meaning: list[float] = field(default_factory=list)
    """Calibrated similarity to the question, in [0, 1]; 0 without vectors."""
    repeats: list[tuple[int, ...]] = field(default_factory=list)
    """Rows that say the same, best first."""

    def only(self, kept: Sequence[bool]) -> Ranking:
        """The rows that stay, in their order."""
        if all(kept):
            return self

        def of(column: list[_Column]) -> list[_Column]:
            return list(compress(column, kept))

        scores, fused = of(self.scores), of(self.fused)
        return Ranking(of(self.rows), scores, fused, of(self.coverage), of(self.meaning), of(self.repeats))


def rank(
    shard: Shard,
    scored: Scored,
    *,
    among: Mask,
    query: Query,
    question: Question,
    calibration: Calibration | None,
    recall_settings: RecallSettings,
) -> Ranking:
    """The best rows of the mask, best first, at most `query.top_k`.

    With `query.precise` only what the score curve sets apart is kept: rows near the best one that share wording or
    meaning with the question, and facts that hold the attribute which it asks for. A question with one answer then gets
    one row, and one without gets none.
    """
    order = best_rows(scored.total, among, count=max(recall_settings.collapse_depth, query.top_k))
    if question.value:
        order = newer_first(shard, scored, order=order, recall_settings=recall_settings)
    at = micros(query.as_of or query.now)
    order = behind_their_update(shard, scored, order=order, among=among, at=at, recall_settings=recall_settings)
    groups = collapse(shard, order, count=query.top_k, calibration=calibration, recall_settings=recall_settings)
    if len(groups) < query.top_k and len(order) < (living := int(np.count_nonzero(among))):
        # One statement fills the whole depth: what stands below it is looked at as well, without its repeats.
        order = best_rows(scored.total, among & ~_told(shard, groups), count=living)
        groups |= dict.fromkeys(order[: query.top_k - len(groups)].tolist(), ())
    found = _rated(scored, groups, calibration=calibration)
    if query.min_score > 0:
        found = found.only([score >= query.min_score for score in found.scores])
    return found.only(_set_apart(scored, found, recall_settings=recall_settings)) if query.precise else found


def _rated(scored: Scored, groups: Groups, *, calibration: Calibration | None) -> Ranking:
    rows = list(groups)
    # Number by number: for the few rows of an answer numpy takes longer.
    total, coverage = [*map(scored.total.item, rows)], [*map(scored.coverage.item, rows)]
    compared = [*map(scored.compared.item, rows)]
    meaning = [0.0] * len(rows)
    if calibration is not None:
        meaning = calibration.similarities([*map(scored.dense.item, rows)])
        if not all(compared):
            meaning = [near if known else 0.0 for near, known in zip(meaning, compared, strict=True)]
    judged = meaning
    if not all(compared):
        judged = [near if known else held for near, known, held in zip(meaning, compared, coverage, strict=True)]
    if scored.answering is not None:
        answers = map(scored.answering.item, rows)
        judged = [max(near, ANSWERING * is_one) for near, is_one in zip(judged, answers, strict=True)]
    scores = relevance(total, coverage=coverage, meaning=judged)
    return Ranking(rows, scores, total, coverage, meaning, list(groups.values()))


def _told(shard: Shard, groups: Groups) -> Mask:
    """Rows that a group holds, or whose text one of its rows has."""
    rows = [row for lead, repeats in groups.items() for row in (lead, *repeats)]
    told: Mask = np.isin(shard.digest, shard.digest[rows])
    return told


def _set_apart(scored: Scored, found: Ranking, *, recall_settings: RecallSettings) -> list[bool]:
    """Which rows speak to the question by their meaning and wording, and stand near the best one."""
    answering = scored.answering
    return [
        (answering is not None and answering[row])
        or (
            found.fused[0] - fused < recall_settings.precise_gap
            and _speaks_to_it(scored, row, held=held, near=near, recall_settings=recall_settings)
        )
        for row, fused, held, near in zip(found.rows, found.fused, found.coverage, found.meaning, strict=True)
    ]


def _speaks_to_it(scored: Scored, row: int, *, held: float, near: float, recall_settings: RecallSettings) -> bool:
    shares_words = held >= recall_settings.precise_coverage
    if not scored.compared[row]:
        return shares_words
    if scored.foreign is not None and scored.foreign[row]:
        return near >= recall_settings.precise_other_language
    evidence = near + recall_settings.precise_coverage_share * held
    return near > recall_settings.precise_meaning or (shares_words and evidence >= recall_settings.precise_evidence)
