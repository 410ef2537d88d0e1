"""Results as text: a table a set, the Markdown table of docs/measurements.md, the table of ablations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from evals.metrics import METRICS
from evals.targets import TARGETS, Target

Result = Mapping[str, Any]


def show(result: Result, console: Console) -> None:
    """One set, every system, by category where it has them."""
    if result["set"] == "precisionmembench":
        _show_precision(result, console)
    elif result["set"] == "mixed":
        _show_mixed(result, console)
    else:
        _show_ranked(result, console)


def _show_ranked(result: Result, console: Console) -> None:
    table = Table(title=f"{result['title']}: {result['items']:,} items, {result['questions']:,} questions (percent)")
    for heading in ("system", "category", "n", *METRICS):
        table.add_column(heading, justify="left" if heading in {"system", "category"} else "right")
    for system, categories in result["systems"].items():
        for category, figures in categories.items():
            table.add_row(system, category, str(figures["n"]), *(_percent(figures.get(name)) for name in METRICS))
        table.add_section()
    console.print(table)
    for system, categories in result["systems"].items():
        if "pairs" in categories["ALL"]:
            share, pairs = categories["ALL"]["newer above older"], categories["ALL"]["pairs"]
            console.print(f"  {system}: newer above older in {_percent(share)} % of {pairs} pairs")
    for metric, (mean, low, high) in result["lead_over_rrf"].items():
        console.print(f"  lead over RRF(60) in {metric}: {100 * mean:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]")
    speed = result["search_ms"]
    console.print(
        f"  add {result['add_seconds']:.1f} s in all; search p50 {speed['p50']:.2f} ms, p99 {speed['p99']:.2f} ms "
        "(question vectors from the cache's file)"
    )


def _show_precision(result: Result, console: Console) -> None:
    columns = {
        "precision": "precision",
        "recall": "recall",
        "precision, active": "active_precision",
        "leaks": "leaks",
        "isolation": "isolation",
        "supersession": "supersession",
        "drift": "drift",
    }
    table = Table(title="PrecisionMemBench")
    for heading in ("system", *columns, "passed", "active passed", "turns passed"):
        table.add_column(heading, justify="left" if heading == "system" else "right")
    for system, figures in result["systems"].items():
        table.add_row(
            system,
            *(_plain(figures[key]) for key in columns.values()),
            f"{figures['passed']}/{figures['cases']}",
            f"{figures['active_passed']}/{figures['active_cases']}",
            f"{figures['turns_passed']}/{figures['turns']}",
        )
    console.print(table)


def _show_mixed(result: Result, console: Console) -> None:
    systems = result["systems"]
    table = Table(title="mixed store: R@5 by asked>stored, and ratios to the language's own store")
    for heading in ("case", *systems):
        table.add_column(heading, justify="left" if heading == "case" else "right")
    for case in next(iter(systems.values())):
        table.add_row(case, *(f"{figures[case]:.3f}" for figures in systems.values()))
    console.print(table)


def markdown(results: Sequence[Result], systems: Sequence[str]) -> str:
    """The table of docs/measurements.md: a row a target, what each system reaches, the floor and the aim."""
    by_set = {result["set"]: result for result in results}
    lines = [
        f"| set | measure | {' | '.join(systems)} | floor | aim |",
        f"|---|---|{'---:|' * (len(systems) + 2)}",
    ]
    for target in TARGETS:
        if target.set not in by_set:
            continue
        values = [_figure(by_set[target.set], target, system=system) for system in systems]
        shown = [target.shown(value) for value in values]
        shown[0] = f"**{shown[0]}**"
        title = by_set[target.set]["title"]
        lines.append(f"| {title} | {target.measure} | {' | '.join(shown)} | {target.floor:g} | {target.aim:g} |")
    return "\n".join(lines)


def standings(results: Sequence[Result], system: str) -> list[str]:
    """One line a target: what was reached, and whether that is the aim, the floor, or below."""
    by_set = {result["set"]: result for result in results}
    lines = []
    for target in TARGETS:
        if target.set in by_set:
            value = _figure(by_set[target.set], target, system=system)
            lines.append(f"{target.standing(value):>5}  {target.set} {target.measure}: {target.shown(value)}")
    return lines


def ablation_markdown(rows: Mapping[str, Mapping[str, Result]]) -> str:
    """Per step that was switched off (and per set): the change of R@10 and NDCG@10 in points."""
    names = list(next(iter(rows.values())))
    lines = [f"| without | {' | '.join(names)} |", f"|---|{'---:|' * len(names)}"]
    whole = rows["nothing"]
    for step, results in rows.items():
        cells = [_change(results[name], whole[name], is_whole=step == "nothing") for name in names]
        lines.append(f"| {step} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _change(result: Result, whole: Result, *, is_whole: bool) -> str:
    figures, base = _overall(result), _overall(whole)
    metrics: Iterable[str] = [name for name in ("R@10", "NDCG@10", "precision", "R@5 ratio") if name in figures]
    if is_whole:
        return " / ".join(f"{100 * figures[name]:.1f}" for name in metrics)
    return " / ".join(f"{100 * (figures[name] - base[name]):+.1f}" for name in metrics)


def _overall(result: Result) -> Mapping[str, float]:
    figures: Mapping[str, Any] = next(iter(result["systems"].values()))
    overall: Mapping[str, float] = figures.get("ALL", figures)
    return overall


def _figure(result: Result, target: Target, *, system: str) -> float | None:
    figures = result["systems"].get(system)
    if figures is None:
        return None
    value: float | None = figures.get("ALL", figures).get(target.measure)
    return value


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}"


def _plain(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else "–" if value is None else str(value)
