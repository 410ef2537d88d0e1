"""`python -m evals retention`: is the chance that a memory is needed again told rightly?"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evals.datasets import LOADERS
from evals.embedding import KeptE5
from evals.retention.replay import set_user, year_user
from evals.retention.score import fitted_on, scored
from evals.retention.watch import Judged

SETS = ("year", "locomo", "beam-100k", "memdaily-zh")
CACHE = Path(__file__).parent.parent.parent / ".evals-cache"


def add_options(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    parser.add_argument("--set", action="append", choices=SETS, help="which set, repeatable (default: the year)")
    parser.add_argument("--data", type=Path, help="folder that holds the sets of conversations; the year needs none")
    parser.add_argument("--users", type=int, metavar="N", help="the first N users of each set only")
    parser.add_argument("--days", type=int, default=365, metavar="N", help="length of the synthetic year")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="another world with other people")
    parser.add_argument("--split", type=int, default=1, metavar="N", help="another split of the users into halves")
    parser.add_argument("--embedder", default="none", choices=("none", "e5"), help="of the year (default: none)")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of tables")


def run(options: argparse.Namespace) -> None:
    """Measures and prints."""
    found = {}
    for name in options.set or SETS[:1]:
        users = dict(_users(name, options))
        everybody = fitted_on([item for judged in users.values() for item in judged])
        coefficients = None if everybody is None else everybody.coefficients
        found[name] = {**scored(list(users.values()), seed=options.split), "everybody": coefficients}
    print(json.dumps(found) if options.json else "\n\n".join(_shown(name, figures) for name, figures in found.items()))


def _users(name: str, options: argparse.Namespace) -> Iterator[tuple[str, list[Judged]]]:
    if name != "year" and options.data is None:
        sys.exit("--data: say where the conversations are")
    embedder = KeptE5(CACHE) if options.embedder == "e5" else "none"
    there = 20 if name == "year" else len(LOADERS[name](options.data).users)
    for number in range(min(options.users or there, there)):
        if name == "year":
            item = year_user(number, days=options.days, seed=options.seed, embedder=embedder)
        else:
            item = set_user(name, options.data, number=number)
        judged = asyncio.run(item)
        used = sum(each.outcome.was_used for each in judged)
        print(f"{name} {number}: {len(judged):,} looked at, {used:,} used", file=sys.stderr, flush=True)
        yield str(number), judged


def _shown(name: str, figures: Mapping[str, Any]) -> str:
    fit, test = figures["users"]
    title = f"**{name}: fitted on {fit} users, judged on {test} others, {figures['outcomes'][1]:,} outcomes**"
    told = [
        f"| {way} | {row['log loss']:.4f} | {100 * row['ratio']:+.1f} % | {row['Brier']:.4f} |"
        for way, row in figures["told"].items()
    ]
    parts = [
        f"| {number} | {100 * part['told']:.2f} % | {100 * part['used']:.2f} % |"
        for number, part in enumerate(figures["reliability"], 1)
    ]
    weights = ["coefficients (intercept, idle, uses, importance, age)"]
    weights += [f"{whose}: {_weights(figures[key])}" for whose, key in (("half", "fitted"), ("all", "everybody"))]
    return "\n".join(
        [
            *(title, "", "| | log loss | against the constant | Brier |", "|---|---:|---:|---:|", *told, ""),
            *("| tenth of the memories | told | used |", "|---:|---:|---:|", *parts, "", "; ".join(weights)),
        ]
    )


def _weights(values: Sequence[float] | None) -> str:
    return "too little to fit on" if values is None else ", ".join(f"{value:.2f}" for value in values)
