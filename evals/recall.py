"""`python -m evals recall`: one set after the other through the product and the baselines."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ebbing import Memory
from ebbing.ports.models.embedder import Embedder
from ebbing.recall.recall_settings import RecallSettings
from ebbing.wiring.build import build, load_settings
from evals import mixed, precision
from evals.beliefs import BeliefsInEbbing, baseline_stores
from evals.datasets import LOADERS, Dataset
from evals.embedding import with_bundled_models
from evals.metrics import Ranked, by_category, newer_above_older, paired_difference, percentile
from evals.replay import Answers
from evals.systems import BASELINES, baseline_answers, product_answers, scored

PRODUCT = "Ebbing"
SETS = (*LOADERS, "precisionmembench", "mixed")
Result = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """What one call of the command measures with."""

    data: Path
    embedder: Embedder
    users: int | None = None
    recall_settings: RecallSettings | None = None
    baselines: bool = True
    store: str | None = None
    """Address of a database that keeps the memories; None keeps them in files."""

    @contextmanager
    def open(self, folder: Path) -> Iterator[Memory]:
        """The product, as anybody opens it, but for the vectors that an earlier run left.

        In a database it has a tenant of its own, which is erased at the end.
        """
        place = {"path": folder} if self.store is None else {"store": self.store, "tenant": folder.name}
        made = build(
            load_settings(place),
            embedder=self.embedder,
            recall_settings=self.recall_settings,
        )
        with Memory(components=with_bundled_models(made)) as memory:
            yield memory
            if self.store is not None:
                memory.reset()


def measure(run: Run, name: str) -> Result:
    """Everything that is known about one set."""
    if name == "precisionmembench":
        return _precision(run)
    if name == "mixed":
        return _mixed(run)
    dataset = LOADERS[name](run.data)
    return _ranked_set(run, dataset.first_users(run.users) if run.users else dataset)


# ── sets with ranked evidence ────────────────────────────────────────────────────────────────────────────────────────


def _ranked_set(run: Run, dataset: Dataset) -> Result:
    print(f"{dataset.name}: {len(dataset.items):,} items, {len(dataset.questions):,} questions", file=sys.stderr)
    answers = product_answers(run.open, dataset)
    lists = {PRODUCT: answers.ranked}
    if run.baselines:
        lists |= baseline_answers(run.embedder, dataset)
    rows = {system: scored(dataset, found) for system, found in lists.items()}
    systems = {system: by_category(scores, apart=dataset.apart) for system, scores in rows.items()}
    for system, found in lists.items():
        _add_update_pairs(systems[system]["ALL"], dataset, found=found)
    headline_rows = {
        system: [row for row in scores if row.category not in dataset.apart] for system, scores in rows.items()
    }
    return {
        "set": dataset.name,
        "title": dataset.title,
        "items": len(dataset.items),
        "questions": len(dataset.questions),
        "systems": systems,
        "lead_over_rrf": {
            metric: paired_difference(headline_rows[PRODUCT], headline_rows["RRF(60)"], metric=metric)
            for metric in ("R@10", "NDCG@10")
            if run.baselines
        },
        "search_ms": {f"p{int(100 * at)}": 1000 * percentile(answers.search_seconds, at) for at in (0.5, 0.99)},
        "add_seconds": answers.add_seconds,
    }


def _add_update_pairs(figures: dict[str, float], dataset: Dataset, *, found: dict[str, Ranked]) -> None:
    """The share of questions about an updated value whose newer statement stands above the older one.

    A pair that names one message for both has no order and is left out.
    """
    pairs = [question for question in dataset.questions if question.newer and question.newer != question.older]
    if pairs:
        first = [newer_above_older(found[pair.id], pair.newer, older=pair.older) for pair in pairs]
        figures["newer above older"] = sum(first) / len(first)
        figures["pairs"] = len(first)


# ── the other two ────────────────────────────────────────────────────────────────────────────────────────────────────


def _precision(run: Run) -> Result:
    with tempfile.TemporaryDirectory(prefix="ebbing-evals-") as folder, run.open(Path(folder)) as memory:
        systems = {PRODUCT: precision.summary(precision.run(BeliefsInEbbing(memory)))}
    if run.baselines:
        systems |= {
            name: precision.summary(precision.run(store)) for name, store in baseline_stores(run.embedder).items()
        }
    return {"set": "precisionmembench", "title": "PrecisionMemBench", "systems": systems}


def _mixed(run: Run) -> Result:
    asks: dict[str, mixed.Ask] = {PRODUCT: partial(product_answers, run.open)}
    for name in BASELINES if run.baselines else ():
        asks[name] = partial(_baseline, run.embedder, name=name)
    systems = mixed.measure(asks)
    for figures in systems.values():
        figures["R@5 ratio"] = figures["ratio:mixed"]
    return {"set": "mixed", "title": "mixed Chinese/English store", "systems": systems}


def _baseline(embedder: Embedder, dataset: Dataset, *, name: str) -> Answers:
    return Answers(ranked=baseline_answers(embedder, dataset)[name])


def chosen_sets(name: str) -> Sequence[str]:
    """`all`, or the one that is named."""
    return SETS if name == "all" else (name,)
