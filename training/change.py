"""Train the change model: `python -m training.change`. An hour on two cores; `--judge` prints figures alone.

With `--further u1,u2` the package's layers learn on: these authors whole, and a sample of everything else. Half an hour
on two cores. How much the regression counts beside the layers for messages by themselves then stays as it is.

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
from torch import Tensor
from torch.nn import functional

from ebbing.adapters.readers.change_model import CHANGE_FILE_NAME
from ebbing.adapters.readers.cross_encoder import reader_input
from ebbing.adapters.readers.reader_weights import read_tensors
from training import carrier
from training.change_judge import (
    HELD,
    LowRank,
    judged_by_talks,
    judged_by_themselves,
    layers_that_learn,
    nameless,
    package_model,
)
from training.change_pairs import Later, Pair, conflicts, pairs_of_talks, statements, strangers, written
from training.graph import write_skeletons
from training.model import Reader, SteppedLinear, fast_precision
from training.pairs import Pairs
from training.quantise import by_rows

PACKAGE_DATA = Path(__file__).parents[1] / "src/ebbing/adapters/data" / CHANGE_FILE_NAME
LEARNED_LATER = ("r1", "r2", "r3", "r4", "r5", "r6", "t2", "t3", "t4", "t5")
LEARNED_FURTHER = ("u1", "u2", "u3", "u4", "u5")
"""Authors that the package's layers learned further from, before those that are new."""
RANK = 16
LARGEST = 31
"""Of the whole numbers that the steps are stored in: six bits."""
PRIOR_PENALTY = 0.02
BATCH = 32
SORTED_TOGETHER = 960
WARM_UP = 80
LATER_BESIDE = 800
"""Later messages that are put beside what somebody else told, where the package's layers learn on: so many of each."""
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
WEIGHTS = {"part": 0.5, "statement": 0.7, "stranger": 0.7}
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
    labelled: int = 1_000_000
    """Labelled pairs in an epoch, beside the new ones, at most."""


WHOLE = Plan(epochs=1.5, rate=6e-5, apart=5_000, strangers=5_600)
STEPS = Plan(epochs=1.2, rate=6e-4, apart=6_000, strangers=5_600)
LAST = Plan(epochs=0.35, rate=3e-4, apart=6_000, strangers=16_000)
FURTHER = Plan(epochs=1.0, rate=2.5e-4, apart=1_800, strangers=2_200, labelled=5_000)


def learned_prior(pairs: Sequence[Pair]) -> LogisticRegression:
    """Return the regression on the vectors of pairs; those that nobody can tell are left out."""
    seen = [pair for pair in pairs if not pair.is_open]
    features = np.concatenate([pair.features for pair in seen])
    ends = np.repeat([pair.ends for pair in seen], 2)
    return LogisticRegression(C=PRIOR_PENALTY, max_iter=300).fit(features, ends)


def only_steps_learn(reader: Reader) -> Reader:
    """Return the layers, of which the steps of low rank, segments and head learn on, and nothing else."""
    for name, parameter in reader.named_parameters():
        parameter.requires_grad_(requires_grad=name.rpartition(".")[2] in {"down", "up"})
    for parameter in [reader.segments.weight, *reader.heads["answer"].parameters()]:
        parameter.requires_grad_(requires_grad=True)
    return reader


def steps_that_learn(whole: Reader) -> Reader:
    """Return the embedder's layers with what they learned as steps of low rank; these, segments and head learn on."""
    reader = layers_that_learn()
    for layer, learned in zip(reader.layers, whole.layers, strict=True):
        for name, _ in carrier.MATRICES:
            linear: SteppedLinear = getattr(layer, name)
            difference = getattr(learned, name).weight.detach() - linear.weight
            left, values, right = torch.linalg.svd(difference, full_matrices=False)
            roots = values[:RANK].sqrt()
            setattr(layer, name, LowRank(linear, down=roots[:, None] * right[:RANK], up=left[:, :RANK] * roots))
    reader.segments = whole.segments
    reader.heads["answer"] = whole.heads["answer"]
    return only_steps_learn(reader)


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
        self,
        pairs: Sequence[Pair],
        later: Sequence[Later],
        others: Sequence[Later],
        *,
        chance: random.Random,
        new: Sequence[Later] = (),
    ) -> None:
        """Take the pairs of authors to learn from, and later messages beside what somebody else told.

        Each epoch has all that are `new`.
        """
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
        self.new = [self._later(each, chance) for each in new]
        self.strangers += [self._later(each, chance, weight=WEIGHTS["stranger"]) for each in others]
        self.tokens.seal()
        shares = np.exp(NEARER * np.array([example.nearness for example in self.apart]))
        self.shares = shares / shares.sum()

    def epoch(self, chance: np.random.Generator, plan: Plan) -> list[list[Example]]:
        """Return batches of examples of similar length."""
        count = min(plan.apart, len(self.apart))
        chosen = chance.choice(len(self.apart), count, replace=False, p=self.shares)
        others = chance.choice(len(self.strangers), min(plan.strangers, len(self.strangers)), replace=False)
        known = chance.choice(len(self.labelled), min(plan.labelled, len(self.labelled)), replace=False)
        every = [*self.new, *(self.labelled[place] for place in known), *(self.apart[place] for place in chosen)]
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
            texts = nameless(texts)
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
                texts = nameless(texts)
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
        with fast_precision("cpu"):
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


def export(prior: np.ndarray, reader: Reader, *, scales: Sequence[tuple[float, ...]]) -> None:
    """Write the model and its graph as package data.

    Args:
        prior: the weights of the regression, the intercept last.
        reader: the layers.
        scales: weights of both and the intercept, for messages by themselves and for those of a talk.
    """
    tensors = {
        "prior": prior.astype(np.float32),
        "scales": np.array(scales, np.float32),
        "segments": _half(reader.segments.weight[:2]),
        "answer_weight": _half(reader.heads["answer"].weight.T),
        "answer_bias": _half(reader.heads["answer"].bias),
    }
    for number, layer in enumerate(reader.layers):
        for name, _ in carrier.MATRICES:
            step: LowRank = getattr(layer, name)
            for part, matrix in (("down", step.down), ("up", step.up.T)):
                key = f"layer{number}_{name}_{part}"
                tensors[key], tensors[f"{key}_scales"] = by_rows(matrix.detach().float().numpy(), most=LARGEST)
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
    parser.add_argument("--further", default="", help="authors from whom the package's layers learn on, with commas")
    options = parser.parse_args()
    every = pairs_of_talks()
    learned, judged = [[pair for pair in every if (pair.author in HELD) is is_held] for is_held in (False, True)]
    torch.manual_seed(1)
    chance, later = random.Random(1), [*conflicts(), *written(LEARNED_LATER)]
    if options.further:
        new = written(options.further.split(","))
        later += written(set(LEARNED_FURTHER) - set(options.further.split(",")))
        package, prior = package_model()
        weights = prior.weights
        some = [*chance.sample(later, LATER_BESIDE), *chance.sample(new, min(len(new), LATER_BESIDE))]
        lesson = Lesson(learned, later, strangers(some, prior, chance=chance), chance=chance, new=new)
        reader = learn(only_steps_learn(package), lesson, FURTHER)
    else:
        prior = learned_prior(learned)
        weights = np.append(prior.coef_[0], prior.intercept_)
        lesson = Lesson(learned, later, strangers(later, prior, chance=chance), chance=chance)
        whole = learn(layers_that_learn(), lesson, WHOLE)
        reader = learn(learn(steps_that_learn(whole), lesson, STEPS), lesson, LAST)
    scales = [judged_by_themselves(reader, prior), judged_by_talks(reader, prior, judged)]
    if options.further:
        scales[0] = tuple(read_tensors(CHANGE_FILE_NAME)["scales"][0])
    if not options.judge:
        export(weights, reader, scales=scales)


if __name__ == "__main__":
    main()
