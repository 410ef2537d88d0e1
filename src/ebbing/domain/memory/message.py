"""One utterance of a conversation, as it comes in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ebbing.domain.memory.record import Role


@dataclass(frozen=True, slots=True)
class Message:
    """Text with its speaker; `id`, `name` and `timestamp` are what the caller knew about it."""

    content: str
    role: Role = Role.USER
    name: str | None = None
    id: str | None = None
    timestamp: datetime | None = None
