"""The keyword leg: BM25F within one owner, smoothed over neighbouring turns, widened by feedback."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ebbing.index.index_entry import FIELD_ASKED, FIELD_DATE, FIELD_SPEAKER
from ebbing.index.postings import Found, Segment
from ebbing.index.shard import Shard
from ebbing.index.turn_neighbours import Neighbours
from ebbing.language.text.analyzer import TextFlag
from ebbing.recall.base.recall_settings import RecallSettings

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


def bm25f(shard: Shard, terms: Sequence[int], *, recall_settings: RecallSettings) -> Wording:
    """BM25F points and coverage of every row for a bag of distinct term hashes.

    Statistics are the owner's own, over rows that are not gone: nobody else's texts move a score.
    """
    segment = shard.postings.only
    if segment is not None and segment.postings <= WEIGHED_POSTINGS and shard.is_asked_often:
        return shard.kept("weighed", lambda: _Weighed(shard, segment, recall_settings=recall_settings)).wording(terms)
    found = shard.postings.find(np.array(terms, dtype=np.uint64))
    if not len(found.rows):
        return Wording(np.zeros(shard.size), np.zeros(shard.size))
    idf, points = _weigh(shard, found, terms=len(terms), recall_settings=recall_settings)
    by_row = np.bincount(found.rows, weights=points, minlength=shard.size).astype(np.float64)
    held = np.bincount(found.rows, weights=idf[found.term], minlength=shard.size).astype(np.float64)
    return Wording(by_row, held / float(idf.sum()))


class _Weighed:
    """What every posting of a small shard is worth, worked out at once: a question then adds up a few slices.

    All is added up in one sum, which has a place for the points of each row, behind them one for the rarities that each
    row holds, and a last one for the rarities of all that is asked.
    """

    def __init__(self, shard: Shard, segment: Segment, *, recall_settings: RecallSettings) -> None:
        every, bounds = segment.everything(), segment.bounds.astype(np.int64)
        self._size = size = shard.size
        # What stays is made before what goes again: made after it, it would leave holes in the process's memory.
        # A row of it is a place and what is added there, a float in the bytes of the whole number.
        self._postings = np.empty((2 * len(every.rows) + len(segment.terms), 2), dtype=np.int64)
        place, worth = self._postings[:, 0], self._postings.view(np.float64)[:, 1]
        idf, points = _weigh(shard, every, terms=len(segment.terms), recall_settings=recall_settings)
        # One slice a term: its postings with their points, again with its rarity, and its rarity.
        number = np.arange(len(idf))
        first = np.arange(len(every.rows)) + (bounds[:-1] + number)[every.term]
        place[first], worth[first] = every.rows, points
        first += np.diff(bounds)[every.term]
        place[first], worth[first] = every.rows + size, idf[every.term]
        last = 2 * bounds[1:] + number
        place[last], worth[last] = 2 * size, idf
        # No arrays of numpy: a handful of terms is found sooner by bisection. No lists: they take five times the room.
        self._terms, self._bounds = array("Q", segment.terms.tobytes()), array("q", (2 * bounds).tobytes())
        rarest = _idf(shard.census.living, np.zeros(1))
        self._unheard_of = np.stack((np.array([2 * size]), rarest.view(np.int64)), axis=1)
        self._looked_up: dict[int, NDArray[np.int64]] = {}

    def wording(self, asked: Sequence[int]) -> Wording:
        """Points and coverage for distinct term hashes."""
        size, known = self._size, self._looked_up.get
        if not asked:
            return Wording(np.zeros(size), np.zeros(size))
        postings = np.concatenate([self._look_up(term) if (one := known(term)) is None else one for term in asked])
        worth = postings.view(np.float64)[:, 1]
        added: Scores = np.bincount(postings[:, 0], worth, 2 * size + 1)  # type: ignore[assignment]
        return Wording(added[:size], added[size:-1] / added[-1])

    def _look_up(self, term: int) -> NDArray[np.int64]:
        """The postings of a term; kept, since words are asked for again."""
        terms, found = self._terms, self._unheard_of
        at = bisect_left(terms, term)
        if at < len(terms) and terms[at] == term:
            found = self._postings[self._bounds[at] + at : self._bounds[at + 1] + at + 1]
        if len(self._looked_up) >= LOOKED_UP:
            self._looked_up.clear()
        self._looked_up[term] = found
        return found


def _weigh(shard: Shard, found: Found, *, terms: int, recall_settings: RecallSettings) -> tuple[Scores, Scores]:
    """The rarity of each term, and the BM25F points of each posting."""
    census = shard.census
    living = None if census.all_alive else shard.alive[found.rows]
    idf = _idf(census.living, np.bincount(found.term, weights=living, minlength=terms))
    by_length = recall_settings.length_norm / census.mean_length
    weighted = found.tf / (shard.length[found.rows] * by_length + (1 - recall_settings.length_norm))
    if found.fields.any():
        weighted += recall_settings.speaker_weight * ((found.fields & FIELD_SPEAKER) != 0)
        weighted += recall_settings.date_weight * ((found.fields & FIELD_DATE) != 0)
        weighted += recall_settings.asked_weight * ((found.fields & FIELD_ASKED) != 0)
    points: Scores = idf[found.term] * (weighted / (weighted + recall_settings.k1)) * (recall_settings.k1 + 1)
    return idf, points


def _idf(living: int, held_by: NDArray[Any]) -> Scores:
    rarity: Scores = np.log1p((living - held_by + 0.5) / (held_by + 0.5))
    return rarity


def smooth(shard: Shard, scores: Scores, *, near: Neighbours, recall_settings: RecallSettings) -> Scores:
    """Lets a turn inherit part of its neighbours' scores: an answer rarely repeats the words of its question.

    Between speakers the share depends on who asked: much flows from a question to its answer. Within one speaker's
    own turns little does, unless the whole log has one speaker (a diary).
    """
    flow = shard.kept("flow", lambda: _flow(shard, near, recall_settings=recall_settings))
    if flow is None:
        return scores
    either, share = flow
    smoothed: Scores = scores + np.add.reduce(share * scores.take(either))
    return smoothed


def _flow(
    shard: Shard, near: Neighbours, *, recall_settings: RecallSettings
) -> tuple[NDArray[np.int64], Scores] | None:
    """The turns before and after each row, and the shares that it inherits from them, both of shape (2, rows).

    Row −1, which stands for "none", is the last row: its share is 0. None where no row has a neighbour: memories that
    are no utterances have none.
    """
    either = np.stack((near.previous, near.next))
    there = either >= 0
    if not there.any():
        return None
    if near.one_speaker:
        return either, np.array([[recall_settings.diary_previous], [recall_settings.diary_next]]) * there
    asks = (shard.flags & TextFlag.QUESTION) != 0
    turn_taken = np.where(asks[near.previous], recall_settings.from_previous_question, recall_settings.from_previous)
    answered = np.where(asks, recall_settings.from_next_answer, recall_settings.from_next)
    from_previous = np.where(near.previous_other, turn_taken, recall_settings.from_previous_same_speaker)
    from_next = np.where(near.next_other, answered, recall_settings.from_next_same_speaker)
    return either, np.where(there, (from_previous, from_next), 0.0)


def feedback_terms(
    shard: Shard, best: NDArray[np.int64], *, asked: Sequence[int], recall_settings: RecallSettings
) -> list[int]:
    """The rare terms that the best rows hold, most telling first: candidates to widen the question with."""
    if not len(best):
        return []
    candidates = np.unique(np.concatenate([shard.postings.terms_of(row)["term"] for row in best.tolist()]))
    held_by = shard.postings.held_by(candidates)
    rarest = np.argsort(held_by, kind="stable")[: recall_settings.feedback_terms + len(asked)]
    rarest = rarest[held_by[rarest] < recall_settings.feedback_max_share * shard.census.living]
    return [term for term in candidates[rarest].tolist() if term not in asked][: recall_settings.feedback_terms]
