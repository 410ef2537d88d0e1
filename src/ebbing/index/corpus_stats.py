"""Sums over the rows of an owner, for keyword statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class CorpusStats:
    """What keyword statistics need of an owner."""

    living: int
    """Rows that are not gone, at least 1."""
    mean_length: float
    """Terms a row, at least 1."""
    all_alive: bool
    """No row is gone."""


class Totals(NamedTuple):
    """Sums over rows that are not gone."""

    living: int
    terms: int
    embedded: int
    """Rows with a vector."""

    def plus(self, more: Totals, *, sign: int = 1) -> Totals:
        """Return the sums with others added, or with `sign` −1 taken away."""
        return Totals(*(ours + sign * theirs for ours, theirs in zip(self, more, strict=True)))
