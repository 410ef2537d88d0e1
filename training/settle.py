"""Teach the shipped reader what the rules really make of talk: `python -m training.settle OUT --held w4,w5`.

The claim head learns from judged memories of the rules, beside the talks it began with. The other heads are held to
what they said before (distillation), so that recall stays as it was measured. Some ten minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from training import carrier
from training.batches import Batch, Encoded, batches, encoded
from training.embed import nearness
from training.examples import ExampleBuilder, authors
from training.graph import DATA
from training.judge import report
from training.model import Reader, Shape
from training.quantise import restore
from training.train import loss_of

JUDGED_TIMES = 3
"""How often a judged memory is shown beside each claim of the talks."""
HELD_WEIGHT = 2.0
"""Weight of staying the same, for heads that do not learn."""


def shipped() -> Reader:
    """Return the reader of the package, its four-bit matrices as floats."""
    with np.load(DATA / "reader.npz") as data:
        tensors = {
            name: np.asarray(data[name], np.float32 if data[name].dtype == np.float16 else None) for name in data.files
        }
    count = sum(name.endswith("_qkv_weight") for name in tensors)
    reader = Reader(Shape(tuple(range(count))))
    _put(reader.norm, tensors, "embedding_norm")
    reader.segments.weight.data = torch.from_numpy(tensors["segments"])
    for number, layer in enumerate(reader.layers):
        for matrix, _ in carrier.MATRICES:
            name = f"layer{number}_{matrix}"
            linear = getattr(layer, matrix)
            linear.weight.data = torch.from_numpy(restore(tensors[f"{name}_weight"], tensors[f"{name}_scales"]))
            linear.bias.data = torch.from_numpy(tensors[f"{name}_bias"])
        for norm in carrier.NORMS:
            _put(getattr(layer, norm), tensors, f"layer{number}_{norm}")
    for task, head in reader.heads.items():
        head.weight.data = torch.from_numpy(np.ascontiguousarray(tensors[f"{task}_weight"].T))
        head.bias.data = torch.from_numpy(tensors[f"{task}_bias"])
    return reader


def _put(norm: torch.nn.LayerNorm, tensors: dict[str, np.ndarray], name: str) -> None:
    norm.weight.data = torch.from_numpy(tensors[f"{name}_scale"])
    norm.bias.data = torch.from_numpy(tensors[f"{name}_bias"])


def settle(
    reader: Reader, teacher: Reader, examples: Sequence[Encoded], *, epochs: int, speed: float, seed: int
) -> None:
    """Train the claim head and the layers under it; hold the other heads to the teacher's answers."""
    chance = random.Random(seed)
    optimiser = torch.optim.AdamW(reader.parameters(), lr=speed, weight_decay=0.01, betas=(0.9, 0.98))
    total = epochs * sum(1 for _ in batches(examples, 32, chance=random.Random(seed)))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, (step + 1) / 30) * max(0.02, 1.0 - step / total)
    )
    began, losses = time.monotonic(), []
    for _ in range(epochs):
        reader.train()
        for batch in batches(examples, 32, chance=chance):
            loss = _loss(reader, teacher, batch)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            losses.append(loss.item())
            if len(losses) % 50 == 0:
                mean = sum(losses[-50:]) / 50
                print(f"step {len(losses)} of {total}, loss {mean:.3f}, {time.monotonic() - began:.0f} s", flush=True)


def _loss(reader: Reader, teacher: Reader, batch: Batch) -> Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        outputs = reader(batch.words, batch.segments, batch.mask, drop=0.1)
    if batch.task == "claim":
        return loss_of(outputs, batch)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        before = teacher(batch.words, batch.segments, batch.mask)[batch.task].float()
    expected = functional.log_softmax(before, dim=-1)
    got = functional.log_softmax(outputs[batch.task].float(), dim=-1)
    return HELD_WEIGHT * functional.kl_div(got, expected, reduction="batchmean", log_target=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--held", default="", help="authors that only judge, with commas between")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--speed", type=float, default=1e-4)
    parser.add_argument("--other", type=float, default=0.25, help="share of the other heads' examples that is shown")
    parser.add_argument("--talks", type=float, default=1.0, help="share of the talks' own claims that is shown")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    chance = random.Random(given.seed)
    held = set(filter(None, given.held.split(",")))
    builder = ExampleBuilder(nearness, given.seed)
    learned, judged = [], []
    for name in authors():
        if name in held:
            judged += builder.judged(name)
            continue
        for example in builder.of_author(name, judged=False):
            share = given.talks if example.task == "claim" else given.other
            if chance.random() < share:
                learned.append(example)
        learned += builder.judged(name) * JUDGED_TIMES
    print(f"{len(learned)} examples to learn from, {len(judged)} judged memories to be judged by", flush=True)
    reader, teacher = shipped(), shipped().eval()
    held_out = encoded(judged)
    print(f"before\n{report(reader, held_out)}", flush=True)
    settle(reader, teacher, encoded(learned), epochs=given.epochs, speed=given.speed, seed=given.seed)
    print(f"after\n{report(reader, held_out)}", flush=True)
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "shape.json").write_text(json.dumps({"layers": reader.shape.layers, "frozen": 0}))
    torch.save(reader.state_dict(), given.out / "reader.pt")


if __name__ == "__main__":
    main()
