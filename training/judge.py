"""How good a reader is on authors that it has not learned from: `python -m training.judge` judges the package's own."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import torch

from ebbing.adapters.embedders.e5 import E5Embedder
from ebbing.adapters.readers.cross_encoder import CrossEncoderReader
from training.embed import nearness
from training.model import Reader, fast_precision
from training.pairs import Message, Pairs, Question
from training.questions import examples_of

HELD = ("w4", "w5", "q4", "m7", "m8", "m19", "m20")
"""Authors that only judge …"""
HELD_ASKED = ("h4", "h8")
"""… those of `data/asked` …"""
HELD_LOOKED_UP = ("k4", "k7")
"""… and those of `data/people` whose facts an assistant looks up."""
_BATCH = 256


def odds_of(reader: Reader, pairs: Pairs, places: np.ndarray, *, task: str) -> np.ndarray:
    """Return the log-odds that a reader gives each pair, shape (len(places),)."""
    reader.eval()
    odds = np.zeros(len(places), np.float32)
    for rows in pairs.by_length(places, _BATCH):
        with torch.no_grad(), fast_precision(pairs.device):
            outputs = reader(*pairs.batch(places[rows], task))[task].float()
        odds[rows] = (outputs[:, 1] - outputs[:, 0]).cpu().numpy()
    return odds


def area(labels: np.ndarray, scores: np.ndarray) -> float:
    """Return the area under the ROC curve; 0.5 where one class is missing."""
    positive, negative = int(labels.sum()), int((1 - labels).sum())
    if not positive or not negative:
        return 0.5
    ranks = scores.argsort().argsort() + 1.0
    return float((ranks[labels == 1].sum() - positive * (positive + 1) / 2) / (positive * negative))


def calibration_error(labels: np.ndarray, shares: np.ndarray, bins: int = 10) -> float:
    """Return the expected calibration error over equal bins (Naeini et al. 2015)."""
    places = np.minimum((shares * bins).astype(int), bins - 1)
    gaps = [abs(labels[places == k].mean() - shares[places == k].mean()) * (places == k).sum() for k in set(places)]
    return float(sum(gaps) / len(labels))


def report(reader: Reader, pairs: Pairs, *, questions: Sequence[Question], messages: Sequence[Message]) -> str:
    """Return one line for each author of questions, and one for the messages."""
    lines = report_questions(reader, pairs, questions)
    labels = np.array([int(each.kind >= 0) for each in messages])
    worth = odds_of(reader, pairs, np.array([each.places[0] for each in messages]), task="message")
    return f"{lines}\n  {len(labels)} messages: area {area(labels, worth):.3f}"


def report_questions(reader: Reader, pairs: Pairs, questions: Sequence[Question]) -> str:
    """Return one line for each author of questions, and one for all."""
    odds = odds_of(reader, pairs, np.concatenate([each.places for each in questions]), task="answer")
    ends = np.cumsum([len(each.places) for each in questions])[:-1]
    lists = zip(questions, np.split(odds, ends), strict=True)
    return report_of([(each.author, each.labels, own) for each, own in lists])


def report_of(lists: Sequence[tuple[str, np.ndarray, np.ndarray]]) -> str:
    """Return a line for each author, and one for all: what is first, how often nothing is likely, area, calibration.

    Args:
        lists: author, labels and log-odds of the texts of each question.
    """
    by_author: dict[str, list[tuple[np.ndarray, np.ndarray]]] = defaultdict(list)
    for author, labels, odds in lists:
        by_author[author].append((labels, odds))
    lines = [f"  {author}: {_line_of(own)}" for author, own in sorted(by_author.items())]
    return "\n".join([*lines, f"  all: {_line_of([each for own in by_author.values() for each in own])}"])


def _line_of(lists: Sequence[tuple[np.ndarray, np.ndarray]]) -> str:
    labels = np.concatenate([own for own, _ in lists])
    shares = 1.0 / (1.0 + np.exp(-np.concatenate([odds for _, odds in lists])))
    first = [own[int(np.argmax(odds))] for own, odds in lists if own.any()]
    by_chance = np.mean([own.mean() for own, _ in lists if own.any()])
    silent = [odds.max() < 0 for own, odds in lists if not own.any()]
    silence = f"{len(silent)} not answered, silence {np.mean(silent):.3f}; " if silent else ""
    return (
        f"{len(first)} answered, right first {np.mean(first):.3f} (by chance {by_chance:.3f}); {silence}"
        f"area {area(labels, shares):.3f}, calibration error {calibration_error(labels, shares):.3f}"
    )


def main() -> None:
    """Print how good the package's reader is: four bits, on onnxruntime."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--held", default=",".join(HELD), help="authors of everyday questions, with commas between")
    given = parser.parse_args()
    reader = CrossEncoderReader(E5Embedder.load())
    asked = {
        "everyday questions": examples_of(given.held.split(","), similarity=nearness),
        "look-ups of an assistant": examples_of(HELD_LOOKED_UP, similarity=nearness),
        "hard questions": examples_of(HELD_ASKED, similarity=nearness),
        "hard questions, answers in other words alone": examples_of(HELD_ASKED, similarity=nearness, has_plain=False),
    }
    for title, questions in asked.items():
        lists = []
        for each in questions:
            outputs = reader.read([(each.before, each.question, text) for text in each.texts])
            lists.append((each.author, np.array(each.labels), outputs[:, 1] - outputs[:, 0]))
        print(f"{title}\n{report_of(lists)}")


if __name__ == "__main__":
    main()
