"""`python -m evals speed`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from ebbing.adapters.embedders.e5 import E5Embedder
from evals.bounds import Bound, report
from evals.speed import measure, startup
from evals.speed.against_mem0 import compare
from evals.speed.population import ConstantEmbedder, population
from evals.speed.rounds import rounds

SMALL = (10_000, 100)
"""Memories and users of the small store, which the large one is compared with."""


LARGE = "200,000 memories"
ROUND = "a round of two messages, without models"
BOUNDS = (
    Bound(LARGE, "typical, hot", "p50_ms", 0.5),
    Bound(LARGE, "typical, hot", "p99_ms", 5.0),
    Bound(LARGE, "1,000 memories, hot", "p50_ms", 1.5),
    Bound(LARGE, "1,000 memories, hot", "p99_ms", 8.0),
    Bound("growth", "typical, hot", "p50 large / small", 1.3),
    Bound("beside mem0 at 10,000", "search", "times_faster", 50.0, least=True),
    Bound(ROUND, "add", "p50_cpu_ms", 3.0),
    Bound("imports", "import ebbing", "p50_s", 0.25),
    Bound("whole process, e5", "start, one answer, end", "p50_s", 3.0),
    Bound("whole process, e5", "resident memory", "MiB", 600.0),
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    parser.add_argument("--memories", type=int, default=200_000, help="size of the large store (default: 200,000)")
    parser.add_argument("--users", type=int, default=2_000, help="its users (default: 2,000)")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of tables")
    parser.add_argument("--against", choices=["mem0"], help="also measure this product, at 10,000 memories")
    parser.add_argument("--mem0-python", type=Path, metavar="PATH", help="the Python of an environment with mem0ai")
    parser.add_argument("--rounds", action="store_true", help="only what remembering a round of two messages costs")
    parser.add_argument("--rss", action="store_true", help="also measure a whole process with the default embedder")


def run(options: argparse.Namespace) -> None:
    """Measures and prints."""
    report(measured(options), BOUNDS, as_json=options.json)


def measured(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """All figures, by heading and row."""
    found: dict[str, dict[str, Any]] = {ROUND: {"add": rounds()}}
    if options.rounds:
        return found
    embedder = ConstantEmbedder()
    found["imports"] = startup.imports()
    p50 = {}
    for memories, heads in (SMALL, (options.memories, options.users)):
        print(f"making {memories:,} memories of {heads:,} users", file=sys.stderr)
        users = population(memories, heads)
        with tempfile.TemporaryDirectory(prefix="ebbing-evals-") as scratch:
            folder = Path(scratch)
            heading = f"{memories:,} memories"
            found[heading] = {"load": measure.load(folder, users, embedder=embedder)}
            found[heading] |= measure.search(folder, users, embedder=embedder)
            found[heading]["typical, hot, async"] = measure.search_async(folder, users, embedder=embedder)
            p50[memories] = found[heading]["typical, hot"]["p50_ms"]
            if options.against and memories == SMALL[0]:
                found["beside mem0 at 10,000"] = compare(_python_of(options), folder, users=users, embedder=embedder)
            found[heading]["durable add"] = measure.add(folder, users, embedder=embedder)
        if options.rss and memories == SMALL[0]:
            found["whole process, e5"] = startup.whole_process(users, E5Embedder.model_id)
    found["growth"] = {"typical, hot": {"p50 large / small": p50[options.memories] / p50[SMALL[0]]}}
    return found


def _python_of(options: argparse.Namespace) -> Path:
    python: Path = options.mem0_python or Path(sys.executable)
    return python
