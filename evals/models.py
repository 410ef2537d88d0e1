"""What is each trained model worth?

    python -m evals models               # a Markdown table: a task a row, ten minutes

*Rules alone*: no trained model but the embedder. *Messages judged*: the salience model too, which judges a message by
its vector. *Pairs read*: the reader and the change model too, which read two texts together; this is how the product
comes. Each task is measured as its own command does, on the parts from which neither rules nor models learned.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ebbing import Memory
from ebbing.adapters.embedders.e5 import E5Embedder
from ebbing.adapters.readers.salience_heads import SalienceHeads
from ebbing.wiring.build import Components, build, load_settings
from ebbing.wiring.components.models import reader_slot
from evals import conflicts, everyday, noticed, precision
from evals.beliefs import BeliefsInEbbing
from evals.embedding import KeptE5
from evals.extraction import HELD, LANGUAGES


@dataclass(frozen=True, slots=True)
class Row:
    """A task, and what each column came to."""

    task: str
    measures: str
    cells: tuple[str, ...]

    def __str__(self) -> str:
        return f"| {self.task} | {self.measures} | {' | '.join(self.cells)} |"


def rows() -> Iterator[Row]:
    """Yield the rows of the table, each when it is measured."""
    for language in LANGUAGES:
        counts = [asyncio.run(noticed.measure(language, HELD, components=made())) for made in _READING.values()]
        cells = tuple(_shown(each.shares()) for each in counts)
        yield Row(f"messages that become memories, {language}", "precision / recall / misfire", cells)
    for language in LANGUAGES:
        scores = [asyncio.run(conflicts.measure_part(language, HELD, components=made())) for made in _READING.values()]
        cells = tuple(
            _shown((each.recall, each.doubted / each.updates, each.wrong_share, each.wrongly_doubted / each.compatible))
            for each in scores
        )
        yield Row(f"what is over, {language}", "closed / doubted / wrongly closed / wrongly doubted", cells)
    yield from _recall_rows()


def _recall_rows() -> Iterator[Row]:
    embedder = KeptE5(everyday.CACHE)
    columns = [everyday.RecallModels(embedder, has_trained=has_trained) for has_trained in (False, True)]
    figures = [everyday.summary(everyday.facts(recall_models)) for recall_models in columns]
    for name in ("en", "zh", "en>zh", "zh>en"):
        off, on = (_precise(each[f"precise {name} all"]) for each in figures)
        yield Row(f"`precise` questions, {name}", "precision / recall / silence", (off, off, on))
    for name in ("en>zh", "zh>en"):
        off, on = (_shown((each[f"cross {name} all"]["first"],)) for each in figures)
        yield Row(f"answer in the other language, {name}", "first", (off, off, on))
    off, on = (_beliefs(recall_models) for recall_models in columns)
    yield Row("PrecisionMemBench", "precision / recall", (off, off, on))


def _precise(figures: dict[str, float]) -> str:
    return _shown((figures["precision"], figures["recall"], figures["silence"]))


def _beliefs(recall_models: everyday.RecallModels) -> str:
    with (
        tempfile.TemporaryDirectory(prefix="ebbing-evals-") as folder,
        Memory(components=recall_models.components(Path(folder))) as memory,
    ):
        found: dict[str, Any] = precision.summary(precision.run(BeliefsInEbbing(memory)))
    return _shown((found["precision"], found["recall"]))


def _shown(shares: tuple[float, ...]) -> str:
    """Shares with three digits; nothing for what does not apply."""
    return " / ".join("–" if math.isnan(share) else f"{share:.3f}" for share in shares)


def _settings(reader: str) -> Components:
    shown = {"store": "ephemeral", "embedder": "e5", "redaction": conflicts.REDACTION, "reader": reader}
    return build(load_settings(shown))


def _judging_messages() -> Components:
    made = _settings("auto")
    salience = SalienceHeads(E5Embedder.model_id)
    return replace(made, reader=reader_slot(made.settings, made.embedder, salience=salience))


_READING: Final[dict[str, Callable[[], Components]]] = {
    "rules alone": lambda: _settings("off"),
    "messages judged": _judging_messages,
    "pairs read": lambda: _settings("auto"),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m evals models`: none."""


def run(_options: argparse.Namespace) -> None:
    """Print the table, a row when it is measured."""
    print(f"| task | measures | {' | '.join(_READING)} |\n|---|---|{'---|' * len(_READING)}")
    for row in rows():
        print(row, flush=True)
