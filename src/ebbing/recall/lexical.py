"""The keyword leg: BM25F within one owner, smoothed over neighbouring turns, widened by feedback."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ebbing.index.entry import FIELD_DATE, FIELD_SPEAKER
from ebbing.index.neighbours import Neighbours
from ebbing.index.shard import Shard
from ebbing.language.analyse import TextFlag
from ebbing.recall.tuning import Tuning

Scores = NDArray[np.float64]
"""Shape (rows of the shard,)."""


@dataclass(frozen=True, slots=True)
class Wording:
    """What the words of a question find, per row of the shard."""

    points: Scores
    """BM25F; 0 where no term stands."""
    coverage: Scores
    """Share of the question's terms that the row holds, weighted by rarity, in [0, 1]; unknown terms count as rare."""


def bm25f(shard: Shard, terms: Sequence[int], *, tuning: Tuning) -> Wording:
    """BM25F points and coverage of every row for a bag of distinct term hashes.

    Statistics are the owner's own, over rows that are not gone: nobody else's texts move a score.
    """
    found = shard.postings.find(np.array(terms, dtype=np.uint64))
    if not len(found.rows):
        return Wording(np.zeros(shard.size), np.zeros(shard.size))
    census = shard.census
    held_by = np.bincount(found.term, weights=shard.alive[found.rows], minlength=len(terms))
    idf = np.log1p((census.living - held_by + 0.5) / (held_by + 0.5))
    norm = 1 - tuning.length_norm + tuning.length_norm * shard.length[found.rows] / census.mean_length
    weighted = found.tf / norm
    weighted += tuning.speaker_weight * ((found.fields & FIELD_SPEAKER) != 0)
    weighted += tuning.date_weight * ((found.fields & FIELD_DATE) != 0)
    rarity = idf[found.term]
    points = rarity * weighted * (tuning.k1 + 1) / (tuning.k1 + weighted)
    by_row = np.bincount(found.rows, weights=points, minlength=shard.size).astype(np.float64)
    held = np.bincount(found.rows, weights=rarity, minlength=shard.size).astype(np.float64)
    return Wording(by_row, held / float(idf.sum()))


def smooth(shard: Shard, scores: Scores, *, near: Neighbours, tuning: Tuning) -> Scores:
    """Lets a turn inherit part of its neighbours' scores: an answer rarely repeats the words of its question.

    Between speakers the share depends on who asked: much flows from a question to its answer. Within one speaker's
    own turns little does, unless the whole log has one speaker (a diary).
    """
    asks = (shard.flags & TextFlag.QUESTION) != 0
    padded = np.append(scores, 0.0)
    asked_before = np.append(asks, False)[near.previous]
    if near.one_speaker:
        from_previous = np.full(shard.size, tuning.diary_previous)
        from_next = np.full(shard.size, tuning.diary_next)
    else:
        turn_taken = np.where(asked_before, tuning.from_previous_question, tuning.from_previous)
        from_previous = np.where(near.previous_other, turn_taken, tuning.from_previous_same_speaker)
        answered = np.where(asks, tuning.from_next_answer, tuning.from_next)
        from_next = np.where(near.next_other, answered, tuning.from_next_same_speaker)
    smoothed: Scores = scores + from_previous * padded[near.previous] + from_next * padded[near.next]
    return smoothed


def feedback_terms(shard: Shard, best: NDArray[np.int64], *, asked: Sequence[int], tuning: Tuning) -> list[int]:
    """The rare terms that the best rows hold, most telling first: candidates to widen the question with."""
    if not len(best):
        return []
    held = np.concatenate([shard.postings.terms_of(int(row))["term"] for row in best])
    already = set(asked)
    candidates = np.array([term for term in set(held.tolist()) if term not in already], dtype=np.uint64)
    candidates.sort()
    held_by = shard.postings.held_by(candidates)
    telling = held_by < tuning.feedback_max_share * shard.census.living
    rarest = np.argsort(held_by[telling], kind="stable")[: tuning.feedback_terms]
    return [int(term) for term in candidates[telling][rarest]]
