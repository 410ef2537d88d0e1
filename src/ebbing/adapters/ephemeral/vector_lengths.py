"""How long the vectors of each model are that a store holds."""

from __future__ import annotations

from collections.abc import Sequence

from ebbing.domain.errors import EmbeddingError
from ebbing.ports.memory_store import Change, Erase


class VectorLengths(dict[str, int]):
    """By model id the length of every vector that was ever stored of it."""

    def check(self, changes: Sequence[Change]) -> None:
        """Refuse changes whose vectors do not fit, and remember the length of those of a new model.

        Raises:
            EmbeddingError: a vector is shorter or longer than those that are stored of its model.
        """
        fresh: dict[str, int] = {}
        for change in changes:
            entry = None if isinstance(change, Erase) else change.entry
            if entry is None or entry.vector is None or entry.model_id is None:
                continue
            if self.get(entry.model_id, fresh.setdefault(entry.model_id, len(entry.vector))) != len(entry.vector):
                raise EmbeddingError("a vector does not fit those that are stored of its model: name it anew")
        self.update(fresh)
