"""Train the reader: `python -m training.train OUT --held w4,w5,q4`. Two cores do; bfloat16 helps where they know it."""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from training.batches import Batch, batches, encoded
from training.embed import nearness
from training.examples import authors, examples_of
from training.judge import report
from training.model import CLAIM_PARTS, Reader, Shape

DETAIL_SHARE = 0.2
"""Weight of fault, type and owner each, beside kept-or-not."""
LABEL_SMOOTHING = 0.05
HEAD_SPEED = 10.0
"""A new head learns this many times as fast as the layers."""


def loss_of(outputs: dict[str, Tensor], batch: Batch) -> Tensor:
    """Return the mean loss of a batch of one task."""
    logits = outputs[batch.task].float()
    if batch.task != "claim":
        return functional.cross_entropy(logits, batch.labels, label_smoothing=LABEL_SMOOTHING)
    worth, *parts = logits.split(CLAIM_PARTS, dim=-1)
    loss = functional.cross_entropy(worth, batch.labels, label_smoothing=LABEL_SMOOTHING)
    for part, labels in zip(parts, batch.details, strict=True):
        known = labels >= 0
        if known.any():
            loss = loss + DETAIL_SHARE * functional.cross_entropy(part[known], labels[known])
    return loss


def train(
    reader: Reader, examples: Sequence, *, epochs: int, speed: float, batch_size: int, seed: int, drop: float
) -> Iterator[int]:
    """Train, and yield after each epoch."""
    chance = random.Random(seed)
    heads = [*reader.heads.parameters(), *reader.segments.parameters()]
    known = {id(parameter) for parameter in heads}
    body = [each for each in reader.parameters() if id(each) not in known and each.requires_grad]
    groups = [{"params": body, "lr": speed}, {"params": heads, "lr": speed * HEAD_SPEED}]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01, betas=(0.9, 0.98))
    total = epochs * sum(1 for _ in batches(examples, batch_size, chance=random.Random(seed)))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, (step + 1) / 60) * max(0.02, 1.0 - step / total)
    )
    began, losses = time.monotonic(), []
    for epoch in range(epochs):
        reader.train()
        for batch in batches(examples, batch_size, chance=chance):
            with torch.autocast("cpu", torch.bfloat16):
                outputs = reader(batch.words, batch.segments, batch.mask, drop=drop)
            loss = loss_of(outputs, batch)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            losses.append(loss.item())
            if len(losses) % 50 == 0:
                mean = sum(losses[-50:]) / 50
                print(f"step {len(losses)} of {total}, loss {mean:.3f}, {time.monotonic() - began:.0f} s", flush=True)
        yield epoch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--begin", type=Path, help="folder of a reader to go on from")
    parser.add_argument("--held", default="", help="authors that only judge, with commas between")
    parser.add_argument("--layers", default="0,1,2,3,4,5")
    parser.add_argument("--frozen", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--stop-after", type=int, default=3, help="epochs after which answers stop getting better")
    parser.add_argument("--speed", type=float, default=2.5e-4)
    parser.add_argument("--drop", type=float, default=0.1)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    held = set(filter(None, given.held.split(",")))
    learned = encoded(examples_of(set(authors()) - held, similarity=nearness))
    judged = encoded(examples_of(held, similarity=nearness))
    print(f"{len(learned)} examples to learn from, {len(judged)} to be judged by", flush=True)
    shape = Shape(tuple(int(number) for number in given.layers.split(",")), given.frozen)
    reader = Reader(shape)
    if given.begin is not None:
        reader.load_state_dict(torch.load(given.begin / "reader.pt", weights_only=True))
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "shape.json").write_text(json.dumps({"layers": shape.layers, "frozen": shape.frozen}))
    steps = train(
        reader, learned, epochs=given.epochs, speed=given.speed, batch_size=given.batch_size, seed=given.seed,
        drop=given.drop,
    )  # fmt: skip
    for epoch in steps:
        if judged:
            print(f"after epoch {epoch + 1}\n{report(reader, judged)}", flush=True)
        torch.save(reader.state_dict(), given.out / "reader.pt")
        if epoch + 1 == given.stop_after:
            break


if __name__ == "__main__":
    main()
