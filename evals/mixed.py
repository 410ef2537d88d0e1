"""A store in two languages: does a question in one find what was said in the other?

Each fact of `data/mixed.jsonl` is written in Chinese and in English, with one question in each language. The figure of
a language alone (asked and stored in it) is what the others are held against.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from evals.datasets import Dataset, Item, Question, read_rows
from evals.metrics import score_ranking
from evals.replay import Answers

FACTS = Path(__file__).parent / "data" / "mixed.jsonl"
LANGUAGES = ("zh", "en")

Row = dict[str, Any]
Held = Callable[[int, Row], list[str]]
"""Which languages of the n-th fact are in the store."""
Ask = Callable[[Dataset], Answers]


def stores() -> dict[str, Held]:
    """What is stored in each case: one language, both wordings of every fact, or each fact in one of the two."""
    return {
        "zh": lambda _, __: ["zh"],
        "en": lambda _, __: ["en"],
        "both": lambda _, __: ["zh", "en"],
        "mixed": lambda number, _: [LANGUAGES[number % 2]],
    }


def dataset(held: Held, asked: str, *, facts: list[Row]) -> Dataset:
    """One user's store, and the questions in one language. Either wording of a fact answers its question."""
    items = [
        Item(id=f"{fact['id']}-{language}", user="mixed", session=f"day-{number // 10}", text=fact[language])
        for number, fact in enumerate(facts)
        for language in held(number, fact)
    ]
    questions = [
        Question(
            id=fact["id"],
            user="mixed",
            text=fact[f"question_{asked}"],
            category=asked,
            groups=(frozenset(f"{fact['id']}-{language}" for language in LANGUAGES),),
        )
        for fact in facts
    ]
    return Dataset(name=f"mixed-{asked}", title="mixed", items=tuple(items), questions=tuple(questions))


def measure(systems: Mapping[str, Ask]) -> dict[str, dict[str, float]]:
    """R@5 of every system by case (`zh>en`: asked in Chinese, stored in English), and the ratios.

    `ratio:both` and `ratio:mixed` are means over the two asking languages of R@5 in that store over R@5 in the
    language's own store; `ratio:cross` the same for the store of the other language alone.
    """
    facts = read_rows(FACTS)
    return {name: _with_ratios(dict(_recalls(ask, facts))) for name, ask in systems.items()}


def _recalls(ask: Ask, facts: list[Row]) -> Iterator[tuple[str, float]]:
    for stored, held in stores().items():
        for asked in LANGUAGES:
            data = dataset(held, asked, facts=facts)
            ranked = ask(data).ranked
            scores = [score_ranking(ranked[question.id], question.groups)["R@5"] for question in data.questions]
            yield f"{asked}>{stored}", sum(scores) / len(scores)


def _with_ratios(recall: dict[str, float]) -> dict[str, float]:
    def ratio(*cases: tuple[str, str]) -> float:
        return sum(recall[f"{asked}>{stored}"] / max(recall[f"{asked}>{asked}"], 1e-9) for asked, stored in cases) / 2

    return recall | {
        "ratio:cross": ratio(("zh", "en"), ("en", "zh")),
        "ratio:both": ratio(("zh", "both"), ("en", "both")),
        "ratio:mixed": ratio(("zh", "mixed"), ("en", "mixed")),
    }
