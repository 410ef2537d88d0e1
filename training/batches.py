"""Examples as batches of word vectors: texts of one task and of similar length together."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ebbing.adapters.readers.cross_encoder import reader_input
from training import carrier
from training.examples import TASKS, Example

_SORTED_TOGETHER = 640
"""Examples that are sorted by length at once: more would make batches alike, fewer would pad more."""


@dataclass(frozen=True)
class Encoded:
    """An example with its token ids."""

    example: Example
    ids: tuple[int, ...]
    segments: tuple[int, ...]


@dataclass(frozen=True)
class Batch:
    """Tensors of some examples of one task."""

    task: str
    words: Tensor
    segments: Tensor
    mask: Tensor
    labels: Tensor
    details: tuple[Tensor, Tensor, Tensor]
    """Fault, type and owner of each claim; -1 where unknown."""


def encode(example: Example) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return token ids and segments of a pair, in the form that the shipped reader sees."""
    ids, left = reader_input(carrier.encode, (example.before, example.first, example.second))
    segment = 2 * TASKS.index(example.task)
    return tuple(ids), (segment,) * left + (segment + 1,) * (len(ids) - left)


def encoded(examples: Sequence[Example]) -> list[Encoded]:
    """Return the examples with their tokens."""
    return [Encoded(example, *encode(example)) for example in examples]


def tensors(examples: Sequence[Encoded]) -> Batch:
    """Return a batch, padded to its longest example."""
    longest = max(len(each.ids) for each in examples)
    ids = np.full((len(examples), longest), 1, np.int64)
    segments = np.zeros((len(examples), longest), np.int64)
    mask = np.zeros((len(examples), longest), bool)
    for row, each in enumerate(examples):
        ids[row, : len(each.ids)] = each.ids
        segments[row, : len(each.ids)] = each.segments
        mask[row, : len(each.ids)] = True
    words = carrier.word_vectors(ids.ravel()).reshape(*ids.shape, -1)
    return Batch(
        examples[0].example.task,
        torch.from_numpy(words),
        torch.from_numpy(segments),
        torch.from_numpy(mask),
        torch.tensor([each.example.label for each in examples]),
        (
            torch.tensor([each.example.fault for each in examples]),
            torch.tensor([each.example.kind for each in examples]),
            torch.tensor([each.example.owner for each in examples]),
        ),
    )


def batches(examples: Sequence[Encoded], size: int, *, chance: random.Random) -> Iterator[Batch]:
    """Yield all examples once, in an order by chance."""
    groups: list[list[Encoded]] = []
    for task in TASKS:
        ours = [each for each in examples if each.example.task == task]
        chance.shuffle(ours)
        for begin in range(0, len(ours), _SORTED_TOGETHER):
            near = sorted(ours[begin : begin + _SORTED_TOGETHER], key=lambda each: len(each.ids))
            groups += [near[place : place + size] for place in range(0, len(near), size)]
    chance.shuffle(groups)
    for group in groups:
        yield tensors(group)
