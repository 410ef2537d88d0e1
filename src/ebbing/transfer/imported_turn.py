"""What every reader of a chat file gives: messages in `Memory.add`'s shape, and the lines that could not be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a file."""

    line: int
    """Number of its line in the file, or of its place in a JSON list, from 1."""
    message: Mapping[str, Any]
    """`role`, `content`, and `id`, `name`, `timestamp` where they are known."""
    owner_ids: Mapping[str, str] = field(default_factory=dict)
    """`user_id`, `agent_id`, `run_id`, where the file says so."""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Exported:
    """One memory of our own export."""

    line: int
    record: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line that holds nothing usable, and why; the reason never quotes it."""

    line: int
    reason: str


Read = Turn | Exported | Unreadable
