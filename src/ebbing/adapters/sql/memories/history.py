"""What happened to memories."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, exists, select

from ebbing.adapters.rows.history_columns import history_entry
from ebbing.adapters.sql.connection.database import Database
from ebbing.adapters.sql.tables.conditions import covered, names_of, of_owner
from ebbing.adapters.sql.tables.owner_tables import HISTORY, MEMORY
from ebbing.domain.memory.history import HistoryEntry
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import micros, moment

_COLUMNS: Final = tuple(
    HISTORY.c[name]
    for name in (
        *("no", "memory_id", "old_memory", "new_memory", "event", "created_at", "updated_at", "is_deleted"),
        *("actor_id", "role", "reason"),
    )
)
_LATER: Final = HISTORY.alias("later")
_HISTORY: Final = (
    select(*_COLUMNS)
    .where(
        of_owner(HISTORY),
        HISTORY.c.memory_id == bindparam("of_id"),
        exists(select(MEMORY.c.seq).where(of_owner(MEMORY), MEMORY.c.id == bindparam("of_id"), covered(MEMORY))),
    )
    .order_by(HISTORY.c.no)
)
_CHANGED: Final = (
    select(MEMORY.c.id)
    .join(
        _LATER,
        (_LATER.c.tenant == MEMORY.c.tenant) & (_LATER.c.owner == MEMORY.c.owner) & (_LATER.c.memory_id == MEMORY.c.id),
    )
    .where(of_owner(MEMORY), MEMORY.c.changed.is_not(None), covered(MEMORY), _LATER.c.updated_at > bindparam("since"))
)
_HISTORIES: Final = select(*_COLUMNS).where(of_owner(HISTORY), HISTORY.c.memory_id.in_(_CHANGED)).order_by(HISTORY.c.no)


async def history(database: Database, scope: Scope, *, memory_id: str) -> list[HistoryEntry]:
    """What happened to a memory that the scope covers, oldest first."""
    rows = await database.rows(_HISTORY, {**names_of(scope), "of_id": memory_id})
    return [history_entry(row, moment=moment) for row in rows]


async def histories(database: Database, scope: Scope, *, changed_after: datetime) -> list[HistoryEntry]:
    """The whole history of each covered memory that changed after a moment, oldest first."""
    rows = await database.rows(_HISTORIES, {**names_of(scope), "since": micros(changed_after)})
    return [history_entry(row, moment=moment) for row in rows]
