"""The learned map of questions: what it moves, what it leaves, and whether it helps in talks that it never saw."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from ebbing.adapters.embedders.e5 import Centring, E5Embedder, QuestionMap, Role
from ebbing.adapters.embedders.e5_weights import DIM, locate, read_weights

LOGS = Path(__file__).parents[4] / "evals/data/life_unseen"


@cache
def embedder(*, is_mapped: bool) -> E5Embedder:
    question_map = QuestionMap.load() if is_mapped else None
    return E5Embedder(read_weights(locate()), threads=2, centring=Centring.load(), question_map=question_map)


def vectors(texts: list[str], role: Role, *, is_mapped: bool) -> np.ndarray:
    return embedder(is_mapped=is_mapped).embed(texts, role)


def test_what_is_stored_keeps_its_vector() -> None:
    texts = ["Terry at number 9 has the spare key", "备用钥匙在502王孃孃那儿"]
    assert np.array_equal(vectors(texts, "passage", is_mapped=True), vectors(texts, "passage", is_mapped=False))


def test_a_mapped_question_has_length_one_and_a_blank_one_has_none() -> None:
    mapped = vectors(["Who can let me in?", " "], "query", is_mapped=True)
    assert np.linalg.norm(mapped, axis=1) == pytest.approx([1.0, 0.0], abs=1e-5)


def test_the_vector_of_a_question_does_not_depend_on_the_others() -> None:
    alone = vectors(["谁能给我开门？"], "query", is_mapped=True)
    beside = vectors(["谁能给我开门？", "What does my aunt do?"], "query", is_mapped=True)
    assert alone[0] == pytest.approx(beside[0], abs=1e-5)


def test_a_map_of_nothing_changes_nothing() -> None:
    unit = np.eye(DIM, dtype=np.float32)[:3]
    nothing = QuestionMap(np.zeros((DIM, DIM), np.float32), np.zeros(DIM, np.float32))
    assert np.allclose(nothing.apply(unit), unit)


@pytest.mark.extended
def test_more_answers_are_among_the_ten_nearest_in_talks_that_it_did_not_learn_from() -> None:
    before, after = (sum(answers_near(log, is_mapped=is_mapped) for log in ("en_ordinary", "zh_pair", "zh_group"))
                     for is_mapped in (False, True))  # fmt: skip
    assert after >= before + 3


def answers_near(log: str, *, is_mapped: bool) -> int:
    """Return how many of a log's questions have evidence among the ten messages nearest in meaning."""
    messages = rows(f"{log}.jsonl")
    texts = [f"{message['name']}: {message['content']}" if "name" in message else message["content"]
             for message in messages]  # fmt: skip
    asked = [row for row in rows(f"{log}_questions.jsonl") if row["evidence"]]
    posed = vectors([row["question"] for row in asked], "query", is_mapped=is_mapped)
    nearest = np.argsort(-posed @ vectors(texts, "passage", is_mapped=is_mapped).T, axis=1)[:, :10]
    return sum(
        not set(row["evidence"]).isdisjoint(messages[place]["id"] for place in places)
        for row, places in zip(asked, nearest, strict=True)
    )


def rows(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (LOGS / name).read_text("utf-8").splitlines()]
