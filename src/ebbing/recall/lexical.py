"""The keyword leg: BM25F within one owner, smoothed over neighbouring turns, widened by feedback."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ebbing.index.entry import FIELD_ASKED, FIELD_DATE, FIELD_SPEAKER
from ebbing.index.neighbours import Neighbours
from ebbing.index.postings import Found, Segment
from ebbing.index.shard import Shard
from ebbing.language.analyse import TextFlag
from ebbing.recall.tuning import Tuning

Scores = NDArray[np.float64]
"""Shape (rows of the shard,)."""

LOOKED_UP: Final = 256
"""Terms of an owner of which it is kept where they stand: 50 KiB at most."""
WEIGHED_POSTINGS: Final = 16_384
"""Postings of an owner (1,000 memories of a sentence or two) up to which each is weighed once, until a row changes."""


@dataclass(slots=True)
class Wording:
    """What the words of a question find, per row of the shard. Not frozen, like `Hit`, for speed."""

    points: Scores
    """BM25F; 0 where no term stands."""
    coverage: Scores
    """Share of the question's terms that the row holds, weighted by rarity, in [0, 1]; unknown terms count as rare."""


def bm25f(shard: Shard, terms: Sequence[int], *, tuning: Tuning) -> Wording:
    """BM25F points and coverage of every row for a bag of distinct term hashes.

    Statistics are the owner's own, over rows that are not gone: nobody else's texts move a score.
    """
    segment = shard.postings.only
    if segment is not None and segment.postings <= WEIGHED_POSTINGS:
        return shard.kept("weighed", lambda: _Weighed(shard, segment, tuning=tuning)).wording(terms)
    found = shard.postings.find(np.array(terms, dtype=np.uint64))
    if not len(found.rows):
        return Wording(np.zeros(shard.size), np.zeros(shard.size))
    idf, points = _weigh(shard, found, terms=len(terms), tuning=tuning)
    by_row = np.bincount(found.rows, weights=points, minlength=shard.size).astype(np.float64)
    held = np.bincount(found.rows, weights=idf[found.term], minlength=shard.size).astype(np.float64)
    return Wording(by_row, held / float(idf.sum()))


class _Weighed:
    """What every posting of a small shard is worth, worked out at once: a question then adds up a few slices."""

    def __init__(self, shard: Shard, segment: Segment, *, tuning: Tuning) -> None:
        every = segment.everything()
        idf, points = _weigh(shard, every, terms=len(segment.terms), tuning=tuning)
        self._size = shard.size
        # Side by side, and so one slice a term.
        self._postings = np.stack((every.rows.astype(np.float64), points, idf[every.term]), axis=1)
        # No arrays of numpy: a handful of terms is found sooner by bisection. No lists: they take five times the room.
        self._terms, self._idf = array("Q", segment.terms.tobytes()), array("d", idf.tobytes())
        self._bounds = array("q", segment.bounds.astype(np.int64).tobytes())
        self._unheard_of = float(_idf(shard.census.living, np.zeros(1))[0])
        self._looked_up: dict[int, tuple[NDArray[np.float64] | None, float]] = {}

    def wording(self, asked: Sequence[int]) -> Wording:
        """Points and coverage for distinct term hashes."""
        looked_up = self._looked_up.get
        told = [looked_up(term) or self._look_up(term) for term in asked]
        idf = sum(rarity for _, rarity in told)
        found = [postings for postings, _ in told if postings is not None]
        if not found:
            return Wording(np.zeros(self._size), np.zeros(self._size))
        postings = np.concatenate(found)
        rows = postings[:, 0].astype(np.int64)
        by_row: Scores = np.bincount(rows, weights=postings[:, 1], minlength=self._size)  # type: ignore[assignment]
        held: Scores = np.bincount(rows, weights=postings[:, 2], minlength=self._size)  # type: ignore[assignment]
        return Wording(by_row, held / idf)

    def _look_up(self, term: int) -> tuple[NDArray[np.float64] | None, float]:
        """The postings of a term, None where it has none, and its rarity; kept, since words are asked for again."""
        terms = self._terms
        at = bisect_left(terms, term)
        found: tuple[NDArray[np.float64] | None, float] = (None, self._unheard_of)
        if at < len(terms) and terms[at] == term:
            found = (self._postings[self._bounds[at] : self._bounds[at + 1]], self._idf[at])
        if len(self._looked_up) >= LOOKED_UP:
            self._looked_up.clear()
        self._looked_up[term] = found
        return found


def _weigh(shard: Shard, found: Found, *, terms: int, tuning: Tuning) -> tuple[Scores, Scores]:
    """The rarity of each term, and the BM25F points of each posting."""
    census = shard.census
    living = None if census.all_alive else shard.alive[found.rows]
    idf = _idf(census.living, np.bincount(found.term, weights=living, minlength=terms))
    by_length = tuning.length_norm / census.mean_length
    weighted = found.tf / (shard.length[found.rows] * by_length + (1 - tuning.length_norm))
    if found.fields.any():
        weighted += tuning.speaker_weight * ((found.fields & FIELD_SPEAKER) != 0)
        weighted += tuning.date_weight * ((found.fields & FIELD_DATE) != 0)
        weighted += tuning.asked_weight * ((found.fields & FIELD_ASKED) != 0)
    points: Scores = idf[found.term] * (weighted / (weighted + tuning.k1)) * (tuning.k1 + 1)
    return idf, points


def _idf(living: int, held_by: NDArray[Any]) -> Scores:
    rarity: Scores = np.log1p((living - held_by + 0.5) / (held_by + 0.5))
    return rarity


def smooth(shard: Shard, scores: Scores, *, near: Neighbours, tuning: Tuning) -> Scores:
    """Lets a turn inherit part of its neighbours' scores: an answer rarely repeats the words of its question.

    Between speakers the share depends on who asked: much flows from a question to its answer. Within one speaker's
    own turns little does, unless the whole log has one speaker (a diary).
    """
    flow = shard.kept("flow", lambda: _flow(shard, near, tuning=tuning))
    if flow is None:
        return scores
    from_previous, from_next = flow
    # Row −1, which stands for "none", is the last row: its share is 0.
    smoothed: Scores = scores + from_previous * scores.take(near.previous) + from_next * scores.take(near.next)
    return smoothed


def _flow(shard: Shard, near: Neighbours, *, tuning: Tuning) -> tuple[Scores, Scores] | None:
    """Shares that each row inherits from the turn before and from the turn after, 0 where there is none.

    None where no row has a neighbour: memories that are no utterances have none.
    """
    if not ((near.previous >= 0).any() or (near.next >= 0).any()):
        return None
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
