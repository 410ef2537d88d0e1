"""Between an entry of the history and the columns in which a store keeps it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from ebbing.domain.memory.history import Event, HistoryEntry


def history_entry(row: Sequence[Any], *, moment: Callable[[Any], datetime]) -> HistoryEntry:
    """Return an entry; `moment` reads what the store writes for a time."""
    number, memory_id, old, new, event, created, updated, is_deleted, actor, role, reason = row
    return HistoryEntry(
        id=str(number),
        memory_id=memory_id,
        old_memory=old,
        new_memory=new,
        event=Event(event),
        created_at=moment(created),
        updated_at=None if updated is None else moment(updated),
        is_deleted=bool(is_deleted),
        actor_id=actor,
        role=role,
        reason=reason,
    )
