"""Teach the package's reader which messages answer: `python -m training.answers OUT`. Twenty minutes on two cores.

Goes on from the weights of the package, for its `answer` head alone, and writes what `training.export OUT` packs. A
step sees whole questions: each pair is judged by itself, and the right texts of a question against its others (as Cao
et al. 2007, ListNet, with the right texts together). The weights stay on the four-bit steps of the package while they
learn (straight-through, Bengio et al. 2013): what is smaller than half a step would be lost by packing.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ebbing.adapters.readers.cross_encoder import ReaderInput, Task, reader_input
from training import carrier
from training.embed import nearness
from training.graph import DATA
from training.judge import area, calibration_error
from training.model import Reader, Shape, SteppedLinear
from training.quantise import restore
from training.questions import Asked, authors, examples_of

LABEL_SMOOTHING = 0.05
LIST_WEIGHT = 0.5
"""Weight of the right texts against the others of a question, beside each pair by itself."""
OLD_SHARE = 0.6
"""Share of the questions that is shown of authors whom the package's weights have learned from."""
QUESTIONS = 4
"""Of a batch."""
_SORTED_TOGETHER = 200
"""Questions that are sorted by length at once: more would make batches alike, fewer would pad more."""


@dataclass(frozen=True)
class Encoded:
    """A question with the tokens of each of its pairs."""

    asked: Asked
    pairs: tuple[ReaderInput, ...]

    @property
    def longest(self) -> int:
        """Tokens of its longest pair."""
        return max(len(pair.ids) for pair in self.pairs)


def shipped() -> Reader:
    """Return the reader of the package, its matrices as layers that stay on their steps."""
    with np.load(DATA / "reader.npz") as data:
        tensors = {name: data[name] for name in data.files if name != "version"}
    wide = {name: array if array.dtype == np.uint8 else array.astype(np.float32) for name, array in tensors.items()}
    reader = Reader(Shape(tuple(range(sum(name.endswith("_qkv_weight") for name in wide)))))
    _put(reader.norm, wide, "embedding_norm")
    reader.segments.weight.data = torch.from_numpy(wide["segments"])
    for number, layer in enumerate(reader.layers):
        for matrix, _ in carrier.MATRICES:
            name = f"layer{number}_{matrix}"
            weight = torch.from_numpy(restore(wide[f"{name}_weight"], wide[f"{name}_scales"]))
            step = torch.from_numpy(wide[f"{name}_scales"]).view(-1, 1)
            setattr(layer, matrix, SteppedLinear(weight, torch.from_numpy(wide[f"{name}_bias"]), step))
        for norm in carrier.NORMS:
            _put(getattr(layer, norm), wide, f"layer{number}_{norm}")
    for task, head in reader.heads.items():
        head.weight.data = torch.from_numpy(np.ascontiguousarray(wide[f"{task}_weight"].T))
        head.bias.data = torch.from_numpy(wide[f"{task}_bias"])
    return reader


def _put(norm: torch.nn.LayerNorm, tensors: dict[str, np.ndarray], name: str) -> None:
    norm.weight.data = torch.from_numpy(tensors[f"{name}_scale"])
    norm.bias.data = torch.from_numpy(tensors[f"{name}_bias"])


def encoded(examples: Sequence[Asked]) -> list[Encoded]:
    """Return the examples with their tokens."""
    return [
        Encoded(each, tuple(reader_input(carrier.encode, (each.before, each.question, text)) for text in each.texts))
        for each in examples
    ]


def logits_of(reader: Reader, examples: Sequence[Encoded], *, drop: float = 0.0) -> Tensor:
    """Return what the reader says of each pair of some questions, shape (pairs, 2)."""
    pairs = [pair for each in examples for pair in each.pairs]
    shape = (len(pairs), max(each.longest for each in examples))
    ids, segments, mask = np.full(shape, 1, np.int64), np.zeros(shape, np.int64), np.zeros(shape, bool)
    for row, pair in enumerate(pairs):
        ids[row, : len(pair.ids)] = pair.ids
        segments[row, : len(pair.ids)] = 2 * Task.ANSWER
        segments[row, pair.first_length : len(pair.ids)] += 1
        mask[row, : len(pair.ids)] = True
    words = carrier.word_vectors(ids.ravel()).reshape(*shape, -1)
    tensors = (torch.from_numpy(words), torch.from_numpy(segments), torch.from_numpy(mask))
    with torch.autocast("cpu", torch.bfloat16):
        answers: Tensor = reader(*tensors, drop=drop)["answer"]
    return answers.float()


def loss_of(logits: Tensor, examples: Sequence[Encoded]) -> Tensor:
    """Return the mean loss of the pairs, and of the questions that are answered."""
    labels = torch.tensor([label for each in examples for label in each.asked.labels])
    loss = functional.cross_entropy(logits, labels, label_smoothing=LABEL_SMOOTHING)
    sizes = [len(each.pairs) for each in examples]
    odds = (logits[:, 1] - logits[:, 0]).split(sizes)
    lists = [
        torch.logsumexp(own, 0) - torch.logsumexp(own[right > 0], 0)
        for own, right in zip(odds, labels.split(sizes), strict=True)
        if right.any()
    ]
    return loss + LIST_WEIGHT * torch.stack(lists).mean() if lists else loss


def batches(examples: Sequence[Encoded], *, chance: random.Random) -> Iterator[list[Encoded]]:
    """Yield all questions once, some at a time, in an order by chance."""
    shuffled = [*examples]
    chance.shuffle(shuffled)
    groups: list[list[Encoded]] = []
    for begin in range(0, len(shuffled), _SORTED_TOGETHER):
        near = sorted(shuffled[begin : begin + _SORTED_TOGETHER], key=lambda each: each.longest)
        groups += [near[place : place + QUESTIONS] for place in range(0, len(near), QUESTIONS)]
    chance.shuffle(groups)
    yield from groups


def train(
    reader: Reader, examples: Sequence[Encoded], *, epochs: int, speed: float, drop: float, chance: random.Random
) -> Iterator[int]:
    """Train, and yield after each epoch."""
    optimiser = torch.optim.AdamW(reader.parameters(), lr=speed, weight_decay=0.01, betas=(0.9, 0.98))
    total = epochs * -(-len(examples) // QUESTIONS)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, (step + 1) / 60) * max(0.02, 1.0 - step / total)
    )
    began, losses = time.monotonic(), []
    for epoch in range(epochs):
        reader.train()
        for batch in batches(examples, chance=chance):
            loss = loss_of(logits_of(reader, batch, drop=drop), batch)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            losses.append(loss.item())
            if len(losses) % 50 == 0:
                seconds = time.monotonic() - began
                print(f"step {len(losses)} of {total}, loss {np.mean(losses[-50:]):.3f}, {seconds:.0f} s", flush=True)
        yield epoch


def report(reader: Reader, examples: Sequence[Encoded]) -> str:
    """Return one line for each author: what is first, how often nothing is likely (0.5), area and calibration."""
    reader.eval()
    lines = []
    for author in sorted({each.asked.author for each in examples}):
        own = [each for each in examples if each.asked.author == author]
        with torch.no_grad():
            odds = [(logits[:, 1] - logits[:, 0]).numpy() for logits in (logits_of(reader, [each]) for each in own)]
        labels = np.array([label for each in own for label in each.asked.labels])
        shares = 1.0 / (1.0 + np.exp(-np.concatenate(odds)))
        pairs = [*zip(own, odds, strict=True)]
        first = [each.asked.labels[int(np.argmax(said))] for each, said in pairs if each.asked.is_answered]
        silent = [said.max() < 0 for each, said in pairs if not each.asked.is_answered]
        lines.append(
            f"  {author}: {len(first)} answered, right first {np.mean(first):.3f}; {len(silent)} not answered, silence"
            f" {np.mean(silent):.3f}; area {area(labels, shares):.3f}, calibration error"
            f" {calibration_error(labels, shares):.3f}"
        )
    return "\n".join(lines)


def main() -> None:
    """Train and judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--held", default="w4,w5,q4,m7,m8", help="authors that only judge, with commas between")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--speed", type=float, default=1.5e-4)
    parser.add_argument("--drop", type=float, default=0.15)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    chance = random.Random(given.seed)
    held = set(given.held.split(","))
    learned = [
        each
        for each in examples_of(set(authors()) - held, similarity=nearness)
        if each.author.startswith("m") or chance.random() < OLD_SHARE
    ]
    judged = encoded(examples_of(held, similarity=nearness))
    print(f"{len(learned)} questions to learn from, {len(judged)} to be judged by", flush=True)
    reader = shipped()
    print(f"before\n{report(reader, judged)}", flush=True)
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "shape.json").write_text(json.dumps({"layers": reader.shape.layers, "frozen": 0}))
    for epoch in train(
        reader, encoded(learned), epochs=given.epochs, speed=given.speed, drop=given.drop, chance=chance
    ):
        print(f"after epoch {epoch + 1}\n{report(reader, judged)}", flush=True)
        torch.save(reader.state_dict(), given.out / "reader.pt")


if __name__ == "__main__":
    main()
