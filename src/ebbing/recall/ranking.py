"""From scores to an answer: order the rows, group duplicates, rate each, and cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.filters.query import Query
from ebbing.domain.memory.record import Kind
from ebbing.index.near_rows import between
from ebbing.index.shard import KINDS, NEVER, Shard, micros
from ebbing.language.text.analyzer import TextFlag
from ebbing.ports.models.embedder import Calibration
from ebbing.recall.question import Question
from ebbing.recall.recall_settings import RecallSettings
from ebbing.recall.rows import Mask, Scores, best_rows
from ebbing.recall.scores import RowScores

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
        # Answers show their scores to four digits: who asks for a score that an answer showed gets that answer.
        ranked = [row for row in ranked if round(row.score, 4) >= query.min_score]
    if query.precise:
        best, language = ranked[0].total if ranked else 0.0, question.language
        ranked = [row for row in ranked if _is_set_apart(scores, row, best=best, language=language, settings=settings)]
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
        # The order knows more than the reader alone. So the best row has the best score, also if the reader's favourite
        # is another.
        relevances.sort(reverse=True)
    columns = (rows.tolist(), relevances, total.tolist(), coverage.tolist(), meaning.tolist(), groups.values())
    return [RankedRow(*values) for values in zip(*columns, strict=True)]


def _is_set_apart(
    scores: RowScores, ranked: RankedRow, *, best: float, language: TextFlag, settings: RecallSettings
) -> bool:
    """Return whether a row speaks to the question by its meaning and wording, and stands near the best one."""
    row = ranked.row
    probability = None if scores.answer_probability is None else scores.answer_probability[row]
    is_chinese = language == TextFlag.CHINESE
    least = settings.precise_answer_in_chinese if is_chinese else settings.precise_answer
    if probability is not None and probability < least:
        return False
    if scores.answering[row]:
        return True
    is_sure = probability is not None and probability >= settings.precise_sure
    if best - ranked.total >= settings.precise_gap and not is_sure:
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


# The order of rows of which one updates the other: the newer comes first.

Rows = NDArray[np.int64]

_MEMORY: Final = KINDS.index(Kind.MEMORY)
_EPISODE: Final = KINDS.index(Kind.EPISODE)


def prefer_newer_value(shard: Shard, scores: RowScores, *, order: Rows, settings: RecallSettings) -> Rows:
    """Return the order (best first) with one row put before the row that it seems to update.

    Two rows tell a value twice when the same kind of speaker said both, both hold much of the question's wording and
    a number, and the numbers differ. The later one is put directly above if it is not far behind. This is a guess from
    the surface, so only one pair an answer is touched; what is known to be superseded never gets here at all.
    """
    top = order[: settings.newer_depth]
    holds_value = (scores.coverage[top] >= settings.newer_coverage) & (shard.numbers[top] != 0)
    places = np.flatnonzero(holds_value)
    for position, lower in enumerate(places):
        for upper in places[:position]:
            older, newer = int(top[upper]), int(top[lower])
            gap = scores.comparable[older] - scores.comparable[newer]
            if gap <= settings.newer_gap and _updates(shard, newer, older=older):
                return np.insert(np.delete(order, lower), upper, newer)
    return order


def _updates(shard: Shard, newer: int, *, older: int) -> bool:
    same_speaker = shard.role[newer] == shard.role[older] and shard.actor[newer] == shard.actor[older]
    is_later = (shard.created[newer], shard.seq[newer]) > (shard.created[older], shard.seq[older])
    return bool(same_speaker and is_later and shard.numbers[newer] != shard.numbers[older])


def demote_superseded(
    shard: Shard, scores: RowScores, *, order: Rows, mask: Mask, moment: int, settings: RecallSettings
) -> Rows:
    """Return the order (best first) with what ended a statement put before the message that made it.

    A message says more than one memory does, so it stays in the answer when a memory read from it is over. Where the
    question is about that memory (no other memory of the message fits it better, and it fits about as well as the
    message), what was said when it ended comes directly before the message.

    Args:
        order: rows, best first.
        mask: rows that the caller may get back.
        moment: microseconds since 1970 (UTC) for which the answer holds.
    """
    statement_times = shard.cached("times of ended statements", lambda: _times_of_ended_statements(shard))
    if not len(statement_times):
        return order
    top = order[: settings.newer_depth]
    is_doubtful = (shard.kind[top] == _EPISODE) & np.isin(shard.created[top], statement_times)
    for message in top[is_doubtful].tolist():
        newer = _replacement_of(shard, scores, message=message, mask=mask, moment=moment, settings=settings)
        if newer is not None and _stands_behind(order, newer, other=message):
            rest = order[order != newer]
            place = int(np.flatnonzero(rest == message)[0])
            order = np.insert(rest, place, newer)
    return order


def _times_of_ended_statements(shard: Shard) -> Rows:
    """Return when statements were made that are over, or will be."""
    has_end = shard.alive & (shard.kind == _MEMORY) & (shard.valid_to < NEVER)
    return np.unique(shard.created[has_end])


def _stands_behind(order: Rows, row: int, *, other: int) -> bool:
    places = np.flatnonzero((order == row) | (order == other))
    return bool(order[places[-1]] == row) or len(places) == 1


def _replacement_of(
    shard: Shard, scores: RowScores, *, message: int, mask: Mask, moment: int, settings: RecallSettings
) -> int | None:
    """Return the best row of what was said when the statement ended that the question is about; None if none ended."""
    total = scores.comparable
    ended, standing = _statements_of(shard, message, moment=moment)
    if not len(ended):
        return None
    best = int(ended[np.argmax(total[ended])])
    if total[standing].max(initial=-np.inf) > total[best]:
        return None
    if total[message] - total[best] > settings.ended_gap:
        return None
    end = shard.valid_to[best]
    if end <= shard.created[message]:
        return None  # all was said at once, and nothing tells which message came later
    said_at_end = np.flatnonzero(mask & (shard.created == end))
    return int(said_at_end[np.argmax(total[said_at_end])]) if len(said_at_end) else None


def answers_by_what_stands(shard: Shard, total: Scores, *, row: int, moment: int) -> bool:
    """Return whether a message tells something that is over, and something that answers better and stands."""
    if shard.kind[row] != _EPISODE:
        return False
    ended, standing = _statements_of(shard, row, moment=moment)
    return len(ended) > 0 and bool(total[standing].max(initial=-np.inf) > total[ended].max())


def _statements_of(shard: Shard, message: int, *, moment: int) -> tuple[Rows, Rows]:
    """Return the memories that were read from a message: those that are over, and those that stand.

    They were said in its moment, and are nearer to it than to what else was said then.
    """
    same_time = np.flatnonzero(shard.alive & (shard.created == shard.created[message]))
    memories: Rows = same_time[shard.kind[same_time] == _MEMORY]
    messages: Rows = same_time[shard.kind[same_time] == _EPISODE]
    if len(messages) > 1 and len(memories):
        cosines = shard.vectors[memories] @ shard.vectors[messages].T
        is_nearest: Mask = messages[np.argmax(cosines, axis=1)] == message
        memories = memories[is_nearest]
    is_over = shard.valid_to[memories] <= moment
    return memories[is_over], memories[~is_over]


# Statements that say the same: the best-fitting wording leads, the others are counted behind it.

Pairs = NDArray[np.bool_]
"""Shape (rows, rows): which rows say the same."""
Groups = dict[int, tuple[int, ...]]
"""Rows that say the same: the one that is shown, and behind it the others, best first."""

_NO_COSINE = 2.0
"""A bound that no cosine reaches."""


def group_duplicates(
    shard: Shard,
    order: Rows,
    *,
    count: int,
    calibration: Calibration | None,
    settings: RecallSettings,
) -> Groups:
    """Return the first `count` groups of the rows in `order` (best first).

    Two rows say the same when the same person said them and their texts are equal, or when their meaning is the same
    and they hold the same numbers: texts that differ in a number never say the same. Where most of the best rows
    repeat each other, less similarity is enough: such a log tells each thing in many wordings. A log without repeats
    would only lose by that.
    """
    similar = same = _NO_COSINE
    if calibration is not None:
        similar = calibration.cosine(settings.alike_similarity)
        same = calibration.cosine(settings.same_similarity)
    first = order[: count + settings.collapse_probe]
    pairs, same_pairs = _pairs_above(shard, first, min_cosines=(similar, same))
    probe = pairs[: settings.collapse_probe, : settings.collapse_probe]
    repeats = int(np.triu(probe, 1).any(axis=0).sum())
    if repeats >= settings.collapse_from:
        rows = order[: settings.collapse_depth]
        return _group(rows, _pairs_above(shard, rows, min_cosines=(similar,))[0], count=count)
    return _group(first, same_pairs, count=count)


def _pairs_above(shard: Shard, rows: Rows, *, min_cosines: Sequence[float]) -> list[Pairs]:
    """Return for each bound the pairs of the same words and speaker, or of the same numbers and a greater cosine."""
    same_text = shard.digest[rows][:, None] == shard.digest[rows]
    same_speaker = shard.actor[rows][:, None] == shard.actor[rows]
    said_alike: Pairs = same_text & same_speaker
    if min(min_cosines) > 1.0:
        return [said_alike] * len(min_cosines)
    same_numbers = shard.numbers[rows][:, None] == shard.numbers[rows]
    vectors = shard.vectors[rows]
    cosines = between(vectors, vectors)
    return [said_alike | (same_numbers & (cosines > min_cosine)) for min_cosine in min_cosines]


def _group(rows: Rows, pairs: Pairs, *, count: int) -> Groups:
    leads: list[int] = []
    groups: dict[int, list[int]] = {}
    has_duplicate = np.count_nonzero(pairs, axis=1) > 1
    for place in range(len(rows)):
        repeated: list[int] = np.flatnonzero(pairs[place, leads]).tolist() if has_duplicate[place] else []
        if repeated:
            lead = leads[repeated[0]]
            groups[lead].append(int(rows[place]))
        elif len(leads) < count:
            leads.append(place)
            groups[place] = []
    return {int(rows[lead]): tuple(behind) for lead, behind in groups.items()}


# How likely a row answers the question, as one number in [0, 1] that means the same for every question.
#
# A logistic model on four things: how far the row stands behind the best one, its rank, how much of the question's
# wording it holds, and how near its meaning is. Fitted on LoCoMo, MemDaily and BEAM with as many questions asked of the
# wrong person's memory, so that a question without an answer gets low scores from its best row on.

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
