"""Train the change model: `python -m training.change`. An hour on two cores; `--judge` prints figures alone.

Does a later message show that what an earlier one told no longer stands? A logistic regression on their vectors says
how likely that is of two messages on such matters. Twelve layers, which begin as those of the embedder, read both
texts. All their weights learn first. What they learned is then cut to steps of low rank beside the embedder's own
weights (LoRA, Hu et al. 2021, arXiv:2106.09685, begun with the largest singular values of the difference), and the
steps learn on.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from torch import Tensor, nn
from torch.nn import functional

from ebbing.adapters.readers.change_model import CHANGE_FILE_NAME, LEAST_IN_COMPANY, pair_features
from ebbing.adapters.readers.cross_encoder import reader_input
from training import carrier
from training.change_pairs import Later, Pair, conflicts, pairs_of_talks, statements, strangers, written
from training.embed import passages
from training.graph import write_skeletons
from training.model import Reader, SteppedLinear
from training.pairs import Pairs
from training.quantise import by_rows

PACKAGE_DATA = Path(__file__).parents[1] / "src/ebbing/adapters/data" / CHANGE_FILE_NAME
HELD = "m7,m8,m13,m14,m15,m16,m19,m20"
"""Authors of talks that only judge …"""
LEARNED_LATER = ("r1", "r2", "r3", "r4", "r5", "r6", "t2", "t3", "t4", "t5")
HELD_LATER = {"notes": ("r7", "r8"), "talks": ("t1", "t6")}
"""… and authors of `data/later`."""
LAYERS = 12
RANK = 16
LARGEST = 31
"""Of the whole numbers that the steps are stored in: six bits."""
PRIOR_PENALTY = 0.02
BATCH = 32
SORTED_TOGETHER = 960
WARM_UP = 80
NEARER = 6.0
"""Pairs of a talk without a label are the likelier chosen the nearer they are."""
DROP = 0.1
NAMELESS = 0.3
"""Share of the pairs that are shown without the names of the speakers …"""
NAMED = 0.5
"""… of those without a speaker that get one …"""
ALONE = 0.35
"""… and of those of a talk without what was said before the later one."""
SMOOTHING = 0.02
RARER = 0.3
"""Log-odds that are taken off: in life fewer messages end something than in the data."""
WEIGHTS = {"part": 0.5, "statement": 0.7, "stranger": 0.7}
RECALLS = (0.2, 0.3, 0.4, 0.5, 0.6)
NAMES = {
    "en": ("Sam", "Priya", "Dana", "Tom", "Mia", "Ken"),
    "zh": ("小林", "阿杰", "王敏", "Leo", "婷婷", "老周"),
}


@dataclass(frozen=True)
class Plan:
    """How long and how fast something learns."""

    epochs: float
    rate: float
    apart: int
    """Pairs of talks without a label in an epoch …"""
    strangers: int
    """… and later messages beside what somebody else told."""


WHOLE = Plan(epochs=1.5, rate=6e-5, apart=5_000, strangers=5_600)
STEPS = Plan(epochs=1.2, rate=6e-4, apart=6_000, strangers=5_600)
LAST = Plan(epochs=0.35, rate=3e-4, apart=6_000, strangers=16_000)


def learned_prior(pairs: Sequence[Pair]) -> LogisticRegression:
    """Return the regression on the vectors of pairs; those that nobody can tell are left out."""
    seen = [pair for pair in pairs if not pair.is_open]
    features = np.concatenate([pair.features for pair in seen])
    ends = np.repeat([pair.ends for pair in seen], 2)
    return LogisticRegression(C=PRIOR_PENALTY, max_iter=300).fit(features, ends)


def odds(prior: LogisticRegression, pairs: Sequence[Pair], *, is_named: bool) -> np.ndarray:
    """Return the log-odds of the regression, shape (pairs,), with the names of the speakers or without."""
    row = 0 if is_named else 1
    return prior.decision_function(np.stack([pair.features[row] for pair in pairs]))


class LowRank(nn.Module):
    """A linear layer of the embedder with a step of low rank beside it; only the step learns."""

    def __init__(self, inner: SteppedLinear, difference: Tensor) -> None:
        """Begin with the largest singular values of a difference, shape (outputs, inputs)."""
        super().__init__()
        self.inner = inner
        left, values, right = torch.linalg.svd(difference, full_matrices=False)
        roots = values[:RANK].sqrt()
        self.down = nn.Parameter((roots[:, None] * right[:RANK]).contiguous())
        self.up = nn.Parameter((left[:, :RANK] * roots).contiguous())

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


def steps_that_learn(whole: Reader) -> Reader:
    """Return the embedder's layers with what they learned as steps of low rank; these, segments and head learn on."""
    reader = layers_that_learn()
    for parameter in reader.parameters():
        parameter.requires_grad_(requires_grad=False)
    for layer, learned in zip(reader.layers, whole.layers, strict=True):
        for name, _ in carrier.MATRICES:
            linear: SteppedLinear = getattr(layer, name)
            difference = getattr(learned, name).weight.detach() - linear.weight
            setattr(layer, name, LowRank(linear, difference))
    reader.segments = whole.segments
    reader.heads["answer"] = whole.heads["answer"]
    return reader


@dataclass(frozen=True)
class Example:
    """A pair of texts as tokens, and what is right."""

    place: int
    ends: bool
    weight: float = 1.0
    nearness: float = 1.0


class Lesson:
    """What the layers learn from."""

    def __init__(
        self, pairs: Sequence[Pair], later: Sequence[Later], others: Sequence[Later], *, chance: random.Random
    ) -> None:
        """Take the pairs of authors to learn from, and later messages beside what somebody else told."""
        self.tokens = Pairs("cpu")
        self.labelled: list[Example] = []
        self.apart: list[Example] = []
        self.strangers: list[Example] = []
        for pair in pairs:
            if not pair.is_open:
                self._add_talk(pair, chance)
        for known, text, ends in statements():
            self.labelled.append(Example(self._tokens_of("", text, known), ends, weight=WEIGHTS["statement"]))
        self.labelled += [self._later(each, chance) for each in later]
        self.strangers += [self._later(each, chance, weight=WEIGHTS["stranger"]) for each in others]
        self.tokens.seal()
        shares = np.exp(NEARER * np.array([example.nearness for example in self.apart]))
        self.shares = shares / shares.sum()

    def epoch(self, chance: np.random.Generator, plan: Plan) -> list[list[Example]]:
        """Return batches of examples of similar length."""
        count = min(plan.apart, len(self.apart))
        chosen = chance.choice(len(self.apart), count, replace=False, p=self.shares)
        others = chance.choice(len(self.strangers), min(plan.strangers, len(self.strangers)), replace=False)
        every = [*self.labelled, *(self.apart[place] for place in chosen)]
        every += [self.strangers[place] for place in others]
        chance.shuffle(every)
        batches: list[list[Example]] = []
        for begin in range(0, len(every), SORTED_TOGETHER):
            some = sorted(
                every[begin : begin + SORTED_TOGETHER], key=lambda example: self.tokens.lengths[example.place]
            )
            batches += [some[first : first + BATCH] for first in range(0, len(some), BATCH)]
        chance.shuffle(batches)
        return batches

    def _add_talk(self, pair: Pair, chance: random.Random) -> None:
        texts = ["" if chance.random() < ALONE else pair.before, pair.later, pair.earlier]
        if chance.random() < NAMELESS:
            texts = _nameless(texts)
        how = pair.change.how if pair.change else None
        example = Example(self._tokens_of(*texts), pair.ends, WEIGHTS.get(how or "", 1.0), pair.nearness)
        if pair.change is None:
            self.apart.append(example)
        else:
            self.labelled += [example] * (2 if how not in {None, "part"} else 1)

    def _later(self, pair: Later, chance: random.Random, *, weight: float = 1.0) -> Example:
        texts = [pair.later, pair.earlier]
        if pair.mark:
            if chance.random() < NAMELESS:
                texts = _nameless(texts)
        elif chance.random() < NAMED:
            name = chance.choice(NAMES[pair.language])
            texts = [f"{name}: {text}" for text in texts]
        later, earlier = texts
        if pair.over == 0.5:
            weight = WEIGHTS["part"]
        return Example(self._tokens_of(pair.before, later, earlier), pair.over > 0, weight)

    def _tokens_of(self, before: str, first: str, second: str) -> int:
        return self.tokens.add(*reader_input(carrier.encode, (before, first, second)))


def learn(reader: Reader, lesson: Lesson, plan: Plan, *, seed: int = 1) -> Reader:
    """Return the reader after it has learned to compare two messages."""
    torch.manual_seed(seed)
    chance = np.random.default_rng(seed)
    learning = [parameter for parameter in reader.parameters() if parameter.requires_grad]
    optimiser = torch.optim.AdamW(learning, lr=plan.rate, weight_decay=0.01)
    total = int(plan.epochs * len(lesson.epoch(np.random.default_rng(seed), plan)))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, (step + 1) / WARM_UP) * max(0.02, 1.0 - step / total)
    )
    began, losses = time.monotonic(), []
    for batch in _first(_batches(lesson, chance, plan), total):
        reader.train()
        places = np.array([example.place for example in batch])
        right = torch.tensor([float(example.ends) for example in batch])
        weights = torch.tensor([example.weight for example in batch])
        with torch.autocast("cpu", torch.bfloat16):
            outputs = reader(*lesson.tokens.batch(places, "answer"), drop=DROP)["answer"].float()
        difference = outputs[:, 1] - outputs[:, 0]
        target = right * (1 - 2 * SMOOTHING) + SMOOTHING
        loss = (functional.binary_cross_entropy_with_logits(difference, target, reduction="none") * weights).mean()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learning, 1.0)
        optimiser.step()
        schedule.step()
        losses.append(loss.item())
        if len(losses) % 100 == 0:
            seconds = time.monotonic() - began
            print(f"{len(losses)} of {total}: loss {np.mean(losses[-100:]):.4f}, {seconds:.0f} s", flush=True)
    return reader


def _batches(lesson: Lesson, chance: np.random.Generator, plan: Plan) -> Iterator[list[Example]]:
    while True:
        yield from lesson.epoch(chance, plan)


def _first(batches: Iterator[list[Example]], count: int) -> Iterator[list[Example]]:
    yield from (batch for batch, _ in zip(batches, range(count), strict=False))


def _nameless(texts: Sequence[str]) -> list[str]:
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
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            outputs = reader(*tokens.batch(rows, "answer"))["answer"].float()
        result[rows] = (outputs[:, 1] - outputs[:, 0]).numpy()
    return result


def judged_by_themselves(reader: Reader, prior: LogisticRegression) -> tuple[float, ...]:
    """Print how well the layers alone tell what is over from what looks like it, where nothing else is around.

    Return the weights of the regression and of the layers, and the intercept, from these pairs and from others that
    are near each other and have nothing to do with each other.
    """
    sets = {name: written(authors) for name, authors in HELD_LATER.items()}
    for name, pairs in (sets | {"conflicts test": conflicts(["test"]), "conflicts held": conflicts(["held"])}).items():
        for language in NAMES:
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


def judged_by_talks(reader: Reader, prior: LogisticRegression, pairs: Sequence[Pair]) -> tuple[float, ...]:
    """Print the figures of talks; return the weights of both and the intercept that give log-odds (Platt 1999)."""
    features: list[np.ndarray] = []
    labels: list[bool] = []
    for is_named in (True, False):
        name = "with names" if is_named else "without names"
        by_vectors = odds(prior, pairs, is_named=is_named)
        report(f"regression, {name}", pairs, by_vectors)
        rows = np.flatnonzero(by_vectors >= LEAST_IN_COMPANY)
        texts = [(pairs[row].before, pairs[row].later, pairs[row].earlier) for row in rows]
        by_layers = read(reader, texts if is_named else [_nameless(three) for three in texts])
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


def export(prior: LogisticRegression, reader: Reader, *, scales: Sequence[tuple[float, ...]]) -> None:
    """Write the model and its graph as package data.

    Args:
        prior: the regression.
        reader: the layers.
        scales: weights of both and the intercept, for messages by themselves and for those of a talk.
    """
    tensors = {
        "prior": np.append(prior.coef_[0], prior.intercept_).astype(np.float32),
        "scales": np.array(scales, np.float32),
        "segments": _half(reader.segments.weight[:2]),
        "answer_weight": _half(reader.heads["answer"].weight.T),
        "answer_bias": _half(reader.heads["answer"].bias),
    }
    for number, layer in enumerate(reader.layers):
        for name, _ in carrier.MATRICES:
            step: LowRank = getattr(layer, name)
            for part, matrix in (("down", step.down), ("up", step.up.T)):
                numbers, scales = by_rows(matrix.detach().float().numpy(), most=LARGEST)
                tensors[f"layer{number}_{name}_{part}"] = numbers
                tensors[f"layer{number}_{name}_{part}_scales"] = scales
    version = hashlib.sha256(b"".join(tensors[name].tobytes() for name in sorted(tensors))).hexdigest()[:12]
    np.savez_compressed(PACKAGE_DATA, version=np.array(version), **tensors)
    write_skeletons()
    print(f"change model {version}: {PACKAGE_DATA.stat().st_size:,} bytes")


def _half(tensor: Tensor) -> np.ndarray:
    return np.ascontiguousarray(tensor.detach().float().numpy().astype(np.float16))


def main() -> None:
    """Learn from some authors and judge by the others; write the package data unless only a judgement is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judge", action="store_true", help="print the figures and write nothing")
    parser.add_argument("--held", default=HELD, help="authors that judge, with commas between")
    options = parser.parse_args()
    held = set(options.held.split(","))
    every = pairs_of_talks()
    learned, judged = [[pair for pair in every if (pair.author in held) is is_held] for is_held in (False, True)]
    prior = learned_prior(learned)
    torch.manual_seed(1)
    chance, later = random.Random(1), [*conflicts(), *written(LEARNED_LATER)]
    lesson = Lesson(learned, later, strangers(later, prior, chance=chance), chance=chance)
    whole = learn(layers_that_learn(), lesson, WHOLE)
    reader = learn(learn(steps_that_learn(whole), lesson, STEPS), lesson, LAST)
    scales = [judged_by_themselves(reader, prior), judged_by_talks(reader, prior, judged)]
    if not options.judge:
        export(prior, reader, scales=scales)


if __name__ == "__main__":
    main()
