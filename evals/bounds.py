"""What figures of speed and load must keep to, and how they are printed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Found = Mapping[str, Mapping[str, Any]]
"""Figures by heading and row: each row is a mapping."""


@dataclass(frozen=True, slots=True)
class Bound:
    """What a figure must keep to: at most, or at least where `least` is set."""

    heading: str
    row: str
    figure: str
    limit: float
    least: bool = False

    def line(self, found: Found) -> str | None:
        """`kept` or `MISSED` with the figure and its limit; None where it was not measured."""
        value = found.get(self.heading, {}).get(self.row, {}).get(self.figure)
        if value is None:
            return None
        kept = value >= self.limit if self.least else value <= self.limit
        sign = ">=" if self.least else "<="
        where = f"{self.heading}: {self.row}, {self.figure}"
        return f"{'kept' if kept else 'MISSED':>6}  {where} = {value:,.3g} ({sign} {self.limit:g})"


def report(found: Found, bounds: Sequence[Bound], *, as_json: bool) -> None:
    """Prints the figures and which bounds they keep, or one JSON document of the figures."""
    if as_json:
        print(json.dumps(found))
        return
    for heading, rows in found.items():
        print(f"\n{heading}")
        for name, figures in rows.items():
            print(f"  {name:<26} " + "  ".join(_figure(key, value) for key, value in figures.items()))
    print("\nbounds")
    print("\n".join(line for bound in bounds if (line := bound.line(found))))


def _figure(name: str, value: Any) -> str:
    return f"{name} {value:,.3g}" if isinstance(value, int | float) else f"{name} {value}"
