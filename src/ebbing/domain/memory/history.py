"""The events in the history of a memory."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

STORED_AS_SAID: Final = "stored as said"
"""Reason of a memory that is a message in its own words."""


class Event(StrEnum):
    """The kinds of change that a history row can tell of; `NONE` is only ever an answer, never a row."""

    ADD = "ADD"
    UPDATE = "UPDATE"
    SUPERSEDE = "SUPERSEDE"
    MERGE = "MERGE"
    """Another memory tells it from now on; it still holds."""
    SPLIT = "SPLIT"
    """It tells for itself again."""
    FADE = "FADE"
    """It is told in a shortened wording from now on; the full one is packed."""
    DELETE = "DELETE"
    RESTORE = "RESTORE"
    NONE = "NONE"


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One change of one memory."""

    id: str
    memory_id: str
    old_memory: str | None
    new_memory: str | None
    event: Event
    created_at: datetime
    updated_at: datetime | None
    is_deleted: bool
    actor_id: str | None
    role: str | None
    reason: str | None
