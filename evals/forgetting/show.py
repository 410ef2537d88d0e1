"""The figures as Markdown: a table a set, and what was reached against what must be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evals.forgetting.floors import Tables, standings
from evals.forgetting.score import LASTING

_TITLES = {
    "locomo": "LoCoMo, turns as said",
    "beam-100k": "BEAM-100K, turns of the user",
    "memdaily-zh": "MemDaily, raw log",
    "year": "a synthetic year",
}
_YEAR_GROUPS = ("lasting", *LASTING, "habit", "event")


def shown(tables: Tables) -> str:
    """Everything that was measured."""
    parts = [_set_table(name, rows) if name != "year" else _year_tables(rows) for name, rows in tables.items()]
    return "\n\n".join([*parts, _floors_table(tables)])


def _set_table(name: str, rows: Mapping[str, Mapping[str, Any]]) -> str:
    users = next(iter(rows.values()))["users"]
    return _table(
        f"{_TITLES[name]} ({users} users)",
        ["", "records", "bytes", "share of bytes", "R@10", "kept", "strict"],
        [
            [
                keeper,
                f"{row['records']:,}",
                f"{row['bytes']:,}",
                _percent(row["share"]),
                *(_percent(row[measure]) for measure in ("R@10", "kept", "strict")),
            ]
            for keeper, row in rows.items()
        ],
    )


def _year_tables(rows: Mapping[str, Mapping[str, Any]]) -> str:
    first = next(iter(rows.values()))
    overview = _table(
        f"{_TITLES['year']} ({first['users']} users, {first['lasting']} lasting facts)",
        ["", "records", "bytes", "compression", "growth a month", "facts stored", "identity, allergy lost", "recalled"],
        [
            [
                keeper,
                f"{row['records']:,}",
                f"{row['bytes']:,}",
                f"{row['compression']:.1f} : 1" if row["compression"] else "–",
                _percent(row["growth"]),
                _percent(row["stored"]),
                str(row["vital_lost"]),
                _percent(row["recalled"]["lasting"]),
            ]
            for keeper, row in rows.items()
        ],
    )
    measures = [name for name in first["recalled"] if name != "lasting"]
    found = _table(
        "found, as a share of what keeping everything finds",
        ["", *measures],
        [[keeper, *(_percent(row["recalled"][name]) for name in measures)] for keeper, row in rows.items()],
    )
    by_group = "\n\n".join(
        _group_table(title, rows, what=what)
        for title, what in (
            ("found, of all questions of a group", "by_group"),
            ("found among the first three, of all questions of a group", "first_by_group"),
        )
    )
    days = [str(month["day"]) for month in first["months"]]
    sizes = _table(
        "readable bytes (thousands) by day",
        ["", *days],
        [[keeper, *(f"{month['bytes'] / 1000:,.0f}" for month in row["months"])] for keeper, row in rows.items()],
    )
    return f"{overview}\n\n{found}\n\n{by_group}\n\n{sizes}"


def _group_table(title: str, rows: Mapping[str, Mapping[str, Any]], *, what: str) -> str:
    first = next(iter(rows.values()))
    groups = [group for group in _YEAR_GROUPS if group in first[what]]
    cells = [[keeper, *(_percent(row[what].get(group)) for group in groups)] for keeper, row in rows.items()]
    return _table(title, ["", *groups], cells)


def _floors_table(tables: Tables) -> str:
    rows = [
        [
            f"{_TITLES[floor.set]}: {floor.measure}",
            "–" if value is None else f"{value:g} {floor.unit}".strip(),
            f"{floor.floor:g}",
            f"{floor.aim:g}",
            floor.standing(value),
        ]
        for floor, value in standings(tables)
    ]
    return _table("against what must be", ["", "reached", "floor", "aim", ""], rows) if rows else ""


def _table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"**{title}**", "", f"| {' | '.join(headings)} |", f"|---|{'---:|' * (len(headings) - 1)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"
