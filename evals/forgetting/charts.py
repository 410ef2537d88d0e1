"""What is drawn of the figures."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from evals.forgetting.floors import Tables
from evals.forgetting.plot import Chart, Point

_BUDGET = re.compile(r"( that fit in)? \d+%$")
_KEPT = {"locomo": "LoCoMo", "beam-100k": "BEAM-100K"}


def charts(tables: Tables) -> dict[str, Chart]:
    """By the last part of the file's name: the size of the year's store, and recall kept against bytes."""
    found = {name: _kept(title, tables[name]) for name, title in _KEPT.items() if name in tables}
    if "year" in tables:
        found["size"] = _size(tables["year"])
    return found


def _size(rows: Mapping[str, Mapping[str, Any]]) -> Chart:
    lines = {
        keeper: [(float(month["day"]), month["bytes"] / 1000) for month in row["months"]]
        for keeper, row in rows.items()
    }
    title = f"A year of {next(iter(rows.values()))['users']} people: what is stored"
    return Chart(title, "day", "readable text, thousand bytes (logarithmic)", lines, is_logarithmic=True)


def _kept(title: str, rows: Mapping[str, Mapping[str, Any]]) -> Chart:
    """One point a budget; the rules that know no budget are single points."""
    lines: dict[str, list[Point]] = defaultdict(list)
    for keeper, row in rows.items():
        for measure in ("kept", "strict"):
            if row["share"] is not None and row[measure] is not None:
                lines[f"{_BUDGET.sub('', keeper)}, {measure}"].append((100 * row["share"], 100 * row[measure]))
    return Chart(
        f"{title}: found, against keeping everything",
        "share of bytes kept, %",
        "share found, % (kept: R@10; strict: the answer's words)",
        {name: sorted(points) for name, points in lines.items() if not name.startswith("keep everything")},
    )
