"""Recall in everyday use: two languages in one store, dates, questions that lean on their conversation, and silence.

The data is in `data/everyday/`. Every second row is in the half that is `held`: its errors are never printed.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ebbing import Memory
from ebbing.wiring.build import Components, build
from evals.datasets import read_rows
from evals.embedding import KeptE5, with_bundled_models

DATA = Path(__file__).parent / "data" / "everyday"
CACHE = Path(__file__).parent.parent / ".evals-cache"
NOW = datetime(2026, 11, 20, 21, 0, tzinfo=UTC)
USER = "emma"
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one question came to."""

    set: str
    half: str
    question: str
    ranks: tuple[int, ...]
    """Places of the wanted memories among those found, from 0."""
    found: tuple[str, ...]
    wanted: tuple[str, ...]

    @property
    def first(self) -> bool:
        """Whether the first memory is a wanted one."""
        return 0 in self.ranks

    @property
    def among_three(self) -> bool:
        """Whether a wanted memory is among the first three."""
        return any(rank < 3 for rank in self.ranks)


@dataclass(frozen=True, slots=True)
class RecallModels:
    """The models that serve a store."""

    embedder: KeptE5
    has_trained: bool = True
    """Whether the bundled models stand beside the embedder."""

    def components(self, path: Path) -> Components:
        """Return the components of a store in a folder."""
        made = build(path=path, embedder=self.embedder)
        return with_bundled_models(made) if self.has_trained else made


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question and the messages that answer it."""

    number: int
    question: str
    wanted: tuple[str, ...]

    def outcome(self, name: str, found: list[tuple[str, ...]]) -> Outcome:
        """What it came to, given the message ids behind each memory that was found."""
        ranks = tuple(place for place, sources in enumerate(found) if not set(self.wanted).isdisjoint(sources))
        return Outcome(name, _half(self.number), self.question, ranks, tuple(map("+".join, found)), self.wanted)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--show", action="store_true", help="print the errors of the half that may be looked at")
    parser.add_argument("--infer", action="store_true", help="store the memories that are read from the facts too")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(options: argparse.Namespace) -> None:
    """Measures the four sets and prints the figures of both halves."""
    recall_models = RecallModels(KeptE5(CACHE))
    outcomes = [*facts(recall_models, infer=options.infer), *_dates(recall_models), *_weak(recall_models)]
    figures = summary(outcomes)
    if options.json:
        print(json.dumps(figures, ensure_ascii=False))
        return
    for name, row in figures.items():
        print(f"{name:<24}" + "  ".join(f"{measure} {value:.3f}" for measure, value in row.items()))
    if options.show:
        for outcome in outcomes:
            if outcome.half == "dev" and not _is_right(outcome):
                print(f"\n{outcome.set}: {outcome.question}\n  wanted {outcome.wanted}\n  found  {outcome.found[:3]}")


def _is_right(outcome: Outcome) -> bool:
    if outcome.set.startswith("precise"):
        return sorted(outcome.found) == sorted(outcome.wanted)
    return outcome.first


def summary(outcomes: Iterable[Outcome]) -> dict[str, dict[str, float]]:
    """Figures by set and half."""
    rows: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        rows[f"{outcome.set} {outcome.half}"].append(outcome)
        rows[f"{outcome.set} all"].append(outcome)
    return {name: _figures(some) for name, some in sorted(rows.items())}


def _figures(rows: list[Outcome]) -> dict[str, float]:
    if not rows[0].set.startswith("precise"):
        return {
            "first": _share(row.first for row in rows),
            "among three": _share(row.among_three for row in rows),
            "n": len(rows),
        }
    known = [row for row in rows if row.wanted]
    shown = [row for row in rows if row.found]
    return {
        "precision": _mean(len(row.ranks) / len(row.found) for row in shown),
        "precision of known": _mean(len(row.ranks) / len(row.found) for row in shown if row.wanted),
        "recall": _mean(len(row.ranks) / len(row.wanted) for row in known),
        "silence": _share(not row.found for row in rows if not row.wanted),
        "n": len(rows),
    }


def _share(values: Iterable[bool]) -> float:
    return _mean(map(float, values))


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return sum(known) / len(known) if known else float("nan")


def _half(number: int) -> str:
    return "held" if number % 2 else "dev"


def facts(recall_models: RecallModels, *, infer: bool = False) -> Iterator[Outcome]:
    """Yield what came of the questions in the other language, and of those for a precise answer."""
    rows = read_rows(DATA / "facts.jsonl")
    with _Opened(recall_models) as memory:
        _store_facts(memory, rows, infer=infer)
        for number, fact in enumerate(fact for fact in rows if "question" in fact):
            name = "zh>en" if fact["language"] == "en" else "en>zh"
            asked = _Asked(number, fact["question"], (fact["id"],))
            found = _found(memory, fact["question"])
            yield asked.outcome(f"cross {name}", found)
            found = _found(memory, fact["question"], precise=True)
            yield asked.outcome(f"precise {name}", found)
        for number, case in enumerate(read_rows(DATA / "precise.jsonl")):
            asked = _Asked(number, case["question"], tuple(case["wanted"]))
            found = _found(memory, case["question"], precise=True)
            yield asked.outcome(f"precise {case['language']}", found)
            if case["wanted"]:
                found = _found(memory, case["question"])
                yield asked.outcome(f"search {case['language']}", found)


def _store_facts(memory: Memory, facts: list[Row], *, infer: bool = False) -> None:
    """Each fact on a day of its own, the languages in turns."""
    half = len(facts) // 2
    for number, fact in enumerate(fact for pair in zip(facts[:half], facts[half:], strict=True) for fact in pair):
        _add(memory, fact["id"], fact["text"], at=NOW - timedelta(days=200 - number), infer=infer)


def _add(memory: Memory, name: str, text: str, *, at: datetime, infer: bool = False, user: str = USER) -> None:
    message = {"id": name, "role": "user", "content": text, "timestamp": at.isoformat()}
    memory.add([message], user_id=user, infer=infer)


def _dates(recall_models: RecallModels) -> Iterator[Outcome]:
    """Each language has a log and a user of its own: the days are the same."""
    with _Opened(recall_models) as memory:
        for row in sorted(read_rows(DATA / "log.jsonl"), key=lambda row: str(row["at"])):
            _add(memory, row["id"], row["text"], at=datetime.fromisoformat(row["at"]), user=row["language"])
        for number, case in enumerate(read_rows(DATA / "dates.jsonl")):
            how = {"user_id": case["language"], "reference_date": case["asked_at"]}
            found = _found(memory, case["question"], **how)
            yield _Asked(number, case["question"], tuple(case["wanted"])).outcome("dates", found)


def _weak(recall_models: RecallModels) -> Iterator[Outcome]:
    """Through `get_context` with its defaults; the conversation is stored as well, as a host would have done."""
    cases = read_rows(DATA / "weak.jsonl")
    with _Opened(recall_models) as memory:
        _store_facts(memory, read_rows(DATA / "facts.jsonl"))
        for number, case in enumerate(cases):
            for days, part in ((70, "beginning"), (40, "outcome")):
                at = NOW - timedelta(days=days, minutes=number)
                _add(memory, f"{case['id']}-{part}", case[part], at=at)
        for number, case in enumerate(cases):
            roles = ("user", "assistant")
            turns = [{"role": role, "content": text} for role, text in zip(roles, case["turns"], strict=True)]
            memory.add(turns, user_id=USER, infer=False)
            messages = [*turns, {"role": "user", "content": case["question"]}]
            answer = memory.get_context(messages=messages, user_id=USER, reference_date=NOW)
            relevant = [item for item in answer["memories"] if item["group"] == "relevant"]
            found = [_sources(item) for item in sorted(relevant, key=lambda item: -item["score"])]
            asked = _Asked(number, case["question"], (f"{case['id']}-outcome",))
            yield asked.outcome(f"weak {case['language']}", found)


def _found(memory: Memory, question: str, **how: Any) -> list[tuple[str, ...]]:
    options: Row = {"user_id": USER, "reference_date": NOW, "top_k": 5, **how}
    results = memory.search(question, **options)["results"]
    return list(dict.fromkeys(_sources(item) for item in results))


def _sources(item: Row) -> tuple[str, ...]:
    """Ids of the messages that an answer stands for."""
    return tuple(item["source_ids"])


class _Opened:
    """A store that lives as long as the block."""

    def __init__(self, recall_models: RecallModels) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="ebbing-evals-")
        self._memory = Memory(components=recall_models.components(Path(self._folder.name)))

    def __enter__(self) -> Memory:
        return self._memory

    def __exit__(self, *_: object) -> None:
        self._memory.close()
        self._folder.cleanup()
