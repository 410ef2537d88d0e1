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
    living = None if census.all_alive else shard.alive[found.rows]
    held_by = np.bincount(found.term, weights=living, minlength=len(terms))
    idf = np.log1p((census.living - held_by + 0.5) / (held_by + 0.5))
    by_length = tuning.length_norm / census.mean_length
    weighted = found.tf / (shard.length[found.rows] * by_length + (1 - tuning.length_norm))
    if found.fields.any():
        weighted += tuning.speaker_weight * ((found.fields & FIELD_SPEAKER) != 0)
        weighted += tuning.date_weight * ((found.fields & FIELD_DATE) != 0)
    rarity = idf[found.term]
    points = rarity * (weighted / (weighted + tuning.k1))
    points *= tuning.k1 + 1
    by_row = np.bincount(found.rows, weights=points, minlength=shard.size).astype(np.float64)
    held = np.bincount(found.rows, weights=rarity, minlength=shard.size).astype(np.float64)
    return Wording(by_row, held / float(idf.sum()))


def smooth(shard: Shard, scores: Scores, *, near: Neighbours, tuning: Tuning) -> Scores:
    """Lets a turn inherit part of its neighbours' scores: an answer rarely repeats the words of its question.

    Between speakers the share depends on who asked: much flows from a question to its answer. Within one speaker's
    own turns little does, unless the whole log has one speaker (a diary).
    """
    from_previous, from_next = shard.kept("flow", lambda: _flow(shard, near, tuning=tuning))
    # Row −1, which stands for "none", is the last row: its share is 0.
    smoothed: Scores = scores + from_previous * scores[near.previous] + from_next * scores[near.next]
    return smoothed


def _flow(shard: Shard, near: Neighbours, *, tuning: Tuning) -> tuple[Scores, Scores]:
    """Shares that each row inherits from the turn before and from the turn after; 0 where there is none."""
    if near.one_speaker:
        has_previous, has_next = (near.previous >= 0).astype(np.float64), (near.next >= 0).astype(np.float64)
        return tuning.diary_previous * has_previous, tuning.diary_next * has_next
    asks = (shard.flags & TextFlag.QUESTION) != 0
    turn_taken = np.where(asks[near.previous], tuning.from_previous_question, tuning.from_previous)
    answered = np.where(asks, tuning.from_next_answer, tuning.from_next)
    from_previous = np.where(near.previous_other, turn_taken, tuning.from_previous_same_speaker)
    from_next = np.where(near.next_other, answered, tuning.from_next_same_speaker)
    return np.where(near.previous >= 0, from_previous, 0.0), np.where(near.next >= 0, from_next, 0.0)


def feedback_terms(shard: Shard, best: NDArray[np.int64], *, asked: Sequence[int], tuning: Tuning) -> list[int]:
    """The rare terms that the best rows hold, most telling first: candidates to widen the question with."""
    if not len(best):
        return []
    candidates = np.unique(np.concatenate([shard.postings.terms_of(row)["term"] for row in best.tolist()]))
    held_by = shard.postings.held_by(candidates)
    rarest = np.argsort(held_by, kind="stable")[: tuning.feedback_terms + len(asked)]
    rarest = rarest[held_by[rarest] < tuning.feedback_max_share * shard.census.living]
    return [term for term in candidates[rarest].tolist() if term not in asked][: tuning.feedback_terms]
