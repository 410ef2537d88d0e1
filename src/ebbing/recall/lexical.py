"""The keyword leg: BM25F within one owner, smoothed over neighbouring turns, widened by feedback."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ebbing.index.entry import FIELD_DATE, FIELD_SPEAKER
from ebbing.index.neighbours import Neighbours
from ebbing.index.shard import Shard
from ebbing.language.analyse import TextFlag
from ebbing.recall.tuning import Tuning

Scores = NDArray[np.float64]
"""Shape (rows of the shard,)."""


def bm25f(shard: Shard, terms: Sequence[int], *, tuning: Tuning, weights: Sequence[float] | None = None) -> Scores:
    """BM25F points of every row for a bag of term hashes; 0 where no term stands.

    Statistics are the owner's own, over rows that are not gone: nobody else's texts move a score.
    """
    scores = np.zeros(shard.size)
    found = [(posting, at) for at, term in enumerate(terms) if (posting := shard.postings.posting(term)) is not None]
    if not found:
        return scores
    alive = shard.alive
    living = max(int(alive.sum()), 1)
    mean_length = max(float(shard.length.sum(where=alive)) / living, 1.0)
    norm = 1 - tuning.length_norm + tuning.length_norm * shard.length / mean_length
    for posting, at in found:
        keep = posting.rows < shard.size
        rows = posting.rows if keep.all() else posting.rows[keep]
        tf, fields = posting.tf[: len(rows)], posting.fields[: len(rows)]
        held_by = int(alive[rows].sum())
        if not held_by:
            continue
        idf = np.log1p((living - held_by + 0.5) / (held_by + 0.5))
        weighted = tf / norm[rows]
        weighted += tuning.speaker_weight * ((fields & FIELD_SPEAKER) != 0)
        weighted += tuning.date_weight * ((fields & FIELD_DATE) != 0)
        points = idf * weighted * (tuning.k1 + 1) / (tuning.k1 + weighted)
        scores[rows] += points if weights is None else points * weights[at]
    return scores


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


def feedback_terms(shard: Shard, best: NDArray[np.int64], *, asked: set[int], tuning: Tuning) -> list[int]:
    """The rare terms that the best rows share, most telling first: candidates to widen the question with."""
    living = max(int(shard.alive.sum()), 1)
    seen: dict[int, float] = {}
    for row in best:
        for term in shard.postings.terms_of(int(row))["term"].tolist():
            if term not in asked:
                seen[term] = seen.get(term, 0.0) + 1.0
    telling: list[tuple[float, int]] = []
    for term in seen:
        posting = shard.postings.posting(term)
        held_by = len(posting.rows) if posting is not None else 0
        if 0 < held_by < tuning.feedback_max_share * living:
            telling.append((float(np.log1p((living - held_by + 0.5) / (held_by + 0.5))), term))
    telling.sort(reverse=True)
    return [term for _, term in telling[: tuning.feedback_terms]]
