"""What is told how the memory is doing: how long its calls take, and what comes of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ebbing.domain.memory.record import MemoryRecord
from ebbing.ports.job_queue import JobState

Answer = Mapping[str, Any] | Sequence[Any] | None


@dataclass(slots=True)
class StoreCounts:
    """What a store holds, over all tenants."""

    by_layer: dict[str, int] = field(default_factory=dict)
    """Memories by layer."""
    by_kind: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("memory", "episode", "deleted"), 0))
    """Records by kind; those that are deleted count as that alone."""
    jobs: dict[str, int] = field(default_factory=lambda: {state.value: 0 for state in JobState})
    owners: int = 0
    bytes_on_disk: int = 0


class Measure(Protocol):
    """One call under way; it is ended once, by one of these."""

    def done(self, answer: Answer) -> None:
        """It answered; `answer` is read and not kept."""
        ...

    def searched(
        self, records: Sequence[MemoryRecord], *, scores: Sequence[float], failed_retrievers: Iterable[str]
    ) -> None:
        """It answered with these memories of these scores, without the routes that failed or were late."""
        ...

    def failed(self, code: str) -> None:
        """It raised an error of this stable code."""
        ...


class Meter(Protocol):
    """Counts and times calls. It never raises, and learns of no person: no id, no text, no free tag."""

    @property
    def is_on(self) -> bool:
        """Whether anything is measured at all; where not, nothing is spent on it."""
        ...

    def begin(self, operation: str) -> Measure:
        """A call begins: `add`, `search` or `context`."""
        ...


class Silence:
    """A meter that measures nothing, and its own measure."""

    is_on = False

    def begin(self, operation: str) -> Measure:  # noqa: ARG002
        """Nothing begins."""
        return self

    def done(self, answer: Answer) -> None:
        """Nothing is noted."""

    def searched(
        self, records: Sequence[MemoryRecord], *, scores: Sequence[float], failed_retrievers: Iterable[str]
    ) -> None:
        """Nothing is noted."""

    def failed(self, code: str) -> None:
        """Nothing is noted."""


SILENCE = Silence()
