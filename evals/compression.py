"""`python -m evals compression`: what merging saves, what it costs in answers, and what it puts together wrongly."""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from ebbing import Memory
from evals.datasets import LOADERS, Dataset
from evals.embedding import KeptE5
from evals.metrics import Ranked, means
from evals.replay import DEPTH, store
from evals.systems import scored

CACHE = Path(__file__).parent.parent / ".evals-cache"
NAMES = ("memdaily-zh", "locomo", "beam-100k")
"""Sets; `beam-100k` is long and repeats little."""


@dataclass(frozen=True, slots=True)
class Stand:
    """A store at one moment."""

    records: int
    bytes: int
    """UTF-8 bytes of the texts that answers are made of."""
    recall: float
    """R@10 of the set's headline categories."""
    ndcg: float


@dataclass(frozen=True, slots=True)
class Measured:
    """One set before and after."""

    set: str
    users: int
    before: Stand
    after: Stand
    summaries: int
    seconds: float
    """Of compressing all users."""
    mixed: float | None
    """Share of messages that are told by a record which for the most part tells another fact, where the set marks
    facts."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--data", type=Path, required=True, help="folder that holds memdaily-zh/, locomo/, beam-100k/")
    parser.add_argument("--set", action="append", choices=NAMES, help="which set, repeatable (default: the first two)")
    parser.add_argument("--limit-users", type=int, metavar="N", help="the first N users of each set only")
    parser.add_argument("--cache", type=Path, default=CACHE, metavar="DIR", help="where vectors are kept between runs")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of a table")


def run(options: argparse.Namespace) -> None:
    """Measures what the command line asks for and prints it."""
    results = []
    for name in options.set or NAMES[:2]:
        dataset = LOADERS[name](options.data)
        kept = dataset.first_users(options.limit_users) if options.limit_users else dataset
        results.append(measured(kept, KeptE5(options.cache)))
    if options.json:
        print(json.dumps([asdict(item) for item in results]))
    else:
        Console().print(_table(results))


def measured(dataset: Dataset, embedder: KeptE5) -> Measured:
    """Stores the set as it is, asks everything, compresses, asks again."""
    with tempfile.TemporaryDirectory(prefix="ebbing-evals-") as folder:
        with Memory(path=folder, embedder=embedder) as memory:
            store(memory, dataset.items)
            before = _stand(memory, dataset, _items(memory, dataset))
            began = time.perf_counter()
            summaries = sum(memory.maintenance.merge_duplicates(user_id=user)["summarized"] for user in dataset.users)
            seconds = time.perf_counter() - began
        with Memory(path=folder, embedder=embedder) as memory:
            items = _items(memory, dataset)
            after = _stand(memory, dataset, items)
    return Measured(dataset.name, len(dataset.users), before, after, summaries, seconds, mixed=_mixed(dataset, items))


def _items(memory: Any, dataset: Dataset) -> list[Mapping[str, Any]]:
    """Everything that is listed."""
    found: list[Mapping[str, Any]] = []
    for user in dataset.users:
        cursor = None
        while True:
            page = memory.get_all(user_id=user, limit=1_000, cursor=cursor, include="all")
            found += page["results"]
            cursor = page["next_cursor"]
            if cursor is None:
                break
    return found


def _stand(memory: Any, dataset: Dataset, items: Sequence[Mapping[str, Any]]) -> Stand:
    ranked: dict[str, Ranked] = {}
    for question in dataset.questions:
        asked = {} if question.asked_at is None else {"reference_date": question.asked_at}
        found = memory.search(question.text, user_id=question.user, top_k=DEPTH, **asked)
        # A summary is no answer: it names messages that it only mentions.
        ranked[question.id] = [() if "summary" in hit["tags"] else hit["source_ids"] for hit in found["results"]]
    rows = [row for row in scored(dataset, ranked) if row.category not in dataset.apart]
    figures = means(rows)
    size = sum(len(item["memory"].encode()) for item in items)
    return Stand(len(items), size, figures["R@10"], figures["NDCG@10"])


def _mixed(dataset: Dataset, items: Sequence[Mapping[str, Any]]) -> float | None:
    key_of = {(item.user, item.id): item.key for item in dataset.items}
    if not any(key_of.values()):
        return None
    wrong = 0
    for item in items:
        keys = [key_of.get((item["user_id"], name)) for name in item["source_ids"]]
        known = Counter(key for key in keys if key is not None)
        if "summary" not in item["tags"] and known:
            wrong += known.total() - max(known.values())
    return wrong / len(key_of)


def _table(results: Sequence[Measured]) -> Table:
    table = Table("set", "users", "records", "bytes", "R@10", "NDCG@10", "mixed", "summaries", "seconds")
    for one in results:
        old, new = one.before, one.after
        table.add_row(
            one.set,
            f"{one.users}",
            f"{old.records:,} → {new.records:,}",
            f"{100 * new.bytes / old.bytes:.1f} %",
            f"{100 * old.recall:.1f} → {100 * new.recall:.1f}",
            f"{100 * old.ndcg:.1f} → {100 * new.ndcg:.1f}",
            "–" if one.mixed is None else f"{100 * one.mixed:.1f} %",
            f"{one.summaries}",
            f"{one.seconds:.1f}",
        )
    return table
