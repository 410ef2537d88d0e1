"""The keyword retriever: BM25F within one owner, smoothed over neighbouring turns, widened by feedback."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ebbing.index.index_entry import FIELD_ASKED, FIELD_DATE, FIELD_SPEAKER
from ebbing.index.near_rows import Neighbours
from ebbing.index.postings import TermMatches
from ebbing.index.shard import Shard
from ebbing.language.text.analyzer import TextFlag
from ebbing.recall.recall_settings import RecallSettings
from ebbing.recall.rows import Scores


@dataclass(frozen=True, slots=True)
class LexicalScores:
    """The keyword scores of every row of a shard."""

    points: Scores
    """BM25F; 0 where no term stands."""
    coverage: Scores
    """Share of the question's terms that the row holds, weighted by rarity, in [0, 1]; unknown terms count as rare."""


def bm25f(shard: Shard, terms: Sequence[int], *, settings: RecallSettings) -> LexicalScores:
    """Return BM25F points and coverage of every row for a bag of distinct term hashes.

    The statistics are the owner's own, over rows that are not gone: nobody else's texts move a score.
    """
    hashes = np.array(terms, dtype=np.uint64)
    matches = shard.postings.find(hashes)
    if not len(matches.rows):
        return LexicalScores(np.zeros(shard.size), np.zeros(shard.size))
    idf, points = weigh(shard, matches, terms=hashes, settings=settings)
    rarity = idf[matches.term]
    points_by_row = np.bincount(matches.rows, weights=points, minlength=shard.size)
    rarity_by_row = np.bincount(matches.rows, weights=rarity, minlength=shard.size)
    return LexicalScores(points_by_row.astype(np.float64), rarity_by_row / float(idf.sum()))


def weigh(
    shard: Shard, matches: TermMatches, *, terms: NDArray[np.uint64], settings: RecallSettings
) -> tuple[Scores, Scores]:
    """Return the rarity of each term, and the BM25F points of each posting."""
    stats = shard.corpus_stats
    idf = _idf(stats.living, shard.document_count(terms, matches))
    relative_length = shard.length[matches.rows] / stats.mean_length
    frequency = matches.tf / (1 - settings.length_norm + settings.length_norm * relative_length)
    if matches.fields.any():
        frequency += settings.speaker_weight * ((matches.fields & FIELD_SPEAKER) != 0)
        frequency += settings.date_weight * ((matches.fields & FIELD_DATE) != 0)
        frequency += settings.asked_weight * ((matches.fields & FIELD_ASKED) != 0)
    saturated = frequency / (frequency + settings.k1) * (settings.k1 + 1)
    points: Scores = idf[matches.term] * saturated
    return idf, points


def _idf(living: int, document_count: NDArray[Any]) -> Scores:
    rarity: Scores = np.log1p((living - document_count + 0.5) / (document_count + 0.5))
    return rarity


def smooth(shard: Shard, scores: Scores, *, neighbours: Neighbours, settings: RecallSettings) -> Scores:
    """Let a turn inherit part of its neighbours' scores: an answer rarely repeats the words of its question.

    Between speakers the share depends on who asked: much flows from a question to its answer. Within one speaker's
    own turns little does, unless the whole log has one speaker (a diary).
    """
    flow = shard.cached("score flow", lambda: _score_flow(shard, neighbours, settings=settings))
    if flow is None:
        return scores
    sources, shares = flow
    inherited = np.add.reduce(shares * scores.take(sources))
    return np.asarray(scores + inherited)


def _score_flow(
    shard: Shard, neighbours: Neighbours, *, settings: RecallSettings
) -> tuple[NDArray[np.int64], Scores] | None:
    """Return the turns before and after each row, and the shares that it inherits of them, both of shape (2, rows).

    Row −1, which stands for "none", is the last row: its share is 0. Return None where no row has a neighbour:
    memories that are no utterances have none.
    """
    sources = np.stack((neighbours.previous, neighbours.next))
    has_neighbour = sources >= 0
    if not has_neighbour.any():
        return None
    if neighbours.one_speaker:
        shares = np.array([[settings.diary_previous], [settings.diary_next]])
        return sources, shares * has_neighbour
    asks = (shard.flags & TextFlag.QUESTION) != 0
    from_other_before = np.where(asks[neighbours.previous], settings.from_previous_question, settings.from_previous)
    from_other_after = np.where(asks, settings.from_next_answer, settings.from_next)
    from_previous = np.where(neighbours.previous_other, from_other_before, settings.from_previous_same_speaker)
    from_next = np.where(neighbours.next_other, from_other_after, settings.from_next_same_speaker)
    return sources, np.where(has_neighbour, (from_previous, from_next), 0.0)


def feedback_terms(
    shard: Shard, best: NDArray[np.int64], *, query_terms: Sequence[int], settings: RecallSettings
) -> list[int]:
    """Return the rare terms that the best rows hold, rarest first: candidates to widen the question with."""
    if not len(best):
        return []
    terms_of_rows = [shard.postings.terms_of(row)["term"] for row in best.tolist()]
    candidates = np.unique(np.concatenate(terms_of_rows))
    document_count = shard.document_count(candidates)
    rarest = np.argsort(document_count, kind="stable")[: settings.feedback_terms + len(query_terms)]
    max_count = settings.feedback_max_share * shard.corpus_stats.living
    rarest = rarest[document_count[rarest] < max_count]
    terms = [term for term in candidates[rarest].tolist() if term not in query_terms]
    return terms[: settings.feedback_terms]
