"""The systems that one table compares: the product and three baselines, on the same texts in the same run."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ebbing.language.text.sentences import split_text
from ebbing.ports.models.embedder import Embedder
from evals.baselines import BM25, Scores, ranked, reciprocal_rank_fusion
from evals.datasets import Dataset, Item, Question
from evals.embedding import passage_vectors, question_vectors
from evals.metrics import Ranked, Scored, score_ranking
from evals.replay import DEPTH, LONGEST, Answers, Searchable, replay

BASELINES = ("BM25", "embedder", "RRF(60)")
OpenMemory = Callable[[Path], Any]
"""Opens a `Memory` on an empty directory, as a context manager."""


def product_answers(open_memory: OpenMemory, dataset: Dataset) -> Answers:
    """The product's lists, from a store that lives as long as this call."""
    with tempfile.TemporaryDirectory(prefix="ebbing-evals-") as folder:
        memory: Searchable
        with open_memory(Path(folder)) as memory:
            return replay(memory, dataset)


def baseline_answers(embedder: Embedder, dataset: Dataset) -> dict[str, dict[str, Ranked]]:
    """The baselines' lists, by system and question id."""
    found: dict[str, dict[str, Ranked]] = {name: {} for name in BASELINES}
    for user in dataset.users:
        items, questions = dataset.of(user)
        ids = [item.id for item in items]
        for question, legs in _legs(embedder, items, questions=questions):
            for name, scores in zip(BASELINES, legs, strict=True):
                found[name][question.id] = ranked(scores, ids, depth=DEPTH)
    return found


def scored(dataset: Dataset, lists: dict[str, Ranked]) -> list[Scored]:
    """One row a question, in the order of the set."""
    return [
        Scored(question.user, question.category, score_ranking(lists[question.id], question.groups))
        for question in dataset.questions
    ]


def said(item: Item) -> str:
    """A message as a plain index would hold it: with its speaker's name before it, where it has one. On LoCoMo this
    lifts BM25 from 57.8 to 61.9 and the embedder from 29 to 57 R@10."""
    return _named(item, item.text)


def vector_texts(items: Iterable[Item]) -> list[str]:
    """What is embedded of these messages. Over 4,000 characters the product stores a message in parts; the best part
    speaks for the message in the baseline too."""
    return [_named(item, part) for item in items for part in split_text(item.text[:LONGEST].strip())]


def _named(item: Item, text: str) -> str:
    return f"{item.name}: {text}" if item.name else text


def _legs(
    embedder: Embedder, items: list[Item], *, questions: list[Question]
) -> Iterator[tuple[Question, tuple[Scores, Scores, Scores]]]:
    keyword = BM25([said(item) for item in items])
    parts = [vector_texts([item]) for item in items]
    rows = np.repeat(np.arange(len(items)), [len(texts) for texts in parts])
    passages = passage_vectors(embedder, [text for texts in parts for text in texts]).astype(np.float64)
    asked = question_vectors(embedder, [question.text for question in questions]).astype(np.float64)
    for question, vector in zip(questions, asked, strict=True):
        words = keyword.scores(question.text)
        meaning = np.zeros(len(items))
        # Only the order matters; shifted, so that no cosine counts as "not matched".
        np.maximum.at(meaning, rows, passages @ vector + 2.0)
        yield question, (words, meaning, reciprocal_rank_fusion([words, meaning]))
