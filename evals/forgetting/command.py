"""`python -m evals forgetting`: what is left when time passes, and how much of it is found."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from evals.forgetting.charts import charts
from evals.forgetting.plot import drawn
from evals.forgetting.run import EVERYTHING, SETS, Plan, UserResult, run
from evals.forgetting.score import scored
from evals.forgetting.show import shown
from evals.forgetting.tracing import lost

CACHE = Path(__file__).parent.parent.parent / ".evals-cache"
QUICK_USERS = {"locomo": 2, "beam-100k": 4, "memdaily-zh": 3, "year": 4}
QUICK_DAYS = 151


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m evals forgetting`."""
    parser.add_argument("--data", type=Path, required=True, help="folder that holds locomo/, memdaily-zh/, beam-100k/")
    parser.add_argument("--set", action="append", choices=SETS, help="which set, repeatable (default: all)")
    parser.add_argument("--embedder", default="e5", choices=("e5", "sentence-encoder", "none"), help="default: e5")
    parser.add_argument("--quick", action="store_true", help="some users, five months: minutes instead of half an hour")
    parser.add_argument("--users", type=int, metavar="N", help="the first N users of each set only")
    parser.add_argument("--days", type=int, metavar="N", help="length of the synthetic year")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="another world with other people")
    parser.add_argument("--processes", type=int, default=2, metavar="N", help="how many at once (default: 2)")
    parser.add_argument("--models", action="store_true", help="with the trained models too (e5): five times as long")
    parser.add_argument("--cache", type=Path, default=CACHE, metavar="DIR", help="where vectors are kept between runs")
    parser.add_argument("--plot", type=Path, metavar="DIR", help="draw forgetting-*.svg there")
    parser.add_argument("--why", type=Path, metavar="FILE", help="write what became of every answer that got lost")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of tables")


def measure(options: argparse.Namespace) -> None:
    """Runs what the command line asks for and prints it."""
    sets = options.set or SETS
    users = dict.fromkeys(SETS, options.users) if options.users else QUICK_USERS if options.quick else {}
    plan = Plan(
        options.data,
        sets,
        options.embedder,
        options.cache,
        users,
        options.days or (QUICK_DAYS if options.quick else 365),
        options.seed,
        options.processes,
        has_models=options.models,
    )
    results = run(plan)
    tables = scored(results)
    if options.plot:
        for name, chart in charts(tables).items():
            (options.plot / f"forgetting-{name}.svg").write_text(drawn(chart), "utf-8")
    if options.why:
        options.why.write_text("\n".join(_why(results)) + "\n", "utf-8")
    print(json.dumps(tables, ensure_ascii=False) if options.json else shown(tables))


def _why(results: Sequence[UserResult]) -> Iterator[str]:
    for result in results:
        whole = result.lived[EVERYTHING.name]
        for keeper, lived in result.lived.items():
            if lived.traces:
                yield f"== {result.set} {result.user}, {keeper}; not stored: {', '.join(lived.missed) or 'nothing'}"
                yield from lost(whole, lived)
