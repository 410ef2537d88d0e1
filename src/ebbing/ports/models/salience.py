"""What says how likely a message is worth remembering: a small trained model beside the embedder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

KINDS = ("fact", "preference", "plan", "event", "relation", "health", "constraint", "habit", "instruction")
"""What a message that is worth remembering may be about."""


@dataclass(frozen=True, slots=True)
class Salience:
    """The judgement of one message."""

    probability: float
    """How likely the message, in its speaker's words, is worth remembering for months; in [0, 1]."""
    kind: str
    """The likeliest of `KINDS`, if it is."""


class SalienceModel(Protocol):
    """Judges messages of one person in Chinese and English. Each is judged by itself; any `str` is accepted."""

    @property
    def version(self) -> str:
        """Names the trained weights."""
        ...

    @property
    def model_id(self) -> str:
        """Names the embedder whose vectors it judges."""
        ...

    def judge(self, texts: Sequence[str], vectors: Sequence[NDArray[np.float32]], *, in_talk: bool) -> list[Salience]:
        """Return the judgement of each message.

        Args:
            texts: the messages, without their speakers.
            vectors: the vector of each as a passage with its speaker, shape (dim,).
            in_talk: they are part of a running talk, or of one among people. What somebody writes by itself is more
                often meant to be remembered.
        """
        ...

    def judge_answers(self, texts: Sequence[str], vectors: Sequence[NDArray[np.float32]]) -> list[Salience]:
        """Return the judgement of each short answer together with the question that it answers.

        Args:
            texts: each question with its answer behind it, without speakers.
            vectors: the vector of each text as a passage, shape (dim,).
        """
        ...
