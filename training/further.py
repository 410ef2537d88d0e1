"""Train the package's reader further: `python -m training.further OUT --authors k1,k2`. Half an hour on two idle cores.

It learns the labels of some authors. Of a sample of all others it learns what it said before, so it keeps what it knew
(Li and Hoiem 2016, arXiv:1606.09282). Its weights are then the mean of those before and after: what learned further
alone forgets a little of everything else (Wortsman et al. 2022, arXiv:2109.01903).
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import torch

from ebbing.adapters.embedders.e5 import E5Embedder
from ebbing.adapters.readers.cross_encoder import CrossEncoderReader
from ebbing.adapters.readers.reader_weights import read_tensors, restored
from training import carrier
from training.embed import nearness
from training.export import TASK
from training.judge import HELD, HELD_ASKED, HELD_LOOKED_UP, report_questions
from training.model import TASKS, Reader, SteppedLinear
from training.pairs import Pairs, Question
from training.questions import Asked, authors, examples_of
from training.train import READER, Lesson, Plan, learn

EVERYDAY = ("talks", "people", "messages")
WRONG = (7, 2)
"""Texts that do not answer, beside the right ones of an everyday question: the nearest, and some by chance."""
KEPT, KEPT_ASKED = 1_100, 350
"""Questions of other authors in an epoch: everyday ones, and those of `data/asked`."""
CERTAIN = 3.0
"""Log-odds that stand for a label where the reader said nothing before."""
SHARE = 0.5
"""Of the weights that learned further, in the mean."""
PLAN = Plan(layers=READER.layers, is_packed=True, epochs=1, drop=0.1, hard=0.3, speed=1e-4)


def package_reader() -> Reader:
    """Return the package's reader, ready to learn: the inverse of `training.export.tensors_of`."""
    tensors = read_tensors()
    reader = Reader(READER.layers, is_packed=True)
    first = 2 * TASKS.index(TASK)
    with torch.no_grad():
        reader.norm.weight.copy_(_tensor(tensors["embedding_norm_scale"]))
        reader.norm.bias.copy_(_tensor(tensors["embedding_norm_bias"]))
        reader.segments.weight[first : first + 2] = _tensor(tensors["segments"])
        reader.heads[TASK].weight.copy_(_tensor(tensors[f"{TASK}_weight"]).T)
        reader.heads[TASK].bias.copy_(_tensor(tensors[f"{TASK}_bias"]))
        for number, layer in enumerate(reader.layers):
            for matrix, _ in carrier.MATRICES:
                name = f"layer{number}_{matrix}"
                steps = _tensor(tensors[f"{name}_scales"]).reshape(-1, 1)
                weight = _tensor(restored(tensors[f"{name}_weight"], tensors[f"{name}_scales"]))
                setattr(layer, matrix, SteppedLinear(weight, _tensor(tensors[f"{name}_bias"]), steps, is_packed=True))
            for norm in carrier.NORMS:
                getattr(layer, norm).weight.copy_(_tensor(tensors[f"layer{number}_{norm}_scale"]))
                getattr(layer, norm).bias.copy_(_tensor(tensors[f"layer{number}_{norm}_bias"]))
    return reader


def mean_of(before: Reader, after: Reader, *, share: float = SHARE) -> Reader:
    """Return `after` with the mean of the weights of both, by the share that is its own."""
    earlier = before.state_dict()
    weights = {
        name: share * tensor + (1 - share) * earlier[name] if tensor.dtype.is_floating_point else tensor
        for name, tensor in after.state_dict().items()
    }
    after.load_state_dict(weights)
    return after


def said_before(examples: Sequence[Asked]) -> np.ndarray:
    """Return the log-odds that the package's reader gives each pair of some questions, in their order."""
    reader = CrossEncoderReader(E5Embedder.load(), threads=2)
    texts = [(each.before, each.question, text) for each in examples for text in each.texts]
    different = list(dict.fromkeys(texts))
    outputs = reader.read(different)
    odds = dict(zip(different, (outputs[:, 1] - outputs[:, 0]).tolist(), strict=True))
    return np.array([odds[three] for three in texts], np.float32)


def lesson_of(learned: Collection[str], pairs: Pairs) -> Lesson:
    """Return what is learned: the questions of these authors, and in each epoch other ones of the others."""
    others = set(authors(EVERYDAY)) - {*learned, *HELD, *HELD_LOOKED_UP}
    hard = set(authors(["asked"])) - {*learned, *HELD_ASKED}
    taught: list[np.ndarray] = []
    epochs: list[list[Question]] = []
    for seed in range(PLAN.epochs):
        chance = random.Random(seed)
        new = examples_of(learned, similarity=nearness, wrong=WRONG, seed=seed)
        known = _some(examples_of(others, similarity=nearness, wrong=WRONG, seed=seed), KEPT, chance=chance)
        known += _some(examples_of(hard, similarity=nearness, seed=seed), KEPT_ASKED, chance=chance)
        epochs.append(pairs.questions([*new, *known]))
        taught += [*(CERTAIN * (2.0 * np.array(each.labels) - 1.0) for each in new), said_before(known)]
    every = np.concatenate(taught).astype(np.float32)
    return Lesson(pairs, epochs, [], torch.from_numpy(every))


def _some(examples: Sequence[Asked], count: int, *, chance: random.Random) -> list[Asked]:
    return chance.sample(examples, min(count, len(examples)))


def _tensor(array: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(array, np.float32))


def main() -> None:
    """Train further, and judge before and after."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--authors", required=True, help="whose labels are learned, with commas between")
    options = parser.parse_args()
    pairs = Pairs("cpu")
    lesson = lesson_of(set(options.authors.split(",")), pairs)
    judged = pairs.questions(examples_of({*HELD, *HELD_ASKED, *HELD_LOOKED_UP}, similarity=nearness))
    pairs.seal()
    reader = package_reader()
    print(report_questions(reader, pairs, judged), flush=True)
    reader = mean_of(package_reader(), learn(lesson, PLAN, name="further", reader=reader))
    print(report_questions(reader, pairs, judged))
    options.out.mkdir(parents=True, exist_ok=True)
    torch.save(reader.state_dict(), options.out / "reader.pt")


if __name__ == "__main__":
    main()
