"""Train the model of requests off the record: `python -m training.off_record`. A minute; `--judge` prints figures.

It learns which clauses ask that a message is not remembered: from messages whose request is marked (`data/off_record`),
and from the messages of talks, which ask for nothing. Each author is judged by what is learned of all others.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from ebbing.privacy.guarding.grammar import without_quotes
from ebbing.privacy.guarding.off_record import LIKELY, request_by_rules, rules
from ebbing.privacy.guarding.off_record_wording import (
    MAX_CLAUSES,
    PLACES,
    Clause,
    clauses_of,
    pieces_of,
    tokens_of,
)
from training.messages import messages
from training.parse import DATA

PACKAGE_DATA = Path(__file__).parents[1] / "src/ebbing/privacy/off_record.npz"
SAYINGS = Path(__file__).parents[1] / "tests/data/off_record.toml"
PENALTY = 6.0
WEIGHT_OF_TALK = 20.0
"""Of a clause of a talk: to lose what somebody told is a harm too."""
WEIGHT_ALIKE = 3.0
"""Of a clause of a message that only looks like a request."""
COVERED = 0.8
"""Share of a request's tokens that clauses hold which ask."""


@dataclass(frozen=True)
class Marked:
    """A message, and the part of it that asks."""

    text: str
    ask: str
    author: str


def marked() -> list[Marked]:
    """Return the messages of all authors, in a fixed order."""
    found: list[Marked] = []
    for path in sorted((DATA / "off_record").glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        found += [Marked(row["text"], row["ask"], path.stem) for row in rows]
    return [*found, *of_rules()]


def of_rules() -> list[Marked]:
    """Return what the rules find, and what they leave alone."""
    found: list[Marked] = []
    for rule in rules():
        found += [Marked(text, text, "rules") for text in rule.examples]
        found += [Marked(text, "", "rules") for text in rule.counter]
    sayings = tomllib.loads(SAYINGS.read_text("utf-8"))
    found += [Marked(text, text, "rules") for text in sayings["asks"]]
    return [*found, *(Marked(text, "", "rules") for text in sayings["mentions"])]


def ordinary() -> list[str]:
    """Return messages of talks that ask for nothing, as far as the rules see."""
    return [message.text for message in messages() if request_by_rules(message.text) is None]


@dataclass(frozen=True)
class Example:
    """Some clauses in a row, and whether they ask."""

    pieces: np.ndarray
    asks: bool
    weight: float


def examples(message: Marked) -> Iterator[Example]:
    """Yield the runs of clauses of a message; those that hold a part of the request are left out."""
    text = without_quotes(message.text)
    clauses, asked = list(clauses_of(text)), places_of(message.ask, text)
    for start in range(len(clauses)):
        for end in range(start + 1, min(start + MAX_CLAUSES, len(clauses)) + 1):
            run = clauses[start:end]
            held = {clause.start + step for clause in run for step in range(len(clause.tokens))}
            share = len(held & asked) / max(len(asked), 1)
            if share >= COVERED or not share:
                yield Example(joined(run), share > 0, 1.0 if share or message.ask else WEIGHT_ALIKE)


def places_of(part: str, text: str) -> set[int]:
    """Return the places of the tokens of a part among those of its text."""
    wanted, tokens = tokens_of(part), tokens_of(text)
    for start in range(len(tokens)) if wanted else ():
        if tokens[start : start + len(wanted)] == wanted:
            return set(range(start, start + len(wanted)))
    return set()


def joined(run: Sequence[Clause]) -> np.ndarray:
    """Return the pieces of clauses, those of each by themselves."""
    return np.concatenate([pieces_of(clause.tokens) for clause in run])


def learn(rows: Sequence[Example]) -> tuple[np.ndarray, float]:
    """Return weights, shape (PLACES,), and the base."""
    ends = np.cumsum([0, *(len(row.pieces) for row in rows)])
    ones = np.ones(ends[-1], np.float32)
    matrix = csr_matrix((ones, np.concatenate([row.pieces for row in rows]), ends), shape=(len(rows), PLACES))
    model = LogisticRegression(C=PENALTY, max_iter=400, solver="liblinear")
    model.fit(matrix, [row.asks for row in rows], sample_weight=[row.weight for row in rows])
    return model.coef_[0].astype(np.float32), float(model.intercept_[0])


def of_talk(texts: Sequence[str]) -> list[Example]:
    """Return the runs of clauses of messages that ask for nothing."""
    return [Example(row.pieces, False, WEIGHT_OF_TALK) for text in texts for row in examples(Marked(text, "", "talk"))]


def probability(text: str, weights: np.ndarray, base: float) -> float:
    """Return how likely a message asks; as `off_record_wording.asking` does it."""
    scores = [float(weights[pieces_of(clause.tokens)].sum()) for clause in clauses_of(without_quotes(text))]
    sums = [
        sum(scores[start:end])
        for start in range(len(scores))
        for end in range(start + 1, min(start + MAX_CLAUSES, len(scores)) + 1)
    ]
    return float(1.0 / (1.0 + np.exp(-(max(sums, default=-np.inf) + base))))


def judge() -> None:
    """Print how many requests are seen, and how often one is seen that is none, by author and threshold."""
    all_marked, talk = marked(), ordinary()
    authors = sorted({message.author for message in all_marked if message.ask})
    halves = [talk[0::2], talk[1::2]]
    for number, author in enumerate(authors):
        learned_talk, unseen_talk = halves[number % 2], halves[1 - number % 2]
        rows = [row for message in all_marked if message.author != author for row in examples(message)]
        weights, base = learn([*rows, *of_talk(learned_talk)])
        judged = [message for message in all_marked if message.author == author]
        print(author, figures(judged, unseen_talk, weights=weights, base=base))


def figures(judged: Sequence[Marked], talk: Sequence[str], *, weights: np.ndarray, base: float) -> str:
    """Return recall, wrong look-alikes and wrong ordinary messages, for some thresholds."""
    asked = np.array([probability(each.text, weights, base) for each in judged if each.ask])
    alike = np.array([probability(each.text, weights, base) for each in judged if not each.ask])
    plain = np.array([probability(text, weights, base) for text in talk])
    parts = []
    for least in (0.5, LIKELY, 0.95):
        seen, wrong, loose = (float((part >= least).mean()) for part in (asked, alike, plain))
        parts.append(f"{least}: seen {seen:.3f}, wrong {wrong:.3f}, of talk {loose:.5f}")
    return "; ".join(parts)


def main() -> None:
    """Learn from all authors and write the package data."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judge", action="store_true", help="print figures and write nothing")
    if parser.parse_args().judge:
        judge()
        return
    rows = [row for message in marked() for row in examples(message)]
    weights, base = learn([*rows, *of_talk(ordinary())])
    scale = float(np.abs(weights).max()) / 127
    np.savez_compressed(
        PACKAGE_DATA, weights=np.round(weights / scale).astype(np.int8), scale=np.float32(scale), base=np.float32(base)
    )
    print(f"{PACKAGE_DATA.stat().st_size} bytes")


if __name__ == "__main__":
    main()
