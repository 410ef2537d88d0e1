"""What to do about a fact that was just heard, and why."""

from __future__ import annotations

from dataclasses import dataclass

from ebbing.domain.record import MemoryType


@dataclass(frozen=True, slots=True)
class Fact:
    """One clear third-person statement, read from a message and not yet stored."""

    text: str
    type: MemoryType = MemoryType.FACT
    tags: tuple[str, ...] = ()
    importance: float = 0.5
    confidence: float = 1.0
    source: int = 0
    """Index of the message that it was read from."""
    source_text: str | None = None
    rule: str | None = None
    attribute: str | None = None
    """Name of a single-valued attribute (`home`, `employer`, …) when the fact gives its value."""
    value: str | None = None
    about: str = "user"
    """`user` or `agent`."""


@dataclass(frozen=True, slots=True)
class Add:
    """Nothing known says this: store it."""

    fact: Fact
    reason: str


@dataclass(frozen=True, slots=True)
class Update:
    """A known memory says less than this: give it the better wording, keep its id."""

    fact: Fact
    memory_id: str
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Supersede:
    """A known memory is no longer true: close it and store the new one."""

    fact: Fact
    memory_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Delete:
    """A known memory should not be kept."""

    memory_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Keep:
    """A known memory already says this: store nothing."""

    fact: Fact
    memory_id: str
    reason: str


Decision = Add | Update | Supersede | Delete | Keep
