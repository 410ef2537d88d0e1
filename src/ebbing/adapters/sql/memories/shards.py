"""Each owner's searchable rows in RAM: loaded once, then kept current by reading only what changed.

The owner's generation fences them: it is read from the store at every search, so that no replica answers from rows
that another one has changed.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from anyio import to_thread
from sqlalchemy import Select, and_, bindparam, case, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.rows.recent_shards import Loaded, RecentShards, Slot, Standing
from ebbing.adapters.sql.connection.database import Database
from ebbing.adapters.sql.tables.conditions import key_of, of_owner, same_row
from ebbing.adapters.sql.tables.owner_tables import INDEX_ENTRY, MEMORY, OWNER
from ebbing.adapters.sql.tables.service_tables import EMBEDDING_MODEL
from ebbing.domain.memory.scope import Owner
from ebbing.index.shard import Shard

_GONE_AT: Final = case(
    (MEMORY.c.deleted_at.is_(None), MEMORY.c.retired_at),
    (MEMORY.c.retired_at.is_(None), MEMORY.c.deleted_at),
    (MEMORY.c.deleted_at < MEMORY.c.retired_at, MEMORY.c.deleted_at),
    else_=MEMORY.c.retired_at,
)
_IS_ALIVE: Final = and_(MEMORY.c.deleted_at.is_(None), MEMORY.c.retired_at.is_(None))
_OF_RECORD: Final = (
    *("seq", "id", "kind", "role", "type", "layer", "agent_id", "run_id", "actor", "created_at", "valid_from"),
    *("valid_to", "expires_at", "digest", "importance", "strength", "recorded_at"),
)
_ROWS: Final = (
    select(
        *(MEMORY.c[name] for name in _OF_RECORD),
        _GONE_AT,
        case((_IS_ALIVE, 1), else_=0),
        *(INDEX_ENTRY.c[name] for name in ("length", "flags", "numbers", "terms")),
        EMBEDDING_MODEL.c.name,
        INDEX_ENTRY.c.vector,
        MEMORY.c.attribute,
        MEMORY.c.object,
        func.coalesce(MEMORY.c.mentions, 1),
        MEMORY.c.utc_offset_minutes,
    )
    .select_from(
        MEMORY.outerjoin(INDEX_ENTRY, same_row(MEMORY, INDEX_ENTRY)).outerjoin(
            EMBEDDING_MODEL, EMBEDDING_MODEL.c.no == INDEX_ENTRY.c.model
        )
    )
    .where(of_owner(MEMORY))
)
_PART: Final = 20_000
"""Rows that are read at a time, so that no statement takes long, however large the owner is."""
_NEW: Final = _ROWS.where(MEMORY.c.seq > bindparam("after")).order_by(MEMORY.c.seq).limit(_PART)
_NEW_ALIVE: Final = _NEW.where(_IS_ALIVE)
_CHANGED: Final = _ROWS.where(MEMORY.c.changed > bindparam("since"), MEMORY.c.seq <= bindparam("after"))
_STANDING: Final = select(OWNER.c.no, OWNER.c.generation, OWNER.c.erased_generation, OWNER.c.last_seq).where(
    of_owner(OWNER)
)
LARGE: Final = 2_000
"""From so many rows on, a shard is put together in another thread."""


class _Read(NamedTuple):
    """What a shard is brought up to date with."""

    standing: Standing | None
    is_whole: bool
    """All rows, rather than those that are new since."""
    changed: Sequence[Any]
    fresh: Sequence[Any]


@dataclass(slots=True)
class _Slot(Slot):
    locks: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = field(
        default_factory=weakref.WeakKeyDictionary
    )
    """Held while the shard is brought up to date, so that a loop does this once."""

    def lock(self) -> asyncio.Lock:
        """The lock of the running loop."""
        return self.locks.setdefault(asyncio.get_running_loop(), asyncio.Lock())


class ShardCache(RecentShards[_Slot]):
    """The most recently used shards; one copy for all event loops of the process."""

    def __init__(self, database: Database, *, max_bytes: int, with_deleted: bool = False) -> None:
        super().__init__(_Slot, max_bytes=max_bytes, with_deleted=with_deleted)
        self._database = database

    async def current(self, owner: Owner) -> Shard:
        """The shard as of now, by one indexed statement where nothing changed."""
        slot = self._slots.get(owner)
        loaded = slot.loaded if slot else None
        row = await self._database.row(_STANDING, key_of(owner))
        if row is None:
            self.forget(owner)
            return self._empty()
        if loaded is not None and loaded.is_current(Standing._make(row)):
            self._touch(owner)
            return loaded.shard
        slot = self._slot(owner, slot)
        async with slot.lock():
            return await self._refreshed(slot, owner)

    async def _refreshed(self, slot: _Slot, owner: Owner) -> Shard:
        with self._guard:
            behind, slot.loaded = slot.loaded, None
        try:
            read = await self._database.read(lambda db: self._read(db, owner, behind=behind))
        except BaseException:
            slot.loaded = behind  # nothing of it was changed
            raise
        if read.standing is not None and behind is not None and behind.is_current(read.standing):
            loaded: Loaded | None = behind
        else:
            loaded = await self._built(read, behind)
        if loaded is not None and self._is_worn(loaded.shard):
            read = await self._database.read(lambda db: self._read(db, owner, behind=None))
            loaded = await self._built(read, None)
        if loaded is None:
            return self._empty()
        self._keep(owner, loaded, slot=slot)
        return loaded.shard

    async def _read(self, db: AsyncConnection, owner: Owner, *, behind: Loaded | None) -> _Read:
        key = key_of(owner)
        row = (await db.execute(_STANDING, key)).first()
        if row is None:
            return _Read(None, True, (), ())
        standing = Standing._make(row)
        if behind is not None and behind.is_current(standing):
            return _Read(standing, False, (), ())
        fresh = _NEW if self._with_deleted else _NEW_ALIVE
        if behind is None or not behind.is_forerunner(standing):
            return _Read(standing, True, (), await _in_parts(db, fresh, values={**key, "after": 0}))
        values = {**key, "after": behind.shard.last_seq, "since": behind.shard.generation}
        changed = (await db.execute(_CHANGED, values)).all()
        return _Read(standing, False, changed, await _in_parts(db, fresh, values=values))

    async def _built(self, read: _Read, behind: Loaded | None) -> Loaded | None:
        if read.standing is None:
            return None
        if len(read.changed) + len(read.fresh) < LARGE:
            return self._build(read, read.standing, behind=behind)
        return await to_thread.run_sync(lambda standing: self._build(read, standing, behind=behind), read.standing)

    def _build(self, read: _Read, standing: Standing, *, behind: Loaded | None) -> Loaded:
        shard = self._empty() if behind is None or read.is_whole else behind.shard.successor()
        shard = self._updated(shard, standing, rows=(*read.changed, *read.fresh))
        return Loaded(standing.no, shard)


async def _in_parts(db: AsyncConnection, statement: Select[Any], *, values: dict[str, Any]) -> list[Any]:
    rows: list[Any] = []
    while True:
        part = (await db.execute(statement, values)).all()
        rows += part
        if len(part) < _PART:
            return rows
        values = {**values, "after": part[-1].seq}
