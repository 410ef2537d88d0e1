"""`python -m evals http`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from ebbing.adapters.embedders.e5 import E5Embedder
from evals.bounds import Bound, report
from evals.http.cost import cost
from evals.http.crash import crash
from evals.http.load import load as under_load
from evals.speed.measure import load
from evals.speed.population import ConstantEmbedder, population

PARTS = ("cost", "load", "crash")
COST, LOAD, CRASH = "CPU of one request", "clients at once", "kill -9"
BOUNDS = (
    Bound(LOAD, "all", "errors", 0.0),
    Bound(LOAD, "all", "p99 / p50", 10.0),
    Bound(LOAD, "search", "p99 / p50", 10.0),
    Bound(LOAD, "add", "p99 / p50", 10.0),
    Bound(CRASH, "kill", "lost", 0.0),
    Bound(CRASH, "kill", "not found by a search", 0.0),
    Bound(CRASH, "start after it", "worst_s", 3.0),
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    parser.add_argument("--memories", type=int, default=100_000, help="memories in the store (default: 100,000)")
    parser.add_argument("--users", type=int, default=1_000, help="of so many users (default: 1,000)")
    parser.add_argument("--clients", type=int, default=64, help="clients at once (default: 64)")
    parser.add_argument("--seconds", type=float, default=60.0, help="for so long (default: 60)")
    parser.add_argument("--only", choices=PARTS, help="only this part")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of tables")


def run(options: argparse.Namespace) -> None:
    """Measures and prints."""
    report(measured(options), BOUNDS, as_json=options.json)


def measured(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """All figures, by heading and row."""
    parts = (options.only,) if options.only else PARTS
    found: dict[str, dict[str, Any]] = {}
    users = population(options.memories, options.users)
    with tempfile.TemporaryDirectory(prefix="ebbing-evals-") as scratch:
        folder = Path(scratch) / "store"
        # Made vectors under the default model's name: the service then runs as it comes.
        stored = load(folder, users, embedder=ConstantEmbedder(E5Embedder.model_id))
        print(f"stored the memories of {len(users):,} users in {stored['seconds']:.0f} s", file=sys.stderr)
        if "cost" in parts:
            found[COST] = cost(folder, users)
        if "load" in parts:
            found[LOAD] = under_load(folder, users, clients=options.clients, seconds=options.seconds)
        if "crash" in parts:
            found[CRASH] = crash(folder)
    return found
