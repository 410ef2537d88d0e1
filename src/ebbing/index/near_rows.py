"""Which rows of one owner are near each other: in what they say, by vectors or words, or in their conversation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.memory.record import Kind
from ebbing.index.shard import KINDS, Shard
from ebbing.language.text.analyzer import TextFlag

NEAR_PLACES: Final = 4
"""How far apart two turns that follow one another may have been stored: facts are stored between them."""

# Which utterance came just before and just after another, within one session.


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Parallel to the rows of a shard; −1 (the last element of a padded array) stands for "none"."""

    previous: NDArray[np.int64]
    next: NDArray[np.int64]
    previous_other: NDArray[np.bool_]
    """The previous utterance is another speaker's."""
    next_other: NDArray[np.bool_]
    one_speaker: bool
    """The whole log has one speaker: a diary."""
    session: NDArray[np.int64]
    """Number of the session of each row, dense from 0."""
    session_sizes: NDArray[np.int64]


def find_neighbours(shard: Shard) -> Neighbours:
    """Order the living utterances of each run by time said, then by arrival; the shard caches it until it changes."""
    return shard.cached("neighbours", lambda: _find_neighbours(shard))


def _find_neighbours(shard: Shard) -> Neighbours:
    size = shard.size
    utterance = ((shard.flags & TextFlag.UTTERANCE) != 0) & shard.alive
    known_runs, session = np.unique(shard.run, return_inverse=True)
    session, session_sizes = session.astype(np.int64), np.bincount(session, minlength=len(known_runs))
    previous = np.full(size, -1, dtype=np.int64)
    following = np.full(size, -1, dtype=np.int64)
    rows = np.flatnonzero(utterance)
    if not len(rows):
        nobody = np.zeros(size, dtype=np.bool_)
        return Neighbours(previous, following, nobody, nobody, True, session, session_sizes)
    order = rows[np.lexsort((shard.seq[rows], shard.created[rows], shard.run[rows]))]
    adjacent = shard.run[order[1:]] == shard.run[order[:-1]]
    if shard.places is not None:  # between chosen rows others may lie
        adjacent &= np.abs(np.diff(shard.places[order])) <= NEAR_PLACES
    before, after = order[:-1][adjacent], order[1:][adjacent]
    previous[after] = before
    following[before] = after
    speaker = shard.role.astype(np.int64) * (1 << 32) + shard.actor
    padded = np.append(speaker, -1)
    return Neighbours(
        previous=previous,
        next=following,
        previous_other=(previous >= 0) & (padded[previous] != speaker),
        next_other=(following >= 0) & (padded[following] != speaker),
        one_speaker=len(np.unique(speaker[rows])) < 2,
        session=session,
        session_sizes=session_sizes,
    )


# Which rows of one owner are near each other, by their vectors or by the words they share.

Rows = NDArray[np.int64]

_AT_ONCE: Final = 512
"""Rows that are compared with all others at a time: bounds the RAM of a large owner's matrix."""


def _nearness(shard: Shard, rows: Rows, *, others: Rows) -> NDArray[np.float32]:
    """Cosines of shape (rows, others); −1 where the numbers in the two texts differ: they never say the same."""
    numbers = shard.numbers[rows][:, None] == shard.numbers[others][None, :]
    cosines: NDArray[np.float32] = np.where(numbers, shard.vectors[rows] @ shard.vectors[others].T, np.float32(-1))
    return cosines


def near_pairs(shard: Shard, rows: Rows, *, fresh: NDArray[np.bool_], cosine: float) -> tuple[Rows, Rows]:
    """Pairs of different rows with the same numbers and at least this cosine, of which one at least is `fresh`.

    Each pair comes once, as positions in `rows`; rows without a vector are near nothing.
    """
    firsts, seconds = [], []
    candidates = np.flatnonzero(fresh & shard.embedded[rows])
    for start in range(0, len(candidates), _AT_ONCE):
        part = candidates[start : start + _AT_ONCE]
        first, second = np.nonzero(_nearness(shard, rows[part], others=rows) >= cosine)
        first = part[first]
        once = (first < second) | ((first > second) & ~fresh[second])
        firsts.append(first[once])
        seconds.append(second[once])
    return _joined(firsts), _joined(seconds)


def overlapping_pairs(shard: Shard, rows: Rows, *, fresh: NDArray[np.bool_], least: float) -> tuple[Rows, Rows]:
    """Pairs of different rows with the same numbers that share this part of the terms of the shorter one.

    For rows without vectors; otherwise as `near_pairs`.
    """
    place = np.full(shard.size, -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    terms = [_terms_of(shard, int(row)) for row in rows]
    size = np.fromiter(map(len, terms), dtype=np.int64, count=len(rows))
    firsts, seconds = [], []
    for first in np.flatnonzero(fresh).tolist():
        matches = shard.postings.find(terms[first])
        at = place[matches.rows[matches.tf > 0]]
        common = np.bincount(at[at >= 0], minlength=len(rows))
        alike = common >= least * np.maximum(np.minimum(size, size[first]), 1)
        second = np.flatnonzero(alike & (shard.numbers[rows] == shard.numbers[rows[first]]))
        second = second[(second > first) | ((second < first) & ~fresh[second])]
        firsts.append(np.full(len(second), first, dtype=np.int64))
        seconds.append(second)
    return _joined(firsts), _joined(seconds)


def _terms_of(shard: Shard, row: int) -> NDArray[np.uint64]:
    packed = shard.postings.terms_of(row)
    return np.ascontiguousarray(packed["term"][packed["tf"] > 0])


def _joined(parts: list[Rows]) -> Rows:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


# The memories that repeat a message word for word: a question is answered by the one or by the other.

_LOOKED_AT: Final = 4
"""Numbers of a vector that tell it from others of the same moment and speaker …"""
_STEPS: Final = 1_000
"""… each in steps of a thousandth."""
_MEMORY: Final = KINDS.index(Kind.MEMORY)
_EPISODE: Final = KINDS.index(Kind.EPISODE)
_NONE: Final = -1


def without_repeats(shard: Shard, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the mask without memories whose message is in it too.

    The message says as much and stands among those around it. Two rows for one statement would take two places, and
    weigh twice in what scores are compared with.
    """
    message_of = shard.cached("messages of quotations", lambda: _messages_of_quotations(shard))
    repeats = message_of != _NONE
    if not repeats.any():
        return mask
    left = mask.copy()
    left[repeats] &= ~mask[message_of[repeats]]
    return left


def _messages_of_quotations(shard: Shard) -> NDArray[np.int64]:
    """Return for each row the message that it repeats, or −1.

    Both are of the same moment and speaker, and have the same vector: a quotation has that of its message.
    """
    message_of = np.full(shard.size, _NONE, dtype=np.int64)
    has_vector = shard.alive & shard.embedded
    memories = np.flatnonzero(has_vector & (shard.kind == _MEMORY) & (shard.attribute == 0))
    messages = np.flatnonzero(has_vector & (shard.kind == _EPISODE))
    if not len(memories) or not len(messages):
        return message_of
    marks, of_messages = _marks(shard, memories), _marks(shard, messages)
    order = np.argsort(of_messages, kind="stable")
    places = np.minimum(np.searchsorted(of_messages[order], marks), len(order) - 1)
    same = of_messages[order][places] == marks
    message_of[memories[same]] = messages[order][places[same]]
    return message_of


def _marks(shard: Shard, rows: Rows) -> NDArray[np.uint64]:
    """Return for each row a number that rows of the same moment, speaker and vector share."""
    parts = np.rint(_STEPS * shard.vectors[rows, :_LOOKED_AT]).astype(np.int64)
    columns = [shard.created[rows], shard.actor[rows].astype(np.int64), *parts.T]
    marks = np.zeros(len(rows), dtype=np.uint64)
    for column in columns:
        marks = (marks ^ column.astype(np.uint64)) * _FACTOR
        marks ^= marks >> _SHIFT
    return marks


_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)
_SHIFT: Final = np.uint64(29)


# In which order rows are written to a graph.

Matrix = NDArray[np.float32]

_ROWS_OF_A_CELL: Final = 250
_ROWS_FOR_A_LEADER: Final = 10
_ROWS_AT_ONCE: Final = 2_000


def side_by_side(vectors: Matrix, rows: Rows) -> Rows:
    """Return rows in an order in which near ones mostly follow one another.

    A graph on disk that is built in this order has near rows in the same pages. Every tenth row comes first, as it is:
    where a graph begins with rows from everywhere, a search does not end in a wrong corner of it.
    """
    is_leader = np.arange(len(rows)) % _ROWS_FOR_A_LEADER == 0
    others = rows[~is_leader]
    centres = vectors[rows[::_ROWS_OF_A_CELL]]
    cells = np.zeros(len(others), dtype=np.int64)
    for start in range(0, len(others), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        cells[part] = np.argmax(vectors[others[part]] @ centres.T, axis=1)
    return np.concatenate((rows[is_leader], others[np.argsort(cells, kind="stable")]))


# Products of vectors in the thread of whoever asks.
#
# BLAS hands a larger product to threads of its own, and waits for the last of them: where other programs want the same
# processors, that makes of half a millisecond fifteen. So what a search multiplies goes to it piece by piece.

_PIECE: Final = 1 << 18
"""Multiplications of one piece: OpenBLAS uses no other thread for so many."""


def along(matrix: Matrix, vector: Matrix) -> Matrix:
    """Dot products of each row, shape (rows,), with one vector."""
    step = max(1, _PIECE // max(len(vector), 1))
    if len(matrix) <= step:
        products: Matrix = matrix.dot(vector)
        return products
    products = np.empty(len(matrix), dtype=np.float32)
    for at in range(0, len(matrix), step):
        np.matmul(matrix[at : at + step], vector, out=products[at : at + step])
    return products


def between(rows: Matrix, others: Matrix) -> Matrix:
    """Dot products of each row with each other one, shape (rows, others)."""
    step = max(1, int((_PIECE / max(rows.shape[1], 1)) ** 0.5))
    products = np.empty((len(rows), len(others)), dtype=np.float32)
    for first in range(0, len(rows), step):
        for second in range(0, len(others), step):
            piece = (slice(first, first + step), slice(second, second + step))
            np.matmul(rows[piece[0]], others[piece[1]].T, out=products[piece])
    return products
