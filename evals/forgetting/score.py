"""The figures of a set from what its users lived through. Shares are in [0, 1] unless they are ratios."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import Any

from evals.forgetting.lived import Footprint, Lived, Mark
from evals.forgetting.run import EVERYTHING, UserResult
from evals.retention.score import unseen_ratio

Figures = dict[str, Any]
VITAL = ("identity", "allergy")
LASTING = ("identity", "allergy", "health", "family", "home", "job", "preference", "belongings", "goals")


def scored(results: Sequence[UserResult]) -> dict[str, dict[str, Figures]]:
    """By set, by keeper."""
    tables: dict[str, dict[str, Figures]] = {}
    for name in dict.fromkeys(result.set for result in results):
        users = [result.lived for result in results if result.set == name]
        score = _year_figures if name == "year" else _set_figures
        whole = [lived[EVERYTHING.name] for lived in users]
        tables[name] = {keeper: score([lived[keeper] for lived in users], whole) for keeper in users[0]}
    return tables


# ── conversations ────────────────────────────────────────────────────────────────────────────────────────────────────


def _set_figures(lived: Sequence[Lived], whole: Sequence[Lived]) -> Figures:
    """What is left, and of what keeping everything finds: `kept` by R@10, `strict` by the answer's words."""
    return {
        **_left(lived, whole),
        "R@10": _mean(lived, "found"),
        "kept": _ratio(_mean(lived, "found"), _mean(whole, "found")),
        "strict": _ratio(_mean(lived, "strict"), _mean(whole, "strict")),
    }


def _left(lived: Sequence[Lived], whole: Sequence[Lived]) -> Figures:
    """Records and readable bytes at the end, over all users."""
    ends, all_ends = [item.footprints[-1] for item in lived], [item.footprints[-1] for item in whole]
    return {
        "users": len(lived),
        "records": sum(end.records for end in ends),
        "bytes": sum(end.size for end in ends),
        "share": _ratio(sum(end.size for end in ends), sum(end.size for end in all_ends)),
    }


# ── the year ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _year_figures(lived: Sequence[Lived], whole: Sequence[Lived]) -> Figures:
    """What is left and how it grew; what is still stored; what is found, against keeping everything."""
    left = _left(lived, whole)
    lasting = sum(item.lasting for item in lived)
    missed = [name for item in lived for name in item.missed]
    found = {
        group: _ratio(_mean(lived, "found", chosen), _mean(whole, "found", chosen)) for group, chosen in _CHOSEN.items()
    }
    return {
        **left,
        "compression": _ratio(1.0, left["share"]),
        "growth": _growth([item.footprints for item in lived]),
        "months": _months([item.footprints for item in lived]),
        "stored": 1 - len(missed) / lasting if lasting else 1.0,
        "lasting": lasting,
        "vital_lost": sum(_group_of(name, lived) in VITAL for name in missed),
        "missed": missed,
        "found": _mean(lived, "found", _CHOSEN["lasting"]),
        "recalled": found,
        "retention": unseen_ratio([item.judged for item in lived]),
        "by_group": _by_group(lived, "found"),
        "first_by_group": _by_group(lived, "first"),
    }


def _by_group(lived: Sequence[Lived], what: str) -> dict[str, float]:
    """The share of all questions, for the lasting facts and for each group."""
    groups = {group: _mean(lived, what, _in(group)) for group in _groups(lived)}
    return {"lasting": _mean(lived, what, _CHOSEN["lasting"]), **groups}


def _group_of(fact: str, lived: Iterable[Lived]) -> str:
    return next((mark.group for item in lived for mark in item.marks if mark.exam.startswith(f"{fact}?")), "")


def _groups(lived: Iterable[Lived]) -> list[str]:
    return sorted({mark.group for item in lived for mark in item.marks})


def _in(group: str) -> Callable[[Mark], bool]:
    return lambda mark: mark.group == group


_CHOSEN: dict[str, Callable[[Mark], bool]] = {
    "lasting": lambda mark: mark.group in LASTING,
    "lasting, own language": lambda mark: mark.group in LASTING and _is_own(mark),
    "lasting, other language": lambda mark: mark.group in LASTING and not _is_own(mark),
    "habits": _in("habit"),
    "recent events": _in("event"),
}


def _is_own(mark: Mark) -> bool:
    """Asked in the language that the person speaks: both are in the exam's name."""
    return f"-{mark.exam[-2:]}/" in mark.exam


def _growth(footprints: Sequence[Sequence[Footprint]]) -> float | None:
    """Mean growth of all bytes a month over the last three months."""
    if min(map(len, footprints)) < 4:
        return None
    before, after = (sum(item[at].size for item in footprints) for at in (-4, -1))
    return float((after / before) ** (1 / 3) - 1) if before else None


def _months(footprints: Sequence[Sequence[Footprint]]) -> list[dict[str, int]]:
    """Over all users, who may have begun to talk on different days: sitting by sitting, under its latest day."""
    return [
        {
            "day": max(item.day for item in ends),
            "records": sum(item.records for item in ends),
            "bytes": sum(item.size for item in ends),
        }
        for ends in zip(*footprints, strict=True)
    ]


# ── means ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _mean(lived: Iterable[Lived], what: str, chosen: Callable[[Mark], bool] = lambda _: True) -> float:
    """Over all questions of all users that have this mark."""
    marks = [mark.marks[what] for item in lived for mark in item.marks if what in mark.marks and chosen(mark)]
    return fmean(marks) if marks else 0.0


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
