"""Chance that is no chance."""

from __future__ import annotations


class FixedChance:
    """A `Chance` that always draws the same number."""

    def __init__(self, share: float = 0.5) -> None:
        self._share = share

    def share(self) -> float:
        return self._share
