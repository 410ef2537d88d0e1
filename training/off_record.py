"""Train the models of requests off the record: `python -m training.off_record`. Some minutes; `--judge` prints figures.

One learns which clauses ask that a message is not remembered: from messages whose request is marked
(`data/off_record`), and from the messages of talks, which ask for nothing. The other learns it from the vectors of
whole messages, also from those that ask in a roundabout way (`data/off_record_meant`): from these the first would only
learn to see a request in any words. Each part of the authors is judged by what is learned of all others.
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
from sklearn.svm import SVC

from ebbing.adapters.readers.off_record_heads import OFF_RECORD_FILE_NAME, odds_of
from ebbing.privacy.guarding.grammar import without_quotes
from ebbing.privacy.guarding.off_record import (
    LIKELY,
    LIKELY_BY_MEANING,
    LIKELY_BY_WORDS,
    OPEN,
    SURE_BY_WORDS,
    request_by_rules,
    rules,
)
from ebbing.privacy.guarding.off_record_wording import (
    MAX_CLAUSES,
    PLACES,
    Clause,
    clauses_of,
    pieces_of,
    tokens_of,
)
from ebbing.remember.intake.second_looks import ends_of
from training.embed import passages
from training.messages import messages
from training.parse import DATA
from training.quantise import by_rows

SOURCE = Path(__file__).parents[1] / "src/ebbing"
WORDS_DATA = SOURCE / "privacy/off_record.npz"
MEANING_DATA = SOURCE / "adapters/data" / OFF_RECORD_FILE_NAME
SAYINGS = Path(__file__).parents[1] / "tests/data/off_record.toml"
PENALTY = 6.0
WEIGHT_OF_TALK = 20.0
"""Of a clause of a talk: to lose what somebody told is a harm too."""
WEIGHT_ALIKE = 3.0
"""Of a clause of a message that only looks like a request."""
MEANING_PENALTY = 4.0
GAMMA = 1.0
PARTS = 4
"""Parts of the authors, each of which is judged by what is learned of the others."""
PLAIN = 2_000
"""Messages of talks whose vectors are learned from, beside those whose words leave it open."""
COVERED = 0.8
"""Share of a request's tokens that clauses hold which ask."""


@dataclass(frozen=True)
class Marked:
    """A message, and the part of it that asks."""

    text: str
    ask: str
    author: str
    is_roundabout: bool = False
    """Its words teach nothing."""


def marked() -> list[Marked]:
    """Return the messages of all authors, in a fixed order."""
    return [*_read("off_record"), *_read("off_record_meant", is_roundabout=True), *of_rules()]


def _read(folder: str, *, is_roundabout: bool = False) -> list[Marked]:
    found: list[Marked] = []
    for path in sorted((DATA / folder).glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        found += [Marked(row["text"], row["ask"], path.stem, is_roundabout) for row in rows]
    return found


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


@dataclass(frozen=True)
class Models:
    """What was learned of some messages."""

    weights: np.ndarray
    base: float
    meaning: SVC

    @classmethod
    def of(cls, asking: Sequence[Marked], talk: Sequence[str]) -> Models:
        """Learn from messages whose request is marked, and from messages of talks."""
        rows = [row for message in asking if not message.is_roundabout for row in examples(message)]
        weights, base = learn([*rows, *of_talk(talk)])
        by_words = np.array([probability(text, weights, base) for text in talk])
        plain = [text for text, share in zip(talk, by_words, strict=True) if share >= OPEN]
        plain += talk[:: max(1, len(talk) // PLAIN)]
        written = [message for message in asking if message.author != "rules"]
        texts = [message.text for message in written] + [message.ask for message in written if message.ask] + plain
        asks = [bool(message.ask) for message in written] + [True] * sum(bool(message.ask) for message in written)
        meaning = SVC(C=MEANING_PENALTY, gamma=GAMMA).fit(vectors(texts), asks + [False] * len(plain))
        return cls(weights, base, meaning)

    def by_words(self, texts: Sequence[str]) -> np.ndarray:
        """Return how likely the words of messages ask, shape (texts,)."""
        return np.array([probability(text, self.weights, self.base) for text in texts])

    def margins(self, texts: Sequence[str]) -> np.ndarray:
        """Return what words and meaning say, shape (texts, 2)."""
        return np.stack([odds_of(self.by_words(texts)), self.meaning.decision_function(vectors(texts))], axis=1)


def vectors(texts: Sequence[str]) -> np.ndarray:
    """Return the vectors of messages as they are looked at, shape (texts, 384)."""
    return passages([ends_of(text) for text in texts])


def judge() -> LogisticRegression:
    """Print the figures of authors that nothing was learned of; return what weighs words and meaning."""
    all_marked, talk = marked(), ordinary()
    authors = sorted({message.author for message in all_marked if message.author != "rules"})
    texts: list[str] = []
    names: list[str] = []
    asks: list[bool] = []
    margins: list[np.ndarray] = []
    for part in range(PARTS):
        held, unseen = set(authors[part::PARTS]), talk[part::PARTS]
        learned_talk = [text for place, text in enumerate(talk) if place % PARTS != part]
        models = Models.of([message for message in all_marked if message.author not in held], learned_talk)
        judged = [message for message in all_marked if message.author in held]
        texts += [message.text for message in judged] + unseen
        names += [message.author for message in judged] + ["talk"] * len(unseen)
        asks += [bool(message.ask) for message in judged] + [False] * len(unseen)
        margins.append(models.margins([message.text for message in judged] + unseen))
    seen, asked = np.concatenate(margins), np.array(asks)
    open_rows = seen[:, 0] >= odds_of([OPEN])[0]
    blend = LogisticRegression().fit(seen[open_rows], asked[open_rows])
    by_rules = np.array([request_by_rules(text) is not None for text in texts])
    by_words = by_rules | (seen[:, 0] >= odds_of([LIKELY_BY_WORDS])[0])
    least = np.where(seen[:, 0] >= odds_of([LIKELY_BY_WORDS])[0], LIKELY, LIKELY_BY_MEANING)
    by_both = by_rules | (open_rows & (blend.predict_proba(seen)[:, 1] >= least))
    by_both |= seen[:, 0] >= odds_of([SURE_BY_WORDS])[0]
    for author in [*authors, "talk"]:
        rows = np.array([name == author for name in names])
        print(f"{author}: {(rows & asked).sum()} requests, {(rows & ~asked).sum()} others;", end="")
        for name, found in (("words", by_words), ("words and meaning", by_both)):
            print(f" {name}: {(rows & asked & found).sum()} seen, {(rows & ~asked & found).sum()} wrong;", end="")
        print(f" open {(rows & open_rows).mean() / rows.mean():.3f}")
    return blend


def export(models: Models, blend: LogisticRegression) -> None:
    """Write both models as package data."""
    scale = float(np.abs(models.weights).max()) / 127
    whole = np.round(models.weights / scale).astype(np.int8)
    np.savez_compressed(WORDS_DATA, weights=whole, scale=np.float32(scale), base=np.float32(models.base))
    support, scales = by_rows(models.meaning.support_vectors_)
    np.savez_compressed(
        MEANING_DATA,
        support=support,
        support_scales=scales,
        support_weights=models.meaning.dual_coef_[0].astype(np.float16),
        gamma=np.float32(GAMMA),
        intercept=np.float32(models.meaning.intercept_[0]),
        blend=np.array([*blend.coef_[0], blend.intercept_[0]], np.float32),
    )
    print(f"{WORDS_DATA.stat().st_size} and {MEANING_DATA.stat().st_size} bytes")


def main() -> None:
    """Judge, then learn from all authors and write the package data."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judge", action="store_true", help="print figures and write nothing")
    options = parser.parse_args()
    blend = judge()
    if not options.judge:
        export(Models.of(marked(), ordinary()), blend)


if __name__ == "__main__":
    main()
