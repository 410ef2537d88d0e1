"""Which rows of one owner hold a term: an inverted index in a few flat arrays, asked for many terms at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ebbing.index.index_entry import TERM, Terms

TAIL_ROWS: Final = 256
"""Rows that may wait in the last segment; keeps an append from sorting everything."""
MERGE_RATIO: Final = 8
"""A full segment is merged with the one before it, unless that one has so many times its rows: a write then sorts few
rows on average, however many there are."""

Hashes = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class TermMatches:
    """The rows that hold some terms: parallel arrays, with an element for each term of each row."""

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

    It is inverted at the first question: several writes may come before it.
    """

    __slots__ = ("_inverted", "count", "first", "forward", "offsets")

    def __init__(self, first: int, forward: Terms, *, lengths: NDArray[np.int64]) -> None:
        self.first, self.forward, self.count = first, forward, len(lengths)
        self.offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
        lengths.cumsum(out=self.offsets[1:])
        self._inverted: _Inverted | None = None

    def spans(self, terms: Hashes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where the rows of each term begin in the inverted arrays, and their number (0: unknown term)."""
        inverted = self.inverted()
        if not len(inverted.terms):
            zeros = np.zeros(len(terms), dtype=np.int64)
            return zeros, zeros
        position = np.minimum(np.searchsorted(inverted.terms, terms), len(inverted.terms) - 1)
        is_indexed = inverted.terms[position] == terms
        starts = np.where(is_indexed, inverted.starts[position], 0)
        counts = np.where(is_indexed, inverted.ends[position] - starts, 0)
        return starts, counts

    def find(self, terms: Hashes) -> TermMatches:
        """Return every row that holds one of the terms, term by term in the given order."""
        inverted = self.inverted()
        starts, counts = self.spans(terms)
        first = np.cumsum(counts) - counts
        places = np.arange(int(counts.sum())) + np.repeat(starts - first, counts)
        term = np.repeat(np.arange(len(terms)), counts)
        return TermMatches(term, inverted.rows[places], inverted.tf[places], inverted.fields[places])

    def document_count(self, terms: Hashes) -> NDArray[np.int64]:
        """Return how many rows hold each term."""
        return self.spans(terms)[1]

    def inverted(self) -> _Inverted:
        """Return the postings term by term."""
        if self._inverted is None:
            hashes = np.ascontiguousarray(self.forward["term"])
            order = _stable_order(hashes)
            rows = np.repeat(np.arange(self.first, self.first + self.count, dtype=np.int32), self.lengths)
            ordered = hashes[order]
            is_first = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
            starts = np.flatnonzero(is_first)
            ends = np.append(starts[1:], len(order))
            tf = self.forward["tf"][order]
            fields = self.forward["fields"][order]
            self._inverted = _Inverted(ordered[starts], starts, ends, rows[order], tf, fields)
        return self._inverted

    @property
    def postings(self) -> int:
        """How many there are."""
        return len(self.forward)

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
    """Segments in row order, each much larger than the next. Rows are only ever added at the end."""

    __slots__ = ("_segments", "nbytes", "rows")

    def __init__(self, segments: tuple[Segment, ...] = ()) -> None:
        self._segments = segments
        self.rows = sum(segment.count for segment in segments)
        self.nbytes = sum(segment.nbytes for segment in segments)

    def extended(self, packed: Sequence[bytes]) -> Postings:
        """A new index with one more row for each list of `TERM`s; this one stays as it is for readers that hold it."""
        if not packed:
            return self
        forward: Terms = np.frombuffer(b"".join(packed), dtype=TERM)
        lengths = np.fromiter(map(len, packed), dtype=np.int64, count=len(packed)) // TERM.itemsize
        segments = [*self._segments, Segment(self.rows, forward, lengths=lengths)]
        while len(segments) > 1 and _are_merged(*segments[-2:]):
            last = segments.pop()
            segments[-1] = _merge(segments[-1], last)
        return Postings(tuple(segments))

    def chosen(self, rows: NDArray[np.int64]) -> Postings:
        """An index of some rows alone, given in ascending order."""
        parts: list[bytes] = []
        lengths: list[NDArray[np.int64]] = []
        for segment in self._segments:
            at = rows[(rows >= segment.first) & (rows < segment.first + segment.count)] - segment.first
            starts, ends = segment.offsets[at], segment.offsets[at + 1]
            packed: Any = segment.forward.view(np.uint8).data  # numpy copies records of an odd length one by one
            bounds = zip((starts * TERM.itemsize).tolist(), (ends * TERM.itemsize).tolist(), strict=True)
            parts += [packed[start:end] for start, end in bounds]
            lengths.append(ends - starts)
        if not parts:
            return Postings()
        return Postings((Segment(0, np.frombuffer(b"".join(parts), dtype=TERM), lengths=np.concatenate(lengths)),))

    def prepare(self) -> None:
        """Do now what the first question would wait for."""
        for segment in self._segments:
            segment.inverted()

    def find(self, terms: Hashes) -> TermMatches:
        """Every row that holds one of the terms (64-bit hashes, distinct), in no particular order."""
        parts = [segment.find(terms) for segment in self._segments or (_EMPTY,)]
        if len(parts) == 1:
            return parts[0]
        return TermMatches(
            np.concatenate([part.term for part in parts]),
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.tf for part in parts]),
            np.concatenate([part.fields for part in parts]),
        )

    def document_count(self, terms: Hashes) -> NDArray[np.int64]:
        """Return how many rows hold each term, shape (terms,)."""
        counts = np.zeros(len(terms), dtype=np.int64)
        for segment in self._segments:
            counts += segment.document_count(terms)
        return counts

    def rows_with_any(self, hashes: Iterable[int]) -> NDArray[np.bool_]:
        """Return the mask of the rows whose text holds one of the terms."""
        matches = self.find(np.array(sorted(set(hashes)), dtype=np.uint64))
        mask = np.zeros(self.rows, dtype=np.bool_)
        mask[matches.rows[matches.tf > 0]] = True
        return mask

    def rows_with_all(self, hashes: Sequence[int]) -> NDArray[np.bool_]:
        """Return the mask of the rows whose text holds every one of the distinct terms."""
        matches = self.find(np.array(hashes, dtype=np.uint64))
        terms_held = np.bincount(matches.rows[matches.tf > 0], minlength=self.rows)
        return np.asarray(terms_held == len(hashes))

    def terms_of(self, row: int) -> Terms:
        """The packed terms of one row."""
        for segment in self._segments:
            if row < segment.first + segment.count:
                return segment.terms_of(row)
        raise IndexError(row)


def _are_merged(segment: Segment, last: Segment) -> bool:
    """Return whether a segment and the one behind it become one."""
    if last.count < TAIL_ROWS:
        return segment.count + last.count <= TAIL_ROWS
    return segment.count < MERGE_RATIO * last.count


def _merge(segment: Segment, last: Segment) -> Segment:
    """One segment over the rows of two that follow one another."""
    # Joined as bytes: numpy copies records of an odd length one by one.
    forward = np.concatenate((segment.forward.view(np.uint8), last.forward.view(np.uint8))).view(TERM)
    return Segment(segment.first, forward, lengths=np.concatenate((segment.lengths, last.lengths)))


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


_EMPTY: Final = Segment(0, np.empty(0, dtype=TERM), lengths=np.empty(0, dtype=np.int64))
