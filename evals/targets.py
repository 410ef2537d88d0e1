"""What the project holds itself to, row by row of the table in docs/measurements.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Target:
    """A measure of a set, with the floor that must hold and the aim beyond it, in the unit that is printed."""

    set: str
    measure: str
    floor: float
    aim: float
    scale: Literal["percent", "ratio"] = "percent"

    def shown(self, value: float | None) -> str:
        """The value in this target's unit."""
        if value is None:
            return "–"
        return f"{100 * value:.1f}" if self.scale == "percent" else f"{value:.2f}"

    def standing(self, value: float | None) -> str:
        """`aim`, `floor` or `below`."""
        if value is None:
            return ""
        reached = round(100 * value, 1) if self.scale == "percent" else round(value, 2)
        return "aim" if reached >= self.aim else "floor" if reached >= self.floor else "below"


TARGETS = (
    Target("locomo", "R@10", 78, 82),
    Target("locomo", "NDCG@10", 63, 67),
    Target("memdaily-zh", "R@10", 83, 87),
    Target("memdaily-zh", "NDCG@10", 77, 81),
    Target("memdaily-zh-dedup", "R@10", 82, 85),
    Target("memdaily-zh-dedup", "NDCG@10", 74.5, 78),
    Target("beam-100k", "R@10", 67, 71),
    Target("beam-100k", "NDCG@10", 57.5, 61),
    Target("beam-100k-all", "R@10", 58, 64),
    Target("beam-100k", "newer above older", 50, 80),
    Target("precisionmembench", "precision", 0.45, 0.70, "ratio"),
    Target("precisionmembench", "recall", 0.90, 0.90, "ratio"),
    Target("mixed", "R@5 ratio", 0.93, 1.0, "ratio"),
)
