"""Judge the change model by authors that it has not learned from: `python -m training.change_judge`.

It takes the weights of the package. `training.change` calls the same functions after learning.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from torch import Tensor, nn
from torch.nn import functional

from ebbing.adapters.readers.change_model import CHANGE_FILE_NAME, LEAST_IN_COMPANY, pair_features
from ebbing.adapters.readers.cross_encoder import reader_input
from ebbing.adapters.readers.reader_weights import matrix_of, read_tensors
from training import carrier
from training.change_pairs import Pair, Prior, conflicts, pairs_of_talks, strangers, written
from training.embed import passages
from training.model import Reader, SteppedLinear, fast_precision
from training.pairs import Pairs

HELD = frozenset({"m7", "m8", "m13", "m14", "m15", "m16", "m19", "m20"})
"""Authors of talks that only judge …"""
HELD_LATER = {"notes": ("r7", "r8"), "talks": ("t1", "t6"), "long": ("u6",), "values": ("v3", "v6")}
"""… and authors of `data/later`."""
LAYERS = 12
RARER = 0.3
"""Log-odds that are taken off: in life fewer messages end something than in the data."""
RECALLS = (0.2, 0.3, 0.4, 0.5, 0.6)
LANGUAGES = ("en", "zh")


class LowRank(nn.Module):
    """A linear layer of the embedder with a step of low rank beside it; only the step learns."""

    def __init__(self, inner: SteppedLinear, *, down: Tensor, up: Tensor) -> None:
        """Begin with a step: `down`, shape (rank, inputs), and `up`, shape (outputs, rank)."""
        super().__init__()
        self.inner = inner
        self.down, self.up = nn.Parameter(down.contiguous()), nn.Parameter(up.contiguous())

    def forward(self, source: Tensor) -> Tensor:
        return self.inner(source) + functional.linear(functional.linear(source, self.down), self.up)


def layers_that_learn() -> Reader:
    """Return the embedder's layers, all of which learn, with a head of zeros."""
    reader = Reader(LAYERS, is_packed=False)
    del reader.heads["message"]
    head = reader.heads["answer"]
    nn.init.zeros_(head.weight)
    nn.init.zeros_(head.bias)
    return reader


def odds(prior: Prior, pairs: Sequence[Pair], *, is_named: bool) -> np.ndarray:
    """Return the log-odds of the regression, shape (pairs,), with the names of the speakers or without."""
    row = 0 if is_named else 1
    return prior.decision_function(np.stack([pair.features[row] for pair in pairs]))


def nameless(texts: Sequence[str]) -> list[str]:
    return [text.partition(": ")[2] or text for text in texts]


def read(reader: Reader, texts: Sequence[tuple[str, str, str]]) -> np.ndarray:
    """Return the log-odds of the layers, shape (len(texts),), for what was said before, the later and the earlier."""
    tokens = Pairs("cpu")
    for three in texts:
        tokens.add(*reader_input(carrier.encode, three))
    tokens.seal()
    reader.eval()
    result = np.zeros(len(texts))
    for rows in tokens.by_length(np.arange(len(texts)), 128):
        with torch.no_grad(), fast_precision("cpu"):
            outputs = reader(*tokens.batch(rows, "answer"))["answer"].float()
        result[rows] = (outputs[:, 1] - outputs[:, 0]).numpy()
    return result


def judged_by_themselves(reader: Reader, prior: Prior) -> tuple[float, ...]:
    """Print how well the layers alone tell what is over from what looks like it, where nothing else is around.

    Return the weights of the regression and of the layers, and the intercept, from these pairs and from others that
    are near each other and have nothing to do with each other.
    """
    sets = {name: written(authors) for name, authors in HELD_LATER.items()}
    for name, pairs in (sets | {"conflicts test": conflicts(["test"]), "conflicts held": conflicts(["held"])}).items():
        for language in LANGUAGES:
            own = [pair for pair in pairs if pair.language == language and pair.over != 0.5]
            scores = read(reader, [(pair.before, pair.later, pair.earlier) for pair in own])
            ends = np.array([pair.over == 1.0 for pair in own])
            stands = np.sort(scores[~ends])[::-1]
            shares = [
                f"{share:.0%}: {(scores[ends] > stands[int(share * len(stands))]).mean():.2f}" for share in (0.01, 0.05)
            ]
            print(
                f"{name} {language}: {ends.sum()} end, {len(stands)} stand, area {roc_auc_score(ends, scores):.3f};"
                f" found, where of those that stand are taken for over {', '.join(shares)}",
                flush=True,
            )
    known = [pair for pair in (*sets["notes"], *conflicts(["test"])) if pair.over != 0.5]
    known += strangers(known, prior, chance=random.Random(1))
    by_layers = read(reader, [(pair.before, pair.later, pair.earlier) for pair in known])
    vectors = passages([pair.earlier for pair in known]), passages([pair.later for pair in known])
    by_vectors = prior.decision_function(np.stack(list(map(pair_features, *vectors))))
    fit = LogisticRegression(C=1e6).fit(np.stack([by_vectors, by_layers], axis=1), [pair.over == 1.0 for pair in known])
    return (*fit.coef_[0].tolist(), float(fit.intercept_[0]) - RARER)


def report(name: str, pairs: Sequence[Pair], scores: np.ndarray) -> None:
    """Print how exact the scores are at some recalls, by language, with the score that gives each."""
    for language in ("en", "zh", "all"):
        rows = [row for row, pair in enumerate(pairs) if not pair.is_open and language in {"all", pair.language}]
        ends = np.array([pairs[row].ends for row in rows])
        whole = np.array([bool(pairs[row].ends and pairs[row].change.how != "part") for row in rows])
        own = scores[rows]
        order = np.argsort(-own)
        whole_count, end_count = np.cumsum(whole[order]), np.cumsum(ends[order])
        parts = []
        for recall in RECALLS:
            count = int(np.argmax(whole_count >= recall * whole_count[-1]))
            parts.append(f"{recall:.1f}: {end_count[count] / (count + 1):.2f} from {own[order[count]]:.1f}")
        print(
            f"{name} {language}: {len(rows)} pairs, {ends.sum()} end,"
            f" average precision {average_precision_score(ends, own):.3f}, area {roc_auc_score(ends, own):.3f}; "
            + ", ".join(parts),
            flush=True,
        )


def judged_by_talks(reader: Reader, prior: Prior, pairs: Sequence[Pair]) -> tuple[float, ...]:
    """Print the figures of talks; return the weights of both and the intercept that give log-odds (Platt 1999)."""
    features: list[np.ndarray] = []
    labels: list[bool] = []
    for is_named in (True, False):
        name = "with names" if is_named else "without names"
        by_vectors = odds(prior, pairs, is_named=is_named)
        report(f"regression, {name}", pairs, by_vectors)
        rows = np.flatnonzero(by_vectors >= LEAST_IN_COMPANY)
        texts = [(pairs[row].before, pairs[row].later, pairs[row].earlier) for row in rows]
        by_layers = read(reader, texts if is_named else [nameless(three) for three in texts])
        fit = LogisticRegression(C=1e6)
        is_open = np.array([pairs[row].is_open for row in rows])
        both = np.stack([by_vectors[rows], by_layers], axis=1)[~is_open]
        ends = np.array([pairs[row].ends for row in rows])[~is_open]
        features.append(both)
        labels += ends.tolist()
        fit.fit(both, ends)
        scores = np.minimum(by_vectors, LEAST_IN_COMPANY) - 10.0
        scores[rows] = fit.decision_function(np.stack([by_vectors[rows], by_layers], axis=1))
        report(f"with layers, {name}", pairs, scores)
        print(f"{len(rows)} of {len(pairs)} pairs are read")
    fit = LogisticRegression(C=1e6).fit(np.concatenate(features), labels)
    scale = (*fit.coef_[0].tolist(), float(fit.intercept_[0]) - RARER)
    print("weights of the regression and of the layers, and the intercept: " + ", ".join(f"{x:.2f}" for x in scale))
    return scale


class PackagePrior:
    """The regression of the package."""

    def __init__(self, weights: np.ndarray) -> None:
        """Take the weights, shape (features + 1,), the intercept last."""
        self.weights = weights.astype(np.float64)

    def decision_function(self, features: np.ndarray) -> np.ndarray:
        """Return the log-odds, shape (pairs,)."""
        return features @ self.weights[:-1] + self.weights[-1]


def package_model() -> tuple[Reader, PackagePrior]:
    """Return the layers and the regression that lie in the package."""
    tensors = read_tensors(CHANGE_FILE_NAME)
    reader = layers_that_learn()
    for number, layer in enumerate(reader.layers):
        for name, _ in carrier.MATRICES:
            down, up = (torch.tensor(matrix_of(tensors, f"layer{number}_{name}_{part}")) for part in ("down", "up"))
            setattr(layer, name, LowRank(getattr(layer, name), down=down, up=up.T))
    reader.segments.weight.data[:2] = torch.tensor(tensors["segments"])
    reader.heads["answer"].weight.data = torch.tensor(np.ascontiguousarray(tensors["answer_weight"].T))
    reader.heads["answer"].bias.data = torch.tensor(tensors["answer_bias"])
    return reader, PackagePrior(tensors["prior"])


def main() -> None:
    """Print the figures of the package's change model."""
    reader, prior = package_model()
    judged_by_themselves(reader, prior)
    judged_by_talks(reader, prior, pairs_of_talks(HELD))


if __name__ == "__main__":
    main()
