"""Reads what happened to memories."""

from __future__ import annotations

from datetime import datetime
from sqlite3 import Connection
from typing import Final

from ebbing.adapters.rows.history_columns import history_entry
from ebbing.adapters.sqlite.memories.rows import COVERED, OF_OWNER, scope_values, utc_text
from ebbing.domain.memory.history import HistoryEntry
from ebbing.domain.memory.scope import Scope

_HISTORY_COLUMNS: Final = (
    "id, memory_id, old_memory, new_memory, event, created_at, updated_at, is_deleted, actor_id, role, reason"
)
_HISTORY: Final = (
    f"SELECT {_HISTORY_COLUMNS} FROM history WHERE memory_id = :id AND EXISTS"  # noqa: S608
    f" (SELECT 1 FROM memory WHERE memory.id = :id AND +{OF_OWNER} AND {COVERED}) ORDER BY id"
)
_HISTORIES: Final = (
    f"SELECT {_HISTORY_COLUMNS} FROM history WHERE memory_id IN"  # noqa: S608
    " (SELECT memory.id FROM memory CROSS JOIN history AS later ON later.memory_id = memory.id"
    f" WHERE {OF_OWNER} AND changed IS NOT NULL AND {COVERED} AND later.updated_at > :moment) ORDER BY id"
)


def history(db: Connection, scope: Scope, *, memory_id: str) -> list[HistoryEntry]:
    """What happened to a memory that the scope covers, oldest first."""
    return [
        history_entry(row, moment=datetime.fromisoformat)
        for row in db.execute(_HISTORY, {**scope_values(scope), "id": memory_id})
    ]


def histories(db: Connection, scope: Scope, *, changed_after: datetime) -> list[HistoryEntry]:
    """The whole history of each covered memory that changed after a moment, oldest first."""
    values = {**scope_values(scope), "moment": utc_text(changed_after)}
    return [history_entry(row, moment=datetime.fromisoformat) for row in db.execute(_HISTORIES, values)]
