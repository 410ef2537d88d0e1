"""What leaves things to chance."""

from __future__ import annotations

from typing import Protocol


class Chance(Protocol):
    """Draws numbers, so that those who would all come at once come spread out instead."""

    def share(self) -> float:
        """A number from 0 to below 1, each as likely as any other."""
        ...
