"""Which clauses are worth remembering for long, and as what? Learns it, and says how well.

    python -m evals worth              # how good what is learned is on clauses that it has not seen
    python -m evals worth --train      # learns from all labelled clauses: writes src/ebbing/language/packs/lasting.*

The clauses are those of `data/worth_*.jsonl` (`worth_more_*`: by who changes the rules), of the tuning half and the
fresh part of the extraction sets without one round (never those of the test half or the held ones). Two things are
learned of them, each by logistic regression with quadratic regularisation: whether a clause is worth it, and of what
type it is then. The figures are of `data/worth_{en,zh}.jsonl`, whose clauses nobody tuned a rule on: a fifth at a time
is kept by what is learned of all the others. *Precision*: of the clauses that are kept, those worth it. *Recall*: of
those worth it, the ones that are kept. *Types*: of these, the ones of the type that their label says.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.language.parsing.message_statements import statements
from ebbing.language.patterns import keep_classifier as lasting
from ebbing.language.patterns.keep_classifier import HEADS, PLACES, TYPES, Learned, packed
from ebbing.language.patterns.rule_pack import Pack, Packs
from ebbing.language.text.statement import Statement
from ebbing.remember.extraction.rule_extractor import extract
from ebbing.remember.extraction.rule_matching import weigh
from evals.extraction import DATA, FRESH, LANGUAGES, items

Weights: TypeAlias = NDArray[np.float64]

PACKS: Final = Path(lasting.__file__).parent / "packs"
FOLDS: Final = 5
STRENGTH: Final = 0.3
"""How far the weights may follow the clauses: the C of a support vector machine."""
_ROUND_APART: Final = "-x-"
"""The round of the fresh part that nothing is learned from: it says what the learning is worth."""
_LEARNED_FROM: Final = ("worth_{}.jsonl", "worth_more_{}.jsonl")
_STEPS: Final = 60
_REMEMBERED: Final = 8
_NOW: Final = datetime(2026, 5, 6, 10, tzinfo=UTC)
_THRESHOLD: Final = 0.7


@dataclass(slots=True)
class Clause:
    """One clause with what is known of it."""

    message: str
    places: list[int]
    worth: bool
    types: tuple[str, ...] = ()
    rivals: list[Clause] = field(default_factory=list)
    """The other clauses of its message, one of which may be meant instead."""


def clauses(language: str) -> list[Clause]:
    """All that may be learned from in a language."""
    pack = Packs.load().by_language[language]
    return [clause for message in _messages(language) for clause in _labelled(message, pack)]


@dataclass(frozen=True, slots=True)
class _Labelled:
    """A message, and what is worth remembering of it."""

    id: str
    messages: tuple[Message, ...]
    facts: tuple[Mapping[str, Any], ...]
    """As in the extraction sets; one without `must_contain` stands for any one clause."""


def _messages(language: str) -> Iterator[_Labelled]:
    for part, item in items("extraction", language):
        if part in {"tuning", FRESH} and _ROUND_APART not in item["id"]:
            said = tuple(Message(one["content"], role=Role(one["role"])) for one in item["messages"])
            yield _Labelled(item["id"], said, tuple(item["facts"]))
    for row in [row for name in _LEARNED_FROM for row in _rows(name.format(language))]:
        facts = ({"type": row["type"]},) if row["type"] else ()
        yield _Labelled(row["text"], (Message(row["text"]),), facts)
    for row in _rows("worth_memorybank.jsonl"):
        if row["language"] == language:
            told = {"must_contain": [row["memory"]], "type": row["type"] or [], "junk": row["type"] is None}
            yield _Labelled(row["memory"], (Message(row["source"]),), (told, {"must_contain": [], "optional": True}))


def _rows(name: str) -> list[dict[str, Any]]:
    path = DATA / name
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def _labelled(labelled: _Labelled, pack: Pack) -> Iterator[Clause]:
    found: list[Clause] = []
    loose = [fact for fact in labelled.facts if "must_contain" not in fact]
    aside = False
    for statement, its_pack in statements(labelled.messages):
        if its_pack.language != pack.language or statement.adds or not (statement.implied or statement).clause:
            continue
        fitting = loose or [fact for fact in labelled.facts if _tells(statement, fact["must_contain"])]
        told = [fact for fact in fitting if not fact.get("optional") and not fact.get("junk")]
        if fitting and not told and not any(fact.get("junk") for fact in fitting):
            continue
        places = weigh(statement.implied or statement, pack, aside=aside).places
        found.append(Clause(labelled.id, places, bool(told), tuple(_types(told))))
        aside = aside or bool(told)
    if loose:
        for clause in found:
            clause.rivals = [other for other in found if other is not clause]
    yield from found


def _tells(statement: Statement, parts: Sequence[str]) -> bool:
    texts = [statement.text.lower(), (statement.implied or statement).text.lower()]
    return any(all(part.lower() in text for part in parts) for text in texts)


def _types(facts: Sequence[Mapping[str, Any]]) -> set[str]:
    return {kind for fact in facts for kind in ([fact["type"]] if isinstance(fact["type"], str) else fact["type"])}


# ── learning ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def learn(known: Sequence[Clause], *, strength: float = STRENGTH) -> Learned:
    """The weights that fit the clauses. Of the clauses of a message any of which may be meant, the likeliest is."""
    clear = [clause for clause in known if not (clause.worth and clause.rivals)]
    worth = _worth(clear, strength=strength)
    meant = [clause for clause in known if clause.worth and clause.rivals and _is_likeliest(clause, worth)]
    sure = [*clear, *meant]
    worth = _worth(sure, strength=strength)
    typed = [clause for clause in sure if clause.types]
    shares = np.array([[(kind in clause.types) / len(clause.types) for kind in TYPES] for clause in typed])
    kinds = _fitted([clause.places for clause in typed], shares, strength=strength)
    return _rounded(np.column_stack([worth[:, 1] - worth[:, 0], kinds]))


def _worth(known: Sequence[Clause], *, strength: float) -> Weights:
    shares = np.array([[not clause.worth, clause.worth] for clause in known], np.float64)
    return _fitted([clause.places for clause in known], shares, strength=strength)


def _is_likeliest(clause: Clause, worth: Weights) -> bool:
    own = worth[clause.places, 1].sum()
    return all(own >= worth[other.places, 1].sum() for other in clause.rivals)


def _rounded(weights: Weights) -> Learned:
    """The weights in one byte each. The last row is the base."""
    unit = float(np.abs(weights[:-1]).max() / 127)
    rows = np.rint(weights[:-1] / unit).astype(np.int8)
    assert rows.shape[1] == HEADS
    return Learned(rows.tobytes(), unit, tuple(round(float(base), 4) for base in weights[-1]))


def _fitted(places: Sequence[Sequence[int]], shares: Weights, *, strength: float) -> Weights:
    """Weights of a softmax regression, (PLACES + 1, classes), the last row for what is there always.

    L-BFGS (Nocedal 1980) from nothing, a fixed number of steps: the same numbers each time.
    """
    columns = np.concatenate([np.asarray([*row, PLACES]) for row in places])
    sizes = np.array([len(row) + 1 for row in places])
    begins = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    rows = np.repeat(np.arange(len(places)), sizes)
    shape = (PLACES + 1, shares.shape[1])

    def loss(weights: Weights) -> tuple[float, Weights]:
        table = weights.reshape(shape)
        scores = np.add.reduceat(table[columns], begins, axis=0)
        scores -= scores.max(axis=1, keepdims=True)
        logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        off = (np.exp(logs) - shares)[rows]
        slope = np.stack([np.bincount(columns, off[:, k], shape[0]) for k in range(shape[1])], axis=1)
        return float(-(shares * logs).sum() + (weights @ weights) / (2 * strength)), slope.ravel() + weights / strength

    return _lowest(loss, np.zeros(shape[0] * shape[1])).reshape(shape)


def _lowest(loss: Any, at: Weights) -> Weights:
    value, slope = loss(at)
    steps: list[tuple[Weights, Weights]] = []
    for _ in range(_STEPS):
        way = -_turned(slope, steps)
        size = 1.0 if steps else 1.0 / max(float(np.abs(slope).sum()), 1.0)
        while True:
            there, (new, turned) = at + size * way, loss(at + size * way)
            if new <= value + 1e-4 * size * float(slope @ way) or size < 1e-9:
                break
            size /= 2
        if float((there - at) @ (turned - slope)) > 0:
            steps = [*steps, (there - at, turned - slope)][-_REMEMBERED:]
        at, value, slope = there, new, turned
    return at


def _turned(slope: Weights, steps: Sequence[tuple[Weights, Weights]]) -> Weights:
    """The slope times what is known of the inverse curvature (two loops)."""
    left: list[float] = []
    for move, change in reversed(steps):
        left.append(float(move @ slope) / float(move @ change))
        slope = slope - left[-1] * change
    if steps:
        move, change = steps[-1]
        slope = slope * (float(move @ change) / float(change @ change))
    for move, change in steps:
        slope = slope + move * (left.pop() - float(change @ slope) / float(move @ change))
    return slope


# ── how good it is ───────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class Kept:
    """Counts over labelled clauses."""

    worth: int = 0
    kept: int = 0
    right: int = 0
    typed: int = 0

    def count(self, row: Mapping[str, Any], *, pack: Pack) -> None:
        """Adds one clause, as the pack reads it."""
        facts = extract([Message(row["text"])], now=_NOW, packs=Packs({pack.language: pack}))
        found = {fact.type for fact in facts if fact.confidence >= _THRESHOLD}
        self.worth += row["type"] is not None
        self.kept += bool(found)
        self.right += bool(found) and row["type"] is not None
        self.typed += row["type"] in found

    def as_dict(self) -> dict[str, float]:
        shares = {
            "precision": self.right / max(self.kept, 1),
            "recall": self.right / max(self.worth, 1),
            "types": self.typed / max(self.right, 1),
        }
        return {name: round(share, 3) for name, share in shares.items()}


def measure(language: str) -> dict[str, Kept]:
    """The rules alone, and with what is learned of the other folds."""
    pack, known = Packs.load().by_language[language], clauses(language)
    alone = replace(pack, weighing=replace(pack.weighing, least=math.inf, understood=math.inf))
    found = {"rules alone": Kept(), "with what is learned": Kept()}
    for fold in range(FOLDS):
        others = learn([clause for clause in known if _fold(clause.message) != fold])
        for row in _rows(f"worth_{language}.jsonl"):
            if _fold(row["text"]) == fold:
                found["rules alone"].count(row, pack=alone)
                found["with what is learned"].count(row, pack=replace(pack, lasting=others))
    return found


def _fold(message: str) -> int:
    return hashlib.sha256(message.encode()).digest()[0] % FOLDS


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m evals worth`."""
    parser.add_argument("--train", action="store_true", help="write what is learned of all clauses into the packs")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of a table")


def run(options: argparse.Namespace) -> None:
    """Prints how good what is learned is; with `--train`, learns it anew instead."""
    if options.train:
        for language in LANGUAGES:
            (PACKS / f"lasting.{language}").write_bytes(packed(learn(clauses(language))))
        return
    found = {language: measure(language) for language in LANGUAGES}
    if options.json:
        print(json.dumps({name: {how: item.as_dict() for how, item in by.items()} for name, by in found.items()}))
        return
    print(f"{'':<26}{'precision':>10}{'recall':>8}{'types':>8}")
    for name, by in found.items():
        for how, item in by.items():
            print(f"{f'{name} {how}':<26}" + "".join(f"{share:>8.3f}" for share in item.as_dict().values()))
