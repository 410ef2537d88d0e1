"""Sends a data set through the product: `Memory.add` session by session, then `Memory.search`."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Protocol

from evals.datasets import Dataset, Item, Question
from evals.metrics import Ranked

DEPTH = 50
"""Results asked for: the most that one search gives. All cuts (5, 10, 20) are read off this one list."""
LONGEST = 100_000
"""Characters of a message that `add` accepts; one message of BEAM is longer and is cut here."""


class Searchable(Protocol):
    """The part of `ebbing.Memory` that is measured."""

    def add(self, messages: Any, **options: Any) -> Any: ...

    def search(self, query: str, **options: Any) -> Any: ...


@dataclass
class Answers:
    """Ranked lists by question id, and what the calls took."""

    ranked: dict[str, Ranked] = field(default_factory=dict)
    search_seconds: list[float] = field(default_factory=list)
    add_seconds: float = 0.0


def replay(memory: Searchable, dataset: Dataset) -> Answers:
    """Store everything of every user, then ask every question."""
    answers = Answers()
    began = time.perf_counter()
    store(memory, dataset.items)
    answers.add_seconds = time.perf_counter() - began
    for question in dataset.questions:
        began = time.perf_counter()
        found = memory.search(question.text, user_id=question.user, top_k=DEPTH, **_asked_at(question))
        answers.search_seconds.append(time.perf_counter() - began)
        answers.ranked[question.id] = hits(found)
    return answers


def store(memory: Searchable, items: Iterable[Item]) -> None:
    """One `add` a session, without extraction: retrieval is what is measured."""
    began, told = time.perf_counter(), 0.0
    for user, session, messages in sessions(items):
        memory.add(messages, user_id=user, run_id=session, infer=False)
        if time.perf_counter() - began - told > 10:
            told = time.perf_counter() - began
            print(f"stored up to {session} of {user}, {told:.0f} s", file=sys.stderr)


def sessions(items: Iterable[Item]) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """User, session and messages, for every run of items of one session."""
    for (user, session), run in groupby(items, key=lambda item: (item.user, item.session)):
        yield user, session, [message(item) for item in run]


def message(item: Item) -> dict[str, Any]:
    """An item in the shape that `Memory.add` takes."""
    shaped: dict[str, Any] = {"id": item.id, "role": item.role, "content": item.text[:LONGEST]}
    if item.name is not None:
        shaped["name"] = item.name
    if item.at is not None:
        shaped["timestamp"] = item.at.isoformat()
    return shaped


def hits(found: Any) -> Ranked:
    """Per hit the message ids that it answers for."""
    return [tuple(hit["source_ids"]) for hit in found["results"]]


def _asked_at(question: Question) -> dict[str, Any]:
    return {} if question.asked_at is None else {"reference_date": question.asked_at}
