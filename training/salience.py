"""Train the salience model: `python -m training.salience`. Some minutes on one core; `--judge` prints figures alone.

It learns from the messages of talks: which of them are worth remembering in their speaker's words, and what about. Each
part of the authors is judged by what is learned of all others. What weighs the two halves is learned from that, of
talks alone: of single messages and of answers that were written for it, more are worth it than in life. Talks that were
written to be full of changes (`data/changes/talks`) do not help: with them it was less exact in everyday talks.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Collection, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC

from ebbing.adapters.readers.salience_heads import PLACES, SALIENCE_FILE_NAME, dense_inputs, places_of
from ebbing.ports.models.salience import KINDS
from training.embed import passages
from training.messages import Labelled, answers, messages, single_messages, stored, wishes
from training.quantise import by_rows

PACKAGE_DATA = Path(__file__).parents[1] / "src/ebbing/adapters/data" / SALIENCE_FILE_NAME
PARTS = 4
"""Parts of the authors, each of which is judged by what is learned of the others."""
RECALLS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.8)
PENALTY = 2.0
GAMMA = 0.02
PIECES_PENALTY = 3.0
KINDS_PENALTY = 0.3
LARGEST = 27
"""Largest number of a support vector: the fewer there are, the smaller is the file."""
CACHE_MB = 2_000
MIN_MESSAGES = 3
"""Messages that hold a piece, at least, for it to count."""


@dataclass(frozen=True)
class Inputs:
    """What is seen of some messages."""

    dense: np.ndarray
    """Vector, form and company, shape (messages, 395)."""
    pieces: csr_matrix
    """Which pieces stand in each, shape (messages, PLACES)."""

    @classmethod
    def of(cls, labelled: Sequence[Labelled]) -> Inputs:
        """Return the inputs of messages; their vectors are those of the texts with their speakers."""
        texts = [message.text for message in labelled]
        vectors = passages([stored(message.text, message.speaker) for message in labelled])
        places = [places_of(text) for text in texts]
        ends = np.cumsum([0, *map(len, places)])
        ones = np.ones(ends[-1], np.float32)
        pieces = csr_matrix((ones, np.concatenate(places), ends), shape=(len(texts), PLACES))
        return cls(dense_inputs(texts, vectors, in_talk=[message.in_talk for message in labelled]), pieces)

    def some(self, rows: Sequence[int]) -> Inputs:
        """Return the inputs of some of the messages."""
        return Inputs(self.dense[rows], self.pieces[rows])


class Salience:
    """The two halves of the model, and what tells the kind."""

    def __init__(self, labelled: Sequence[Labelled], inputs: Inputs) -> None:
        """Learn from messages."""
        worth = np.array([message.kind is not None for message in labelled])
        counts = np.asarray((inputs.pieces > 0).sum(axis=0)).ravel()
        rarity = np.log((1 + len(labelled)) / (1 + counts)) + 1
        self.rarity = np.where(counts >= MIN_MESSAGES, rarity, 0.0).astype(np.float32)
        self.meaning = SVC(C=PENALTY, gamma=GAMMA, cache_size=CACHE_MB).fit(inputs.dense, worth)
        self.wording = LogisticRegression(C=PIECES_PENALTY, max_iter=500, fit_intercept=False)
        self.wording.fit(self._weighed(inputs.pieces), worth)
        kinds = [message.kind for message in labelled if message.kind]
        self.kinds = LogisticRegression(C=KINDS_PENALTY, max_iter=2000).fit(inputs.dense[worth], kinds)

    def margins(self, inputs: Inputs) -> np.ndarray:
        """Return what both halves say, shape (messages, 2)."""
        wording = self.wording.decision_function(self._weighed(inputs.pieces))
        return np.stack([self.meaning.decision_function(inputs.dense), wording], axis=1)

    def kinds_of(self, inputs: Inputs) -> np.ndarray:
        """Return the likeliest kind of each message."""
        return self.kinds.predict(inputs.dense)

    def _weighed(self, pieces: csr_matrix) -> csr_matrix:
        weighed = pieces.multiply(self.rarity).tocsr()
        lengths = np.sqrt(np.asarray(weighed.multiply(weighed).sum(axis=1)).ravel())
        return weighed.multiply(1.0 / np.maximum(lengths, 1e-9)[:, None]).tocsr()


def judge(labelled: Sequence[Labelled], inputs: Inputs) -> tuple[LogisticRegression, LogisticRegression]:
    """Print the figures of authors that nothing was learned of; return what weighs the two halves.

    One weighs them for messages, the other for answers with their questions.
    """
    authors = sorted({message.author for message in labelled})
    margins, kinds = np.zeros((len(labelled), 2)), np.empty(len(labelled), object)
    with ProcessPoolExecutor() as pool:
        held_parts = [set(authors[part::PARTS]) for part in range(PARTS)]
        for judged, margins_of_part, kinds_of_part in pool.map(partial(_judged_part, labelled, inputs), held_parts):
            margins[judged], kinds[judged] = margins_of_part, kinds_of_part
    worth = np.array([message.kind is not None for message in labelled])
    answered = np.isin([message.author for message in labelled], [message.author for message in answers()])
    of_wishes = np.isin([message.author for message in labelled], [message.author for message in wishes()])
    everyday = np.array([message.in_talk for message in labelled]) & ~answered & ~of_wishes
    blend = LogisticRegression().fit(margins[everyday], worth[everyday])
    of_answers = LogisticRegression().fit(margins[answered], worth[answered])
    shares = np.where(answered, of_answers.predict_proba(margins)[:, 1], blend.predict_proba(margins)[:, 1])
    for language in ("en", "zh"):
        rows = everyday & np.array([message.language == language for message in labelled])
        report(language, worth[rows], shares[rows])
    report("answers with their questions", worth[answered], shares[answered])
    report("how to answer", worth[of_wishes], shares[of_wishes])
    by_themselves = ~(everyday | answered | of_wishes)
    report("single messages", worth[by_themselves], shares[by_themselves])
    right = [kinds[place] == message.kind for place, message in enumerate(labelled) if message.kind]
    print(f"kind right: {np.mean(right):.2f}; weights of meaning and wording {blend.coef_[0].round(2)}")
    return blend, of_answers


def _judged_part(
    labelled: Sequence[Labelled], inputs: Inputs, held: Collection[str]
) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Return the places of the messages of some authors, with what the model of all others says of them."""
    learned = [place for place, message in enumerate(labelled) if message.author not in held]
    judged = [place for place, message in enumerate(labelled) if message.author in held]
    model = Salience([labelled[place] for place in learned], inputs.some(learned))
    return judged, model.margins(inputs.some(judged)), model.kinds_of(inputs.some(judged))


def report(name: str, worth: np.ndarray, shares: np.ndarray) -> None:
    """Print area, calibration, and precision at some recalls with the probability that gives it."""
    order = np.argsort(-shares)
    right = np.cumsum(worth[order])
    bins = np.minimum((shares * 10).astype(int), 9)
    gaps = [abs(shares[bins == each].mean() - worth[bins == each].mean()) * (bins == each).mean() for each in set(bins)]
    print(
        f"{name}: {len(worth)} messages, {worth.mean():.2f} worth it, area {roc_auc_score(worth, shares):.3f},", end=""
    )
    print(f" calibration error {sum(gaps):.3f}")
    for recall in RECALLS:
        count = int(np.argmax(right >= recall * right[-1])) + 1
        print(f"  recall {recall:.1f}: precision {right[count - 1] / count:.2f} from {shares[order[count - 1]]:.2f}")


def export(model: Salience, *, blend: LogisticRegression, of_answers: LogisticRegression) -> None:
    """Write the model as package data."""
    order = [list(model.kinds.classes_).index(kind) for kind in KINDS]
    support, scales = by_rows(model.meaning.support_vectors_, most=LARGEST)
    tensors = {
        "support": support,
        "support_scales": scales,
        "support_weights": model.meaning.dual_coef_[0].astype(np.float32),
        "gamma": np.float32(GAMMA),
        "intercept": model.meaning.intercept_.astype(np.float32),
        "rarity": model.rarity.astype(np.float16),
        "pieces": model.wording.coef_[0].astype(np.float16),
        "kinds": model.kinds.coef_[order].T.astype(np.float16),
        "kinds_bias": model.kinds.intercept_[order].astype(np.float16),
        "blend": np.array([*blend.coef_[0], blend.intercept_[0]], np.float32),
        "blend_of_answers": np.array([*of_answers.coef_[0], of_answers.intercept_[0]], np.float32),
    }
    version = hashlib.sha256(b"".join(tensors[name].tobytes() for name in sorted(tensors))).hexdigest()[:12]
    np.savez_compressed(PACKAGE_DATA, version=np.array(version), **tensors)
    print(f"salience {version}: {PACKAGE_DATA.stat().st_size:,} bytes")


def main() -> None:
    """Judge, then learn from everything and write the package data."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judge", action="store_true", help="print the figures and write nothing")
    options = parser.parse_args()
    labelled = [*messages(), *single_messages(), *answers(), *wishes()]
    inputs = Inputs.of(labelled)
    blend, of_answers = judge(labelled, inputs)
    if not options.judge:
        export(Salience(labelled, inputs), blend=blend, of_answers=of_answers)


if __name__ == "__main__":
    main()
