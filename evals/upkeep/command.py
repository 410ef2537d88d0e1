"""`python -m evals upkeep`."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from evals.speed.population import population
from evals.upkeep import measure

MOST_SECONDS = 60.0
MOST_RATIO = 3.0


def add_options(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    parser.add_argument("--memories", type=int, default=100_000, help="memories in all (default: 100,000)")
    parser.add_argument("--users", type=int, default=1_000, help="of so many users (default: 1,000)")
    parser.add_argument("--rate", type=float, default=50.0, help="searches a second meanwhile (default: 50)")
    parser.add_argument("--idle", type=float, default=20.0, metavar="SECONDS", help="how long before it (default: 20)")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of tables")


def run(options: argparse.Namespace) -> None:
    """Measures and prints."""
    found = measured(options)
    if options.json:
        print(json.dumps(found))
        return
    for heading, rows in found.items():
        print(f"\n{heading}")
        for name, figures in rows.items():
            print(f"  {name:<11} " + "  ".join(_figure(key, value) for key, value in figures.items()))
    print("\nbounds")
    print(_bound("decay for everybody, seconds", found["decay alone"]["decay"]["seconds"], MOST_SECONDS))
    ratio = found["worker apart"]["ratio"]["p99 meanwhile / idle"]
    print(_bound("p99 of searches beside the worker of `ebbing serve`, meanwhile / idle", ratio, MOST_RATIO))


def measured(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """All figures, by heading and row."""
    users = population(options.memories, options.users)
    pace = {"rate": options.rate, "idle_seconds": options.idle}
    with tempfile.TemporaryDirectory(prefix="ebbing-evals-") as scratch:
        folder = Path(scratch) / "store"
        began = time.perf_counter()
        measure.filled(folder, users)
        stored = time.perf_counter() - began
        print(f"stored {options.memories:,} memories in {stored:.0f} s", file=sys.stderr)
        copies = [measure.copied(folder, number) for number in (1, 2, 3)]
        return {
            "decay alone": measure.decay(copies[0]),
            "round alone": measure.alone(copies[1]),
            "worker apart": measure.apart(copies[2], users, **pace),
            "worker in the same process": measure.together(folder, users, **pace),
        }


def _figure(key: str, value: Any) -> str:
    return f"{key} {value:,.3g}" if isinstance(value, int | float) else f"{key} {value}"


def _bound(what: str, value: float, limit: float) -> str:
    return f"{'kept' if value <= limit else 'MISSED':>6}  {what} = {value:,.3g} (<= {limit:g})"
