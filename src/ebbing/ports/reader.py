"""What reads two short texts together: a small trained model that judges memories, changes and answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class MemoryClaim:
    """A memory that somebody would make of a message."""

    before: str
    """The turn before the message as `speaker: text`; empty where there is none."""
    message: str
    """The message as `speaker: text`."""
    memory: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the reader thinks of a claim."""

    worth: float
    """Probability in [0, 1] that the memory is true to the message and worth keeping."""
    kind: str
    """`fact`, `preference`, `plan`, `event`, `relation`, `health`, `constraint`, `habit` or `instruction`."""
    owner: str
    """Whose it is: `self`, `relation`, `agent` or `other`."""
    fault: str
    """What is most likely wrong with it, if it is not worth keeping: `fragment`, `wrong_person`, `question`, …"""


@dataclass(frozen=True, slots=True)
class KnownPair:
    """A new statement beside a memory that is known."""

    new: str
    memory: str


@dataclass(frozen=True, slots=True)
class Change:
    """How a new statement stands to a known memory: four probabilities whose sum is 1."""

    same: float
    """It says nothing else."""
    richer: float
    """Both are true, and the new statement says more."""
    replaces: float
    """The known memory is no longer true."""
    apart: float
    """It speaks of something else."""


class Reader(Protocol):
    """Judges pairs of short texts in Chinese and English, also one in each language.

    Each pair is judged by itself: its numbers do not depend on the others of the call. Any `str` is accepted; the
    adapter sanitises and cuts. Probabilities are calibrated on texts that the model was not trained on.
    """

    @property
    def version(self) -> str:
        """Names the trained weights."""
        ...

    async def worth(self, claims: Sequence[MemoryClaim]) -> list[Verdict]:
        """Return what the reader thinks of each claim."""
        ...

    async def changes(self, pairs: Sequence[KnownPair]) -> list[Change]:
        """Return how each new statement stands to its known memory."""
        ...

    async def answers(self, question: str, memories: Sequence[str], *, before: str = "") -> list[float]:
        """Return, for each memory, the probability in [0, 1] that it answers the question.

        Args:
            before: the turn before the question as `speaker: text`; empty where there is none.
        """
        ...
