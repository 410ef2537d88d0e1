"""Chance from the interpreter's generator."""

from __future__ import annotations

import random


class SystemChance:
    """A `Chance` that differs from process to process."""

    def share(self) -> float:
        return random.random()  # noqa: S311 - it spreads work over time and guards no secret
