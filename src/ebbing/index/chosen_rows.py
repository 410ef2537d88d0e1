"""Some rows of a large owner as a shard of their own, whose statistics are those of all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ebbing.index.postings import TermMatches
from ebbing.index.shard import COLUMNS, CorpusStats, Shard


class ChosenRows(Shard):
    """Rows of a shard, in its order. Nothing is added to it; it serves one search."""

    def __init__(self, whole: Shard, rows: NDArray[np.int64], *, stands_for: NDArray[np.float64]) -> None:
        """`rows` ascend; `stands_for` says how many rows of the whole each of them stands for in statistics."""
        super().__init__(model_id=whole.model_id, dim=whole.dim)
        self._whole, self.places, self.stands_for = whole, rows, stands_for
        self.generation, self.size = whole.generation, len(rows)
        self.agents, self.runs, self.actors = whole.agents, whole.runs, whole.actors
        self.attributes, self.objects = whole.attributes, whole.objects
        self._last_seq = whole.last_seq
        self._columns = {name: getattr(whole, name)[rows] for name in COLUMNS}
        self._vectors = whole.vectors[rows]
        self.ids = [whole.ids[row] for row in rows.tolist()]
        self.postings = whole.postings.chosen(rows)
        self.records = whole.records

    @property
    def corpus_stats(self) -> CorpusStats:
        """Counts over all rows of the owner that are not gone."""
        return self._whole.corpus_stats

    def document_count(self, terms: NDArray[np.uint64], matches: TermMatches | None = None) -> NDArray[Any]:
        """How many rows of the owner hold each term."""
        del matches  # of these rows alone
        return self._whole.postings.document_count(terms)
