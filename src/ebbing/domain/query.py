"""What is asked of the memory, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from ebbing.domain.record import MemoryRecord

Include = Literal["all", "memories", "episodes"]
INCLUDES: tuple[Include, ...] = ("all", "memories", "episodes")


@dataclass(frozen=True, slots=True)
class Query:
    """A question with what narrows its answers."""

    text: str
    top_k: int
    now: datetime
    include: Include = "all"
    min_score: float = 0.0


@dataclass(frozen=True, slots=True)
class Hit:
    """One memory that was recalled, and why."""

    record: MemoryRecord
    score: float
    """Calibrated relevance in [0, 1]: means the same for every query."""
    rank_score: float
    """What the order was made by; comparable within one answer only."""
    routes: Mapping[str, float] = field(default_factory=dict)
    """Route name to its raw score (BM25 points, cosine, …), for the routes that found it."""
