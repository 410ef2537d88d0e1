"""The command line of the evals."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from evals import compression, conflicts, everyday, extraction, life, memorybank, models, noticed, talks, topics
from evals.ablations import ablate
from evals.datasets import LOADERS
from evals.embedding import KeptE5, warm
from evals.forgetting.command import add_options as add_forgetting_options
from evals.forgetting.command import measure as measure_forgetting
from evals.http.command import add_options as add_http_options
from evals.http.command import run as run_http
from evals.recall import PRODUCT, SETS, Run, chosen_sets, measure
from evals.report import ablation_markdown, markdown, show, standings
from evals.retention.command import add_options as add_retention_options
from evals.retention.command import run as run_retention
from evals.speed.command import add_options as add_speed_options
from evals.speed.command import run as run_speed
from evals.systems import BASELINES, vector_texts
from evals.upkeep.command import add_options as add_upkeep_options
from evals.upkeep.command import run as run_upkeep

CACHE = Path(__file__).parent.parent / ".evals-cache"


def main(arguments: list[str] | None = None) -> None:
    """Reads the command line and runs what it asks for."""
    parser = argparse.ArgumentParser(prog="python -m evals", description=__doc__)
    commands = parser.add_subparsers(required=True)
    recall = commands.add_parser("recall", help="is the right memory found?")
    _add_recall_options(recall)
    recall.set_defaults(run=_recall)
    speed = commands.add_parser("speed", help="how long do add and search take?")
    add_speed_options(speed)
    speed.set_defaults(run=run_speed)
    reading = commands.add_parser("extraction", help="are facts read from sentences, and nothing else?")
    extraction.add_arguments(reading)
    reading.set_defaults(run=extraction.run)
    for module, name, asks in (
        (conflicts, "conflicts", "is what is no longer true closed, and nothing else?"),
        (noticed, "noticed", "of which messages is something remembered?"),
        (models, "models", "what is each trained model worth?"),
        (life, "life", "what is kept of everyday conversations, and does it answer?"),
        (talks, "talks", "are memories made where a person would make them?"),
        (memorybank, "memorybank", "what is kept of real conversations?"),
        (compression, "compression", "what does merging save, and what does it cost?"),
        (topics, "topics", "is everything found that was said about a topic?"),
        (everyday, "everyday", "does recall hold in a mixed store, for dates and for weak questions?"),
    ):
        command = commands.add_parser(name, help=asks)
        module.add_options(command)
        command.set_defaults(run=module.run)
    forgetting = commands.add_parser("forgetting", help="what is left when time passes, and is it found?")
    add_forgetting_options(forgetting)
    forgetting.set_defaults(run=measure_forgetting)
    needed = commands.add_parser("retention", help="is the chance that a memory is needed again told rightly?")
    add_retention_options(needed)
    needed.set_defaults(run=run_retention)
    upkeep = commands.add_parser("upkeep", help="how long does the upkeep take, and who notices?")
    add_upkeep_options(upkeep)
    upkeep.set_defaults(run=run_upkeep)
    over_http = commands.add_parser("http", help="what does the service cost, bear, and lose when it is killed?")
    add_http_options(over_http)
    over_http.set_defaults(run=run_http)
    options = parser.parse_args(arguments)
    options.run(options)


def _add_recall_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, required=True, help="folder that holds locomo/, memdaily-zh/, beam-100k/")
    parser.add_argument("--set", default="all", choices=[*SETS, "all"], help="which set (default: all)")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of tables")
    parser.add_argument(
        "--table", action="store_true", help="print the Markdown table of docs/measurements.md, with floors and aims"
    )
    parser.add_argument("--ablate", action="store_true", help="repeat with one step of recall switched off at a time")
    parser.add_argument("--no-baselines", action="store_true", help="the product alone: faster while developing")
    parser.add_argument("--limit-users", type=int, metavar="N", help="the first N users of each set only")
    parser.add_argument("--cache", type=Path, default=CACHE, metavar="DIR", help="where vectors are kept between runs")
    parser.add_argument("--store", metavar="ADDRESS", help="a database on a server, in place of files")
    parser.add_argument("--embed-only", action="store_true", help="only fill the cache of vectors (10 minutes or so)")


def _recall(options: argparse.Namespace) -> None:
    embedder = KeptE5(options.cache)
    run = Run(
        options.data,
        embedder,
        users=options.limit_users,
        baselines=not options.no_baselines,
        store=options.store,
    )
    sets = chosen_sets(options.set)
    if options.embed_only:
        _embed(run, sets)
    elif options.ablate:
        rows = ablate(run, sets, uncentred=KeptE5(options.cache, centred=False))
        print(json.dumps(rows, ensure_ascii=False) if options.json else ablation_markdown(rows))
    else:
        _measure(run, sets, options=options)


def _embed(run: Run, sets: Sequence[str]) -> None:
    for dataset in (LOADERS[name](run.data) for name in sets if name in LOADERS):
        print(dataset.name, file=sys.stderr)
        questions = [question.text for question in dataset.questions]
        asyncio.run(warm(run.embedder, vector_texts(dataset.items), questions=questions))


def _measure(run: Run, sets: Sequence[str], *, options: argparse.Namespace) -> None:
    results = []
    console = Console(width=None if sys.stdout.isatty() else 160)
    for name in sets:
        results.append(measure(run, name))
        if not options.json:
            show(results[-1], console)
    if options.json:
        print(json.dumps(results, ensure_ascii=False))
        return
    if options.table:
        print(markdown(results, [PRODUCT, *(BASELINES if run.baselines else ())]))
    print("\n".join(standings(results, PRODUCT)))
