"""Which rows of one owner hold a term: an inverted index in a few flat arrays, asked for many terms at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ebbing.index.index_entry import TERM, Terms

TAIL_ROWS = 256
"""Rows that may wait in the small tail segment before both are merged; keeps an append from sorting everything."""
FEW_POSTINGS: Final = 2_048
"""Of a segment, up to which it is looked through instead: to invert it takes as long as four questions do then."""

Hashes = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Found:
    """Where some terms stand: parallel arrays, one element for each row that holds one of them."""

    term: NDArray[np.int64]
    """Position of the term in the question."""
    rows: NDArray[np.int32]
    tf: NDArray[np.uint16]
    fields: NDArray[np.uint8]


class _Inverted(NamedTuple):
    """The postings of some rows term by term, each term's by row."""

    terms: Hashes
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    rows: NDArray[np.int32]
    tf: NDArray[np.uint16]
    fields: NDArray[np.uint8]


class Segment:
    """An immutable inverted index over `count` rows from `first` on, with the forward lists it is made from.

    It is inverted when that is first worth it: a conversation adds a few rows and asks once, for a few terms.
    """

    __slots__ = ("_hashes", "_inverted", "count", "first", "forward", "offsets")

    def __init__(self, first: int, forward: Terms, *, lengths: NDArray[np.int64]) -> None:
        self.first, self.forward, self.count = first, forward, len(lengths)
        self.offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
        lengths.cumsum(out=self.offsets[1:])
        self._hashes = np.ascontiguousarray(forward["term"])
        self._inverted: _Inverted | None = None
        if len(self._hashes) > FEW_POSTINGS:
            self._in_terms()

    def spans(self, terms: Hashes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the rows of each term begin in the inverted arrays, and how many there are (0: unknown term)."""
        known = self._in_terms()
        if not len(known.terms):
            nothing = np.zeros(len(terms), dtype=np.int64)
            return nothing, nothing
        at = np.minimum(np.searchsorted(known.terms, terms), len(known.terms) - 1)
        there = known.terms[at] == terms
        starts = np.where(there, known.starts[at], 0)
        return starts, np.where(there, known.ends[at] - starts, 0)

    def find(self, terms: Hashes) -> Found:
        """Every row that holds one of the terms, term by term in the order asked."""
        if self._is_looked_through:
            asked, picked = self._looked_up(terms)
            rows = self.offsets.searchsorted(picked, "right") + (self.first - 1)
            found = self.forward[picked]
            return Found(asked, rows.astype(np.int32), found["tf"], found["fields"])
        known = self._in_terms()
        starts, counts = self.spans(terms)
        before = np.cumsum(counts) - counts
        picked = np.arange(int(counts.sum())) + np.repeat(starts - before, counts)
        asked = np.repeat(np.arange(len(terms)), counts)
        return Found(asked, known.rows[picked], known.tf[picked], known.fields[picked])

    def held_by(self, terms: Hashes) -> NDArray[np.int64]:
        """How many rows hold each term."""
        if self._is_looked_through:
            return np.bincount(self._looked_up(terms)[0], minlength=len(terms))
        return self.spans(terms)[1]

    @property
    def _is_looked_through(self) -> bool:
        return self._inverted is None and len(self._hashes) <= FEW_POSTINGS

    def _looked_up(self, terms: Hashes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Which of the distinct terms stands where among the postings: term by term in the order asked, then by row."""
        if not len(terms):
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        order = terms.argsort()
        at = order.take(terms[order].searchsorted(self._hashes), mode="clip")
        places = np.flatnonzero(terms[at] == self._hashes)
        asked = at[places]
        by_term = asked.argsort(kind="stable")
        return asked[by_term], places[by_term]

    def _in_terms(self) -> _Inverted:
        if self._inverted is None:
            order = _stable_order(self._hashes)
            rows = np.repeat(np.arange(self.first, self.first + self.count, dtype=np.int32), self.lengths)
            ordered = self._hashes[order]
            is_first = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
            starts = np.flatnonzero(is_first)
            ends = np.append(starts[1:], len(order))
            tf, fields = self.forward["tf"][order], self.forward["fields"][order]
            self._inverted = _Inverted(ordered[starts], starts, ends, rows[order], tf, fields)
        return self._inverted

    @property
    def postings(self) -> int:
        """How many there are."""
        return len(self.forward)

    @property
    def terms(self) -> Hashes:
        """The distinct terms in ascending order."""
        return self._in_terms().terms

    @property
    def bounds(self) -> NDArray[np.int64]:
        """Where the postings of each term begin in `everything`, and behind the last one their end."""
        return np.append(self._in_terms().starts, len(self.forward))

    def everything(self) -> Found:
        """Every posting, term by term in the order of their hashes."""
        known = self._in_terms()
        asked = np.repeat(np.arange(len(known.terms)), known.ends - known.starts)
        return Found(asked, known.rows, known.tf, known.fields)

    def terms_of(self, row: int) -> Terms:
        """The packed terms of one row."""
        at = row - self.first
        return self.forward[self.offsets[at] : self.offsets[at + 1]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Distinct terms of each row."""
        return np.diff(self.offsets)

    @property
    def nbytes(self) -> int:
        """Bytes of RAM."""
        terms = self.postings if self._inverted is None else len(self._inverted.terms)
        return int(self.forward.nbytes + self.offsets.nbytes + 15 * self.postings + 24 * terms)


class Postings:
    """Segments in row order: one large, one small tail. Rows are only ever added at the end."""

    __slots__ = ("_segments", "nbytes", "rows")

    def __init__(self, segments: tuple[Segment, ...] = ()) -> None:
        self._segments = segments
        self.rows = sum(segment.count for segment in segments)
        self.nbytes = sum(segment.nbytes for segment in segments)

    @property
    def only(self) -> Segment | None:
        """The one segment that holds everything, as long as there is just one."""
        return self._segments[0] if len(self._segments) == 1 else None

    def extended(self, packed: Sequence[bytes]) -> Postings:
        """A new index with one more row for each list of `TERM`s; this one stays as it is for readers that hold it."""
        if not packed:
            return self
        forward: Terms = np.frombuffer(b"".join(packed), dtype=TERM)
        lengths = np.fromiter(map(len, packed), dtype=np.int64, count=len(packed)) // TERM.itemsize
        tail = self._segments[-1] if self._segments else None
        if len(self._segments) < 2 and self.rows >= TAIL_ROWS:
            return Postings((*self._segments, Segment(self.rows, forward, lengths=lengths)))
        if tail is None or tail.count + len(packed) > max(TAIL_ROWS, self.rows // 8):
            return Postings((_joined(self._segments, forward, lengths=lengths),))
        return Postings((*self._segments[:-1], _joined((tail,), forward, lengths=lengths)))

    def find(self, terms: Hashes) -> Found:
        """Every row that holds one of the terms (64-bit hashes, distinct), in no particular order."""
        found = [segment.find(terms) for segment in self._segments]
        if len(found) == 1:
            return found[0]
        if not found:
            found = [Segment(0, np.empty(0, dtype=TERM), lengths=np.empty(0, dtype=np.int64)).find(terms)]
        return Found(
            np.concatenate([part.term for part in found]),
            np.concatenate([part.rows for part in found]),
            np.concatenate([part.tf for part in found]),
            np.concatenate([part.fields for part in found]),
        )

    def held_by(self, terms: Hashes) -> NDArray[np.int64]:
        """How many rows hold each term, shape (terms,)."""
        counts = np.zeros(len(terms), dtype=np.int64)
        for segment in self._segments:
            counts += segment.held_by(terms)
        return counts

    def terms_of(self, row: int) -> Terms:
        """The packed terms of one row."""
        for segment in self._segments:
            if row < segment.first + segment.count:
                return segment.terms_of(row)
        raise IndexError(row)


def _joined(segments: Sequence[Segment], forward: Terms, *, lengths: NDArray[np.int64]) -> Segment:
    """One segment over the rows of several and of more rows after them."""
    if not segments:
        return Segment(0, forward, lengths=lengths)
    # Joined as bytes: numpy copies records of an odd length one by one.
    lists = [part.view(np.uint8) for part in (*(segment.forward for segment in segments), forward)]
    return Segment(
        segments[0].first,
        np.concatenate(lists).view(TERM),
        lengths=np.concatenate([*(segment.lengths for segment in segments), lengths]),
    )


def _stable_order(hashes: Hashes) -> NDArray[np.int64]:
    """The positions in the order of their hashes, and within one hash ascending.

    Sorting numbers is several times faster than sorting positions by them, so the low bits of each hash give way to
    its position. Where two hashes differ in those bits alone, that may not be their order: then positions are sorted.
    """
    bits = np.uint64(max(len(hashes) - 1, 1).bit_length())
    low = (np.uint64(1) << bits) - np.uint64(1)
    keys = (hashes & ~low) | np.arange(len(hashes), dtype=np.uint64)
    keys.sort()
    order = (keys & low).astype(np.int64)
    ordered = hashes[order]
    return np.argsort(hashes, kind="stable") if bool((ordered[1:] < ordered[:-1]).any()) else order
