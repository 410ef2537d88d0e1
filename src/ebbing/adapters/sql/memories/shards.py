"""Each owner's searchable rows in RAM: loaded once, then kept current by reading only what changed.

The owner's generation fences them: it is read from the store at every search, so that no replica answers from rows
that another one has changed.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from anyio import to_thread
from sqlalchemy import and_, bindparam, case, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.sql.connection.database import Database
from ebbing.adapters.sql.tables.conditions import key_of, of_owner, same_row
from ebbing.adapters.sql.tables.owner_tables import INDEX_ENTRY, MEMORY, OWNER
from ebbing.adapters.sql.tables.service_tables import EMBEDDING_MODEL
from ebbing.domain.memory.scope import Owner
from ebbing.index.row import Row
from ebbing.index.shard import ALWAYS, Shard

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
    )
    .select_from(
        MEMORY.outerjoin(INDEX_ENTRY, same_row(MEMORY, INDEX_ENTRY)).outerjoin(
            EMBEDDING_MODEL, EMBEDDING_MODEL.c.no == INDEX_ENTRY.c.model
        )
    )
    .where(of_owner(MEMORY))
)
_NEW: Final = _ROWS.where(MEMORY.c.seq > bindparam("after")).order_by(MEMORY.c.seq)
_NEW_ALIVE: Final = _NEW.where(_IS_ALIVE)
_CHANGED: Final = _ROWS.where(MEMORY.c.changed > bindparam("since"), MEMORY.c.seq <= bindparam("after"))
_STANDING: Final = select(OWNER.c.no, OWNER.c.generation, OWNER.c.erased_generation, OWNER.c.last_seq).where(
    of_owner(OWNER)
)
LARGE: Final = 2_000
"""From so many rows on, a shard is put together in another thread."""
WORN_SIZE: Final = 1024
"""From this size on, a shard of which less than half is alive is loaded anew."""


class Standing(NamedTuple):
    """Where an owner stands in the store."""

    no: int
    generation: int
    erased_generation: int
    last_seq: int


class _Read(NamedTuple):
    """What a shard is brought up to date with."""

    standing: Standing | None
    is_whole: bool
    """All rows, rather than those that are new since."""
    changed: Sequence[Any]
    fresh: Sequence[Any]


@dataclass(slots=True)
class _Loaded:
    no: int
    """The owner's number when this was loaded: another one means that all was erased in between."""
    shard: Shard


@dataclass(slots=True)
class _Slot:
    loaded: _Loaded | None = None
    nbytes: int = 0
    locks: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = field(
        default_factory=weakref.WeakKeyDictionary
    )
    """Held while the shard is brought up to date, so that a loop does this once."""

    def lock(self) -> asyncio.Lock:
        """The lock of the running loop."""
        return self.locks.setdefault(asyncio.get_running_loop(), asyncio.Lock())


class ShardCache:
    """The most recently used shards, up to a number of bytes; one copy for all event loops of the process.

    A shard whose rows are being changed is held by nobody: whatever breaks that off, it is loaded anew.

    With `with_deleted` they hold the deleted rows too (`alive` False), for questions about the past.
    """

    def __init__(self, database: Database, *, max_bytes: int, with_deleted: bool = False) -> None:
        self._database, self._max_bytes, self._with_deleted = database, max_bytes, with_deleted
        self._model_id: str | None = None
        self._dim = 0
        self._slots: OrderedDict[Owner, _Slot] = OrderedDict()
        self._guard = threading.Lock()
        self._bytes = 0

    def use_model(self, model_id: str | None, dim: int) -> None:
        """From now on vectors of this model count; shards with those of another are loaded again."""
        with self._guard:
            if (model_id, dim) != (self._model_id, self._dim):
                self._model_id, self._dim = model_id, dim
                self._slots.clear()
                self._bytes = 0

    async def current(self, owner: Owner) -> Shard:
        """The shard as of now, by one indexed statement where nothing changed."""
        slot = self._slots.get(owner)
        loaded = slot.loaded if slot else None
        row = await self._database.row(_STANDING, key_of(owner))
        if row is None:
            self.forget(owner)
            return self._empty()
        if loaded is not None and _is_current(loaded, Standing._make(row)):
            self._touch(owner)
            return loaded.shard
        with self._guard:
            slot = self._slots.setdefault(owner, slot or _Slot())
        async with slot.lock():
            return await self._refreshed(slot, owner)

    def forget(self, owner: Owner) -> None:
        """Let go of one owner's rows."""
        with self._guard:
            slot = self._slots.pop(owner, None)
            self._bytes -= slot.nbytes if slot else 0

    def clear(self) -> None:
        """Let go of everything."""
        with self._guard:
            self._slots.clear()
            self._bytes = 0

    async def _refreshed(self, slot: _Slot, owner: Owner) -> Shard:
        with self._guard:
            behind, slot.loaded = slot.loaded, None
        try:
            read = await self._database.read(lambda db: self._read(db, owner, behind=behind))
        except BaseException:
            slot.loaded = behind  # nothing of it was changed
            raise
        if read.standing is not None and behind is not None and _is_current(behind, read.standing):
            loaded: _Loaded | None = behind
        else:
            loaded = await self._built(read, behind)
        if loaded is not None and self._is_worn(loaded.shard):
            read = await self._database.read(lambda db: self._read(db, owner, behind=None))
            loaded = await self._built(read, None)
        if loaded is None:
            return self._empty()
        self._keep(owner, loaded, slot=slot)
        return loaded.shard

    async def _read(self, db: AsyncConnection, owner: Owner, *, behind: _Loaded | None) -> _Read:
        key = key_of(owner)
        row = (await db.execute(_STANDING, key)).first()
        if row is None:
            return _Read(None, True, (), ())
        standing = Standing._make(row)
        if behind is not None and _is_current(behind, standing):
            return _Read(standing, False, (), ())
        fresh = _NEW if self._with_deleted else _NEW_ALIVE
        if behind is None or not _is_successor(behind, standing):
            return _Read(standing, True, (), (await db.execute(fresh, {**key, "after": 0})).all())
        values = {**key, "after": behind.shard.last_seq, "since": behind.shard.generation}
        changed = (await db.execute(_CHANGED, values)).all()
        return _Read(standing, False, changed, (await db.execute(fresh, values)).all())

    async def _built(self, read: _Read, behind: _Loaded | None) -> _Loaded | None:
        if read.standing is None:
            return None
        if len(read.changed) + len(read.fresh) < LARGE:
            return self._build(read, read.standing, behind=behind)
        return await to_thread.run_sync(lambda standing: self._build(read, standing, behind=behind), read.standing)

    def _build(self, read: _Read, standing: Standing, *, behind: _Loaded | None) -> _Loaded:
        shard = self._empty() if behind is None or read.is_whole else behind.shard.successor()
        rows = [Row._make(row) for row in (*read.changed, *read.fresh)]
        if not self._with_deleted:
            shard.mark_deleted(row.seq for row in rows if not row.alive)
        shard.upsert([row for row in rows if row.alive or self._with_deleted])
        shard.generation = standing.generation
        return _Loaded(standing.no, shard)

    def _is_worn(self, shard: Shard) -> bool:
        useful = shard.deleted != ALWAYS if self._with_deleted else shard.alive
        return shard.size > WORN_SIZE and 2 * int(useful.sum()) < shard.size

    def _empty(self) -> Shard:
        with self._guard:
            return Shard(model_id=self._model_id, dim=self._dim)

    def _touch(self, owner: Owner) -> None:
        try:
            self._slots.move_to_end(owner)  # one step, which needs no guard
        except KeyError:
            return

    def _keep(self, owner: Owner, loaded: _Loaded, *, slot: _Slot) -> None:
        with self._guard:
            if (loaded.shard.model_id, loaded.shard.dim) != (self._model_id, self._dim):
                return  # the model was changed while this was being loaded
            earlier = self._slots.pop(owner, None)
            self._bytes += loaded.shard.nbytes - (earlier.nbytes if earlier else 0)
            slot.loaded, slot.nbytes = loaded, loaded.shard.nbytes
            self._slots[owner] = slot
            while self._bytes > self._max_bytes and len(self._slots) > 1:
                _, pushed_out = self._slots.popitem(last=False)
                self._bytes -= pushed_out.nbytes


def _is_current(loaded: _Loaded, standing: Standing) -> bool:
    return loaded.no == standing.no and loaded.shard.generation == standing.generation


def _is_successor(loaded: _Loaded, standing: Standing) -> bool:
    """Whether the rows since then are all that is missing: nothing was erased, and the owner is the same one."""
    return loaded.no == standing.no and loaded.shard.generation >= standing.erased_generation
