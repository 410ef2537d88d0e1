"""All pairs of texts as tensors on one device: questions with texts, and messages with what was said before them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ebbing.adapters.readers.cross_encoder import reader_input
from ebbing.ports.models.salience import KINDS
from training import carrier
from training.carrier import END
from training.messages import Labelled
from training.model import MAX_TOKENS, TASKS
from training.questions import Asked

MESSAGE_TOKENS = 96
"""Of a longer message, its beginning and its end."""


@dataclass(frozen=True)
class Question:
    """A question by the places of its pairs."""

    author: str
    places: np.ndarray
    labels: np.ndarray
    """1 for each pair that answers, else 0."""


@dataclass(frozen=True)
class Message:
    """A message by the places of its pair, with what was said before it and without."""

    author: str
    places: tuple[int, int]
    kind: int
    """Place in `KINDS`; -1 where it is not worth remembering."""


class Pairs:
    """Collects pairs, then gives batches of them."""

    def __init__(self, device: str) -> None:
        """Begin without a pair; tensors will lie on `device`."""
        self.device = device
        self._ids: list[list[int]] = []
        self._first_lengths: list[int] = []

    def questions(self, examples: Sequence[Asked]) -> list[Question]:
        """Add the pairs of questions, and return these."""
        return [
            Question(
                each.author,
                np.array(
                    [self.add(*reader_input(carrier.encode, (each.before, each.question, text))) for text in each.texts]
                ),
                np.array(each.labels),
            )
            for each in examples
        ]

    def messages(self, labelled: Sequence[Labelled]) -> list[Message]:
        """Add the pairs of messages, and return these."""
        return [
            Message(
                each.author,
                (self.add(*_message_input(each.before, each)), self.add(*_message_input("", each))),
                KINDS.index(each.kind) if each.kind else -1,
            )
            for each in labelled
        ]

    def seal(self) -> None:
        """Move what was added to the device; nothing is added any more."""
        self.lengths = np.array([len(ids) for ids in self._ids])
        used, places = np.unique(np.concatenate([[1], *self._ids]), return_inverse=True)
        padded = np.zeros((len(self._ids), MAX_TOKENS), np.int32)
        rows = np.split(places[1:], np.cumsum(self.lengths)[:-1])
        for row, ids in enumerate(rows):
            padded[row, : len(ids)] = ids
        self._words = torch.from_numpy(carrier.word_vectors(used)).to(self.device)
        self._padded = torch.from_numpy(padded).to(self.device)
        self._firsts = torch.tensor(self._first_lengths, device=self.device)
        self._lengths = torch.from_numpy(self.lengths).to(self.device)

    def batch(self, places: np.ndarray, task: str) -> tuple[Tensor, Tensor, Tensor]:
        """Return the inputs of `Reader` for some pairs."""
        longest = min(MAX_TOKENS, -(-int(self.lengths[places].max()) // 8) * 8)
        rows = torch.as_tensor(places, device=self.device)
        position = torch.arange(longest, device=self.device)[None]
        mask = position < self._lengths[rows][:, None]
        is_second = (position >= self._firsts[rows][:, None]) & mask
        words = self._words[self._padded[rows, :longest].long()]
        return words, 2 * TASKS.index(task) + is_second.long(), mask

    def by_length(self, places: np.ndarray, size: int) -> Iterator[np.ndarray]:
        """Yield where in `places` pairs of similar length stand, some at a time."""
        order = np.argsort(self.lengths[places], kind="stable")
        for begin in range(0, len(order), size):
            yield order[begin : begin + size]

    def add(self, ids: list[int], first_length: int) -> int:
        self._ids.append(ids[:MAX_TOKENS])
        self._first_lengths.append(first_length)
        return len(self._ids) - 1


def _message_input(before: str, message: Labelled) -> tuple[list[int], int]:
    """Return the tokens of a message behind the end of what was said before, and how many stand before the message."""
    ids, first_length = reader_input(carrier.encode, (before, "", ""))
    ids = ids[: first_length - bool(before)]
    text = list(carrier.encode(f"{message.speaker}: {message.text}"))
    if len(text) > MESSAGE_TOKENS:
        text = text[: MESSAGE_TOKENS // 2] + text[-MESSAGE_TOKENS // 2 :]
    return [*ids, END, *text, END], len(ids)
