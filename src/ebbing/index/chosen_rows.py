"""Some rows of a large owner as a shard of their own, whose statistics are those of all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ebbing.index.corpus_stats import CorpusStats
from ebbing.index.postings import TermMatches
from ebbing.index.shard import Shard


class ChosenRows(Shard):
    """Rows of a shard, in its order. Nothing is added to it; it serves one search.

    A column is read from the whole when it is first asked for: in RAM the rows lie far from one another.
    """

    def __init__(self, whole: Shard, rows: NDArray[np.int64], *, stands_for: NDArray[np.float64]) -> None:
        """`rows` ascend; `stands_for` says how many rows of the whole each of them stands for in statistics."""
        super().__init__(model_id=whole.model_id, dim=whole.dim)
        self._whole, self._rows, self.places, self.stands_for = whole, rows, rows, stands_for
        self.generation, self.size = whole.generation, len(rows)
        self.agents, self.runs, self.actors = whole.agents, whole.runs, whole.actors
        self.attributes, self.objects = whole.attributes, whole.objects
        self._last_seq = whole.last_seq
        self._columns = _ChosenColumns(whole, rows)
        self._vectors = whole.vectors[rows]
        self.postings = whole.postings.chosen(rows)
        self.records = whole.records

    @property
    def ids(self) -> list[str]:
        """The memory of each row."""
        return [self.id_of(row) for row in range(self.size)]

    def id_of(self, row: int) -> str:
        """Return the memory of a row."""
        return self._whole.ids[int(self._rows[row])]

    @property
    def corpus_stats(self) -> CorpusStats:
        """Counts over all rows of the owner that are not gone."""
        return self._whole.corpus_stats

    def document_count(self, terms: NDArray[np.uint64], matches: TermMatches | None = None) -> NDArray[Any]:
        """How many rows of the owner hold each term."""
        del matches  # of these rows alone
        return self._whole.postings.document_count(terms)


class _ChosenColumns(dict[str, NDArray[Any]]):
    """The columns of some rows, each from when it is first used."""

    def __init__(self, whole: Shard, rows: NDArray[np.int64]) -> None:
        super().__init__()
        self._whole, self._rows = whole, rows

    def __missing__(self, name: str) -> NDArray[Any]:
        column: NDArray[Any] = getattr(self._whole, name)[self._rows]
        self[name] = column
        return column
