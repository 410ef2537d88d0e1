"""One utterance of a conversation, as it comes in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from ebbing.domain.memory.record import Role

_MINUTE: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Message:
    """Text with its speaker; `id`, `name` and `timestamp` are what the caller knew about it."""

    content: str
    role: Role = Role.USER
    name: str | None = None
    id: str | None = None
    timestamp: datetime | None = None

    @property
    def utc_offset_minutes(self) -> int | None:
        """How far its clock is ahead of UTC; None for UTC itself, in which programs write without asking anybody."""
        offset = None if self.timestamp is None else self.timestamp.utcoffset()
        return (offset // _MINUTE or None) if offset else None
