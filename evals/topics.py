"""Is everything that was said about a topic found, when somebody wants it forgotten?"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from ebbing import Memory

DATA = Path(__file__).with_name("data") / "topics.jsonl"
KINDS = ("says", "means", "near")


@dataclass(slots=True)
class Tally:
    """What the topics of one language and half gave."""

    topics: int = 0
    said: int = 0
    said_found: int = 0
    meant: int = 0
    meant_found: int = 0
    meant_shown: int = 0
    """Not found, but shown among what may be about it."""
    wrong: int = 0
    """Candidates that are about something else."""
    shown_wrong: int = 0


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m evals topics`."""
    parser.add_argument("--embedder", default="e5", help="`e5` (default), `sentence-encoder` or `none`")


def run(options: argparse.Namespace) -> None:
    """Prints the table."""
    with tempfile.TemporaryDirectory() as directory:
        Console(width=110).print(table(measured(options.embedder, Path(directory))))


def topics() -> list[dict[str, Any]]:
    """The topics, each with statements that name it, that mean it without naming it, and that only look like it."""
    return [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]


def measured(embedder: str, path: Path) -> dict[tuple[str, str], Tally]:
    """Tallies by language and half. All statements of a language are one person's memory."""
    tallies: dict[tuple[str, str], Tally] = {}
    every = topics()
    with Memory(path, embedder=embedder) as memory:
        for language in ("en", "zh"):
            mine = [topic for topic in every if topic["lang"] == language]
            texts = list(dict.fromkeys(text for topic in mine for kind in KINDS for text in topic[kind]))
            memory.add(texts, user_id=language, infer=False)
            for topic in mine:
                _count(memory, topic, tally=tallies.setdefault((language, topic["half"]), Tally()))
    return tallies


def table(tallies: dict[tuple[str, str], Tally]) -> Table:
    """The tallies for people."""
    shown = Table(title="What is found of a topic that is to be forgotten (statements of our own)")
    for head in ("language", "half", "topics", "named: found", "meant: found", "… or shown", "wrong", "… shown"):
        shown.add_column(head, justify="left" if head in {"language", "half"} else "right")
    for (language, half), item in tallies.items():
        shown.add_row(*_cells(language, half, one=item))
    return shown


def _count(memory: Memory, topic: dict[str, Any], *, tally: Tally) -> None:
    found = memory.forget(topic["topic"], user_id=topic["lang"])
    candidates = {item["memory"] for item in found["candidates"]}
    perhaps = {item["memory"] for item in found["perhaps"]}
    tally.topics += 1
    tally.said += len(topic["says"])
    tally.said_found += len(candidates.intersection(topic["says"]))
    tally.meant += len(topic["means"])
    tally.meant_found += len(candidates.intersection(topic["means"]))
    tally.meant_shown += len(perhaps.intersection(topic["means"]))
    about = {*topic["says"], *topic["means"]}
    tally.wrong += len(candidates - about)
    tally.shown_wrong += len(perhaps - about)


def _cells(language: str, half: str, *, one: Tally) -> Iterator[str]:
    yield from (language, half, str(one.topics), f"{one.said_found} of {one.said}")
    yield from (f"{one.meant_found} of {one.meant}", str(one.meant_shown), str(one.wrong), str(one.shown_wrong))
