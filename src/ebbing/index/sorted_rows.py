"""The rows of a large owner in the order of a value: a range of values is found without a look at all rows."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

MAX_UNSORTED: Final = 4_096
"""Rows behind the sorted ones that are looked at one by one: at least so many, or an eighth of the sorted ones."""

Rows = NDArray[np.int64]


class SortedRows:
    """Rows by a value, up to the row that was the last one then; it is not changed. Later rows are not in it."""

    __slots__ = ("_rows", "_values", "count")

    def __init__(self, values: NDArray[Any]) -> None:
        self.count = len(values)
        """Rows that are sorted: the first ones of the shard."""
        self._rows = np.argsort(values, kind="stable").astype(np.int32)
        self._values = values[self._rows]

    @property
    def max_size(self) -> int:
        """Rows of a shard up to which it is worth using."""
        return self.count + max(MAX_UNSORTED, self.count // 8)

    @property
    def nbytes(self) -> int:
        """Bytes of RAM."""
        return self._rows.nbytes + self._values.nbytes

    def between(self, first: Any, last: Any, *, later: NDArray[Any], limit: int) -> Rows | None:
        """Return the rows, ascending, whose value is between two, these included; None where they are too many.

        Args:
            later: the values of the rows from `count` on.
            limit: rows at most.
        """
        start, end = self._span(first, last)
        behind = self._behind((later >= first) & (later <= last))
        if end - start + len(behind) > limit:
            return None
        return np.concatenate((np.sort(self._rows[start:end]), behind), dtype=np.int64)

    def newest(self, value: Any, *, later: NDArray[Any], count: int) -> Rows:
        """Return the last rows with a value, ascending.

        Args:
            later: the values of the rows from `count` on.
            count: rows at most, above 0.
        """
        start, end = self._span(value, value)
        rows = np.concatenate((self._rows[max(start, end - count) : end], self._behind(later == value)), dtype=np.int64)
        return rows[-count:]

    def _span(self, first: Any, last: Any) -> tuple[int, int]:
        start = np.searchsorted(self._values, first, side="left")
        return int(start), int(np.searchsorted(self._values, last, side="right"))

    def _behind(self, mask: NDArray[np.bool_]) -> Rows:
        return np.flatnonzero(mask) + self.count
