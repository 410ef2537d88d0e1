"""Each owner's searchable rows in RAM: loaded once, then kept current by reading only what changed."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from sqlite3 import Connection
from typing import Final

from ebbing.adapters.rows.recent_shards import Loaded, RecentShards, Slot, Standing
from ebbing.adapters.sqlite.connection.connections import Connections
from ebbing.adapters.sqlite.memories.rows import first_mid, last_mid
from ebbing.domain.memory.scope import Owner
from ebbing.index.row import Row
from ebbing.index.shard import Shard

_SELECT: Final = (
    "SELECT mid - :first, id, kind, role, type, layer, agent_id, run_id, actor, created_at, valid_from, valid_to,"
    " expires_at, digest, importance, strength, recorded_at,"
    " min(ifnull(deleted_at, retired_at), ifnull(retired_at, deleted_at)), deleted_at IS NULL AND retired_at IS NULL,"
    " length, flags, numbers, terms, name, vector, attribute, object, ifnull(mentions, 1), utc_offset_minutes"
    " FROM memory LEFT JOIN index_entry USING (mid) LEFT JOIN model ON model.no = index_entry.model WHERE "
)
_NEW: Final = (
    _SELECT + "mid > :after AND mid <= :last AND (:gone OR deleted_at IS NULL AND retired_at IS NULL) ORDER BY mid"
)
_CHANGED: Final = _SELECT + "mid >> 24 = :no AND changed > :generation AND mid <= :after"
_STANDING: Final = (
    "SELECT no, generation, erased_generation, last_seq FROM owner WHERE tenant = ? AND kind = ? AND name = ?"
)
AT_ONCE: Final = 64
"""Writes behind, up to which a shard is brought up to date without a change of thread."""
LOADED_AT_ONCE: Final = 20_000
"""Rows that are read from the file at a time: a large owner's would take as much RAM again as its shard."""


@dataclass(slots=True)
class _Slot(Slot):
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while the shard is loaded or brought up to date, so that this happens once."""


class ShardCache(RecentShards[_Slot]):
    """The most recently used shards; one process-wide copy for all threads and loops."""

    def __init__(
        self,
        connections: Connections,
        *,
        model_id: str | None,
        dim: int,
        max_bytes: int,
        with_deleted: bool = False,
    ) -> None:
        super().__init__(_Slot, max_bytes=max_bytes, with_deleted=with_deleted)
        self._connections = connections
        self.use_model(model_id, dim)

    def current(self, owner: Owner) -> Shard | None:
        """The current shard if that takes a few statements at most; None if it is worth another thread."""
        slot = self._slots.get(owner)
        loaded = slot.loaded if slot else None
        with self._connections.reading() as db:
            standing = _standing(db, owner)
            if standing is None:
                self.forget(owner)
                return self._empty()
            if slot is None or loaded is None:
                return None
            if loaded.is_current(standing):
                self._touch(owner)
                return loaded.shard
            if not _is_close(loaded, standing) or slot.lock.locked():
                return None
            with slot.lock:
                return self._refresh(db, slot, owner=owner)

    def load(self, owner: Owner) -> Shard:
        """The current shard, however long it takes: call it from a thread that may wait."""
        slot = self._slot(owner)
        with slot.lock, self._connections.reading() as db:
            return self._refresh(db, slot, owner=owner)

    def _refresh(self, db: Connection, slot: _Slot, *, owner: Owner) -> Shard:
        db.execute("BEGIN")
        standing = _standing(db, owner)
        if standing is None:
            return self._empty()
        loaded = slot.loaded
        if loaded and loaded.is_current(standing):
            self._touch(owner)
            return loaded.shard
        slot.loaded = None
        if loaded and loaded.is_forerunner(standing):
            shard = self._advance(db, loaded.shard, standing=standing)
        else:
            shard = self._read_all(db, standing)
        db.execute("COMMIT")
        self._keep(owner, Loaded(standing.no, shard), slot=slot)
        return shard

    def _advance(self, db: Connection, behind: Shard, *, standing: Standing) -> Shard:
        bounds = self._bounds(standing, after=behind.last_seq)
        changed = db.execute(_CHANGED, {**bounds, "generation": behind.generation}).fetchall()
        fresh = db.execute(_NEW, bounds).fetchall()
        shard = self._updated(behind.successor(), standing, rows=(*changed, *fresh))
        return self._read_all(db, standing) if self._is_worn(shard) else shard

    def _read_all(self, db: Connection, standing: Standing) -> Shard:
        shard = self._empty()
        cursor = db.execute(_NEW, self._bounds(standing, after=0))
        while rows := cursor.fetchmany(LOADED_AT_ONCE):
            shard.upsert([Row._make(row) for row in rows])
        if shard.size > LOADED_AT_ONCE:
            shard.postings.prepare()
        shard.generation = standing.generation
        return shard

    def _bounds(self, standing: Standing, *, after: int) -> dict[str, int]:
        first = first_mid(standing.no)
        bounds = {"no": standing.no, "first": first, "after": first + after, "last": last_mid(standing.no)}
        return bounds | {"gone": int(self._with_deleted)}


def _standing(db: Connection, owner: Owner) -> Standing | None:
    row = db.execute(_STANDING, (owner.tenant, owner.kind, owner.name)).fetchone()
    return None if row is None else Standing._make(row)


def _is_close(loaded: Loaded, standing: Standing) -> bool:
    return (
        loaded.is_forerunner(standing)
        and standing.generation - loaded.shard.generation <= AT_ONCE
        and standing.last_seq - loaded.shard.last_seq <= AT_ONCE
    )
