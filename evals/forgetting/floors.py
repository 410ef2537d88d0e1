"""What the project holds its forgetting to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Tables = Mapping[str, Mapping[str, Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class Floor:
    """A measure with the floor that must hold and the aim beyond it, in the unit that is printed."""

    set: str
    keeper: str
    measure: str
    value: Callable[[Mapping[str, Any]], float | None]
    floor: float
    aim: float
    unit: str = "%"
    is_upper: bool = False
    """Less is better."""

    def standing(self, value: float | None) -> str:
        """`aim`, `floor` or `below`; empty where nothing was measured."""
        if value is None:
            return ""
        if self.is_upper:
            return "aim" if value <= self.aim else "floor" if value <= self.floor else "below"
        return "aim" if value >= self.aim else "floor" if value >= self.floor else "below"


def _percent(name: str) -> Callable[[Mapping[str, Any]], float | None]:
    return lambda figures: None if figures[name] is None else round(100 * figures[name], 1)


def _recalled(figures: Mapping[str, Any]) -> float | None:
    ratio = figures["recalled"]["lasting"]
    return None if ratio is None else round(100 * ratio, 1)


FLOORS = (
    Floor("locomo", "Ebbing 40%", "kept at 40 % of bytes", _percent("kept"), 92, 97),
    Floor("locomo", "Ebbing 40%", "strict at 40 % of bytes", _percent("strict"), 88, 93),
    Floor("locomo", "Ebbing 25%", "kept at 25 % of bytes", _percent("kept"), 85, 90),
    Floor("locomo", "Ebbing 25%", "strict at 25 % of bytes", _percent("strict"), 70, 78),
    Floor("beam-100k", "Ebbing 40%", "kept at 40 % of bytes", _percent("kept"), 95, 100),
    Floor("beam-100k", "Ebbing 40%", "strict at 40 % of bytes", _percent("strict"), 78, 85),
    Floor("beam-100k", "Ebbing 25%", "kept at 25 % of bytes", _percent("kept"), 90, 98),
    Floor("beam-100k", "Ebbing 25%", "strict at 25 % of bytes", _percent("strict"), 60, 68),
    Floor("memdaily-zh", "Ebbing 25%", "R@10 at 25 % of bytes", _percent("R@10"), 78, 82),
    Floor("year", "Ebbing", "lasting facts stored at the end", _percent("stored"), 99, 99.8),
    Floor("year", "Ebbing", "lasting facts recalled, against keep everything", _recalled, 100, 108),
    Floor("year", "Ebbing", "compression", lambda figures: round(figures["compression"], 1), 8, 14, ": 1"),
    Floor("year", "Ebbing", "growth a month, last quarter", _percent("growth"), 2, 0.5, is_upper=True),
    Floor("year", "Ebbing", "identity and allergy facts lost", lambda figures: figures["vital_lost"], 0, 0, "", True),
    Floor("year", "Ebbing", "log loss of retention against a constant", _percent("retention"), -10, -25, is_upper=True),
)


def standings(tables: Tables, floors: Sequence[Floor] = FLOORS) -> list[tuple[Floor, float | None]]:
    """What was reached, for every floor whose set and keeper were measured."""
    return [
        (floor, floor.value(tables[floor.set][floor.keeper]))
        for floor in floors
        if floor.keeper in tables.get(floor.set, {})
    ]
