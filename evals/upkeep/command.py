"""`python -m evals upkeep`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from evals.bounds import Bound, report
from evals.speed.population import population
from evals.upkeep import measure

BOUNDS = (
    Bound("decay alone", "decay", "seconds", 60.0),
    # The worker of its own process is that of `ebbing serve`.
    Bound("worker apart", "ratio", "p99 meanwhile / idle", 3.0),
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    parser.add_argument("--memories", type=int, default=100_000, help="memories in all (default: 100,000)")
    parser.add_argument("--users", type=int, default=1_000, help="of so many users (default: 1,000)")
    parser.add_argument("--rate", type=float, default=50.0, help="searches a second meanwhile (default: 50)")
    parser.add_argument("--idle", type=float, default=20.0, metavar="SECONDS", help="how long before it (default: 20)")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of tables")


def run(options: argparse.Namespace) -> None:
    """Measures and prints."""
    report(measured(options), BOUNDS, as_json=options.json)


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
