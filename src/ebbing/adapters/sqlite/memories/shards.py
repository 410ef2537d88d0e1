"""Each owner's searchable rows in RAM: loaded once, then kept current by reading only what changed."""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ebbing.adapters.sqlite.connection.connections import Connections
from ebbing.adapters.sqlite.memories.rows import first_mid, last_mid
from ebbing.domain.memory.scope import Owner
from ebbing.index.row import Row
from ebbing.index.shard import ALWAYS, Shard

_SELECT: Final = (
    "SELECT mid - :first, id, kind, role, type, layer, agent_id, run_id, actor, created_at, valid_from, valid_to,"
    " expires_at, digest, importance, strength, recorded_at,"
    " min(ifnull(deleted_at, retired_at), ifnull(retired_at, deleted_at)), deleted_at IS NULL AND retired_at IS NULL,"
    " length, flags, numbers, terms, name, vector, attribute, object, ifnull(mentions, 1)"
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
WORN_SIZE: Final = 1024
"""From this size on, a shard of which less than half is alive is loaded anew."""


class Standing(NamedTuple):
    """Where an owner stands in the file."""

    no: int
    generation: int
    erased_generation: int
    last_seq: int


@dataclass(slots=True)
class _Held:
    no: int
    """The owner's number in the file when this was loaded: another one means that all was erased in between."""
    shard: Shard


@dataclass(slots=True)
class _Slot:
    held: _Held | None = None
    nbytes: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while the shard is loaded or brought up to date, so that this happens once."""


class ShardCache:
    """The most recently used shards, up to a number of bytes; one process-wide copy for all threads and loops.

    A shard whose rows are being changed is held by nobody: whatever breaks that off, it is loaded anew.

    With `with_deleted` they hold the deleted rows too (`alive` False), for questions about the past.
    """

    def __init__(
        self,
        connections: Connections,
        *,
        model_id: str | None,
        dim: int,
        max_bytes: int,
        with_deleted: bool = False,
    ) -> None:
        self._connections, self._with_deleted = connections, with_deleted
        self._model_id, self._dim, self._max_bytes = model_id, dim, max_bytes
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

    def current(self, owner: Owner) -> Shard | None:
        """The current shard if that takes a few statements at most; None if it is worth another thread."""
        slot = self._slots.get(owner)
        loaded = slot.held if slot else None
        with self._connections.reading() as db:
            standing = _standing(db, owner)
            if standing is None:
                self.forget(owner)
                return self._empty()
            if slot is None or loaded is None:
                return None
            if _is_current(loaded, standing):
                self._touch(owner)
                return loaded.shard
            if not _is_close(loaded, standing) or slot.lock.locked():
                return None
            with slot.lock:
                return self._refresh(db, slot, owner=owner)

    def load(self, owner: Owner) -> Shard:
        """The current shard, however long it takes: call it from a thread that may wait."""
        with self._guard:
            slot = self._slots.setdefault(owner, _Slot())
        with slot.lock, self._connections.reading() as db:
            return self._refresh(db, slot, owner=owner)

    def forget(self, owner: Owner) -> None:
        """Lets go of one owner's rows."""
        with self._guard:
            slot = self._slots.pop(owner, None)
            self._bytes -= slot.nbytes if slot else 0

    def clear(self) -> None:
        """Lets go of everything."""
        with self._guard:
            self._slots.clear()
            self._bytes = 0

    def _refresh(self, db: sqlite3.Connection, slot: _Slot, *, owner: Owner) -> Shard:
        db.execute("BEGIN")
        standing = _standing(db, owner)
        if standing is None:
            return self._empty()
        loaded = slot.held
        if loaded and _is_current(loaded, standing):
            self._touch(owner)
            return loaded.shard
        slot.held = None
        if loaded and _is_successor(loaded, standing):
            shard = self._advance(db, loaded.shard, standing=standing)
        else:
            shard = self._read_all(db, standing)
        db.execute("COMMIT")
        self._keep(owner, _Held(standing.no, shard), slot=slot)
        return shard

    def _advance(self, db: sqlite3.Connection, behind: Shard, *, standing: Standing) -> Shard:
        bounds = self._bounds(standing, after=behind.last_seq)
        changed = db.execute(_CHANGED, {**bounds, "generation": behind.generation}).fetchall()
        fresh = db.execute(_NEW, bounds).fetchall()
        rows = [Row._make(row) for row in (*changed, *fresh)]
        shard = behind.successor()
        if not self._with_deleted:
            shard.mark_deleted(row.seq for row in rows if not row.alive)
        shard.upsert([row for row in rows if row.alive or self._with_deleted])
        shard.generation = standing.generation
        useful = shard.deleted != ALWAYS if self._with_deleted else shard.alive
        if shard.size > WORN_SIZE and 2 * int(useful.sum()) < shard.size:
            shard = self._read_all(db, standing)
        return shard

    def _read_all(self, db: sqlite3.Connection, standing: Standing) -> Shard:
        shard = self._empty()
        rows = db.execute(_NEW, self._bounds(standing, after=0)).fetchall()
        shard.upsert([Row._make(row) for row in rows])
        shard.generation = standing.generation
        return shard

    def _bounds(self, standing: Standing, *, after: int) -> dict[str, int]:
        first = first_mid(standing.no)
        bounds = {"no": standing.no, "first": first, "after": first + after, "last": last_mid(standing.no)}
        return bounds | {"gone": int(self._with_deleted)}

    def _empty(self) -> Shard:
        with self._guard:
            return Shard(model_id=self._model_id, dim=self._dim)

    def _touch(self, owner: Owner) -> None:
        try:
            self._slots.move_to_end(owner)  # one step, which needs no guard
        except KeyError:
            return

    def _keep(self, owner: Owner, loaded: _Held, *, slot: _Slot) -> None:
        nbytes = loaded.shard.nbytes
        with self._guard:
            if loaded.shard.model_id != self._model_id:
                # The model was changed while this was being loaded.
                return
            self._bytes += nbytes  # first, so that nothing that breaks this off lets the sum be too small
            earlier = self._slots.pop(owner, None)
            let_go = earlier.nbytes if earlier else 0
            slot.held, slot.nbytes = loaded, nbytes
            self._slots[owner] = slot
            self._bytes -= let_go
            if self._bytes > self._max_bytes:
                self._push_out()

    def _push_out(self) -> None:
        """Lets go of the least recently used shards, until the others are within the bound."""
        self._bytes = sum(slot.nbytes for slot in self._slots.values())
        while self._bytes > self._max_bytes and len(self._slots) > 1:
            _, slot = self._slots.popitem(last=False)
            self._bytes -= slot.nbytes


def _standing(db: sqlite3.Connection, owner: Owner) -> Standing | None:
    row = db.execute(_STANDING, (owner.tenant, owner.kind, owner.name)).fetchone()
    return None if row is None else Standing._make(row)


def _is_current(loaded: _Held, standing: Standing) -> bool:
    return loaded.no == standing.no and loaded.shard.generation == standing.generation


def _is_successor(loaded: _Held, standing: Standing) -> bool:
    """Whether the rows since then are all that is missing: nothing was erased, and the owner is the same one."""
    return loaded.no == standing.no and loaded.shard.generation >= standing.erased_generation


def _is_close(loaded: _Held, standing: Standing) -> bool:
    return (
        _is_successor(loaded, standing)
        and standing.generation - loaded.shard.generation <= AT_ONCE
        and standing.last_seq - loaded.shard.last_seq <= AT_ONCE
    )
