"""Which rows of one owner hold a term: an inverted index in a few flat arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ebbing.index.entry import TERM, Terms

TAIL_ROWS = 256
"""Rows that may wait in the small tail segment before both are merged; keeps an append from sorting everything."""


@dataclass(frozen=True, slots=True)
class Posting:
    """Where one term stands: parallel arrays, one element a row that holds it."""

    rows: NDArray[np.int32]
    tf: NDArray[np.uint16]
    fields: NDArray[np.uint8]


class Segment:
    """An immutable inverted index over `count` rows from `first` on, with the forward lists it was made from."""

    __slots__ = ("_order", "_rows", "_starts", "_terms", "count", "first", "forward", "offsets")

    def __init__(self, first: int, lists: list[Terms]) -> None:
        self.first = first
        self.count = len(lists)
        lengths = np.fromiter((len(terms) for terms in lists), dtype=np.int64, count=len(lists))
        self.offsets = np.concatenate(([0], np.cumsum(lengths)))
        self.forward: Terms = np.concatenate(lists) if lists else np.empty(0, dtype=TERM)
        hashes = np.ascontiguousarray(self.forward["term"])
        self._order = np.argsort(hashes, kind="stable").astype(np.int32)
        self._rows = (np.repeat(np.arange(len(lists), dtype=np.int32), lengths) + np.int32(first))[self._order]
        ordered = hashes[self._order]
        is_first = np.concatenate(([True], ordered[1:] != ordered[:-1])) if len(ordered) else np.empty(0, dtype=bool)
        starts = np.flatnonzero(is_first)
        self._terms = ordered[starts]
        self._starts = np.concatenate((starts, [len(ordered)]))

    def posting(self, term: int) -> Posting | None:
        """Rows that hold `term`, ascending; None if none does."""
        at = int(np.searchsorted(self._terms, np.uint64(term)))
        if at == len(self._terms) or self._terms[at] != term:
            return None
        span = slice(int(self._starts[at]), int(self._starts[at + 1]))
        entries = self.forward[self._order[span]]
        return Posting(self._rows[span], entries["tf"], entries["fields"])

    def terms_of(self, row: int) -> Terms:
        at = row - self.first
        return self.forward[self.offsets[at] : self.offsets[at + 1]]

    @property
    def nbytes(self) -> int:
        arrays = (self.forward, self.offsets, self._order, self._rows, self._terms, self._starts)
        return int(sum(array.nbytes for array in arrays))


class Postings:
    """Segments in row order: one large, one small tail. Rows are only ever added at the end."""

    __slots__ = ("_segments",)

    def __init__(self, segments: tuple[Segment, ...] = ()) -> None:
        self._segments = segments

    def extended(self, lists: list[Terms]) -> Postings:
        """A new index with one more row per list; this one stays as it is for readers that hold it."""
        first = self.rows
        if not lists:
            return self
        if len(self._segments) < 2 and first >= TAIL_ROWS:
            return Postings((*self._segments, Segment(first, lists)))
        tail = self._segments[-1] if self._segments else None
        if tail is not None and tail.count + len(lists) <= max(TAIL_ROWS, first // 8):
            return Postings((*self._segments[:-1], Segment(tail.first, [*_lists(tail), *lists])))
        everything = [terms for segment in self._segments for terms in _lists(segment)]
        return Postings((Segment(0, [*everything, *lists]),))

    def posting(self, term: int) -> Posting | None:
        found = [posting for segment in self._segments if (posting := segment.posting(term)) is not None]
        if len(found) < 2:
            return found[0] if found else None
        return Posting(
            np.concatenate([posting.rows for posting in found]),
            np.concatenate([posting.tf for posting in found]),
            np.concatenate([posting.fields for posting in found]),
        )

    def terms_of(self, row: int) -> Terms:
        """The packed terms of one row."""
        for segment in self._segments:
            if row < segment.first + segment.count:
                return segment.terms_of(row)
        raise IndexError(row)

    @property
    def rows(self) -> int:
        return sum(segment.count for segment in self._segments)

    @property
    def nbytes(self) -> int:
        return sum(segment.nbytes for segment in self._segments)


def _lists(segment: Segment) -> list[Terms]:
    return [segment.terms_of(segment.first + at) for at in range(segment.count)]
