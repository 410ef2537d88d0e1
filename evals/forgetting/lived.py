"""What is known of one user under one keeper when the time is over."""

from __future__ import annotations

from dataclasses import dataclass, field

from evals.forgetting.lives import Marks
from evals.retention.watch import Judged


@dataclass(frozen=True, slots=True)
class Footprint:
    """How much is stored at the end of a sitting's day."""

    day: int
    records: int
    size: int
    """Readable bytes."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What one question scored at one sitting."""

    exam: str
    group: str
    day: int
    marks: Marks


@dataclass
class Lived:
    """What is known of one user under one keeper."""

    footprints: list[Footprint] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    """Lasting facts that no record holds at the end, by id."""
    lasting: int = 0
    judged: list[Judged] = field(default_factory=list)
    """Under the product's upkeep: how likely it said that each memory is needed, and whether it was."""
    traces: dict[str, list[str]] = field(default_factory=dict)
    """What became of the evidence, by question of the last sitting."""
