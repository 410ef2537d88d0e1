"""The searchable rows of the owners who were used last, in RAM: what the stores share in keeping them current."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Final, Generic, NamedTuple, Self, TypeVar

from ebbing.domain.memory.change_set import ChangeSet
from ebbing.domain.memory.scope import Owner
from ebbing.index.row import Row
from ebbing.index.shard import ALWAYS, Shard
from ebbing.ports.models.embedder import Embedder

WORN_SIZE: Final = 1024
"""From this size on, a shard of which less than half is alive is loaded anew."""


class Standing(NamedTuple):
    """Where an owner stands in the store."""

    no: int
    generation: int
    erased_generation: int
    last_seq: int


@dataclass(slots=True)
class Loaded:
    """A shard, and whose it is."""

    no: int
    """The owner's number when this was loaded: another one means that all was erased in between."""
    shard: Shard

    def is_current(self, standing: Standing) -> bool:
        """Whether nothing was written since."""
        return self.no == standing.no and self.shard.generation == standing.generation

    def is_forerunner(self, standing: Standing) -> bool:
        """Whether the rows since then are all that is missing: nothing was erased, and the owner is the same one."""
        return self.no == standing.no and self.shard.generation >= standing.erased_generation


@dataclass(slots=True)
class Slot:
    """The place of one owner's shard; a store adds the lock that it needs."""

    loaded: Loaded | None = None
    nbytes: int = 0


SlotOfStore = TypeVar("SlotOfStore", bound=Slot)


class RecentShards(Generic[SlotOfStore]):
    """The most recently used shards, up to a number of bytes; one copy for all threads and loops of the process.

    A shard whose rows are being changed is held by nobody: whatever breaks that off, it is loaded anew.

    With `with_deleted` they hold the deleted rows too (`alive` False), for questions about the past.
    """

    def __init__(self, make_slot: Callable[[], SlotOfStore], *, max_bytes: int, with_deleted: bool = False) -> None:
        self._make_slot, self._max_bytes, self._with_deleted = make_slot, max_bytes, with_deleted
        self._model_id: str | None = None
        self._dim = 0
        self._slots: OrderedDict[Owner, SlotOfStore] = OrderedDict()
        self._guard = threading.Lock()
        self._bytes = 0

    def use_model(self, model_id: str | None, dim: int) -> None:
        """From now on vectors of this model count; shards with those of another are loaded again."""
        with self._guard:
            if (model_id, dim) != (self._model_id, self._dim):
                self._model_id, self._dim = model_id, dim
                self._slots.clear()
                self._bytes = 0

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

    def _slot(self, owner: Owner, slot: SlotOfStore | None = None) -> SlotOfStore:
        """Return an owner's slot; `slot`, or a new one, where they have none."""
        with self._guard:
            return self._slots.setdefault(owner, slot or self._make_slot())

    def _empty(self) -> Shard:
        with self._guard:
            return Shard(model_id=self._model_id, dim=self._dim)

    def _updated(self, shard: Shard, standing: Standing, *, rows: Iterable[Sequence[Any]]) -> Shard:
        """Put changed and new rows into a shard that nobody uses yet, and return it."""
        made = [Row._make(row) for row in rows]
        if not self._with_deleted:
            shard.mark_deleted(row.seq for row in made if not row.alive)
        shard.upsert([row for row in made if row.alive or self._with_deleted])
        shard.generation = standing.generation
        return shard

    def _is_worn(self, shard: Shard) -> bool:
        useful = shard.deleted != ALWAYS if self._with_deleted else shard.alive
        return shard.size > WORN_SIZE and 2 * int(useful.sum()) < shard.size

    def _touch(self, owner: Owner) -> None:
        try:
            self._slots.move_to_end(owner)  # one step, which needs no guard
        except KeyError:
            return

    def _keep(self, owner: Owner, loaded: Loaded, *, slot: SlotOfStore) -> None:
        nbytes = loaded.shard.nbytes
        with self._guard:
            if (loaded.shard.model_id, loaded.shard.dim) != (self._model_id, self._dim):
                return  # the model was changed while this was being loaded
            self._bytes += nbytes  # first, so that nothing that breaks this off lets the sum be too small
            earlier = self._slots.pop(owner, None)
            let_go = earlier.nbytes if earlier else 0
            slot.loaded, slot.nbytes = loaded, nbytes
            self._slots[owner] = slot
            self._bytes -= let_go
            if self._bytes > self._max_bytes:
                self._push_out()

    def _push_out(self) -> None:
        """Let go of the least recently used shards, until the others are within the bound."""
        self._bytes = sum(slot.nbytes for slot in self._slots.values())
        while self._bytes > self._max_bytes and len(self._slots) > 1:
            _, slot = self._slots.popitem(last=False)
            self._bytes -= slot.nbytes


ShardsOfStore = TypeVar("ShardsOfStore", bound=RecentShards[Any])


class ShardedStore(Generic[ShardsOfStore]):
    """The part of a `MemoryStore` that has rows in RAM, and a view of itself for each change set."""

    _shards: ShardsOfStore
    _pasts: ShardsOfStore
    """With the deleted rows."""
    _model_id: str | None
    _change: ChangeSet | None = None
    """What is written belongs to it."""

    def use_model(self, embedder: Embedder | None) -> None:
        self._model_id = embedder.model_id if embedder else None
        for shards in (self._shards, self._pasts):
            shards.use_model(self._model_id, embedder.dim if embedder else 0)

    def within(self, change: ChangeSet) -> Self:
        view = copy(self)
        vars(view).update(_change=change)
        return view

    def _note_write(self, owner: Owner, change_id: str | None, *, erases: bool) -> None:
        """Do in this process what belongs to a write that is done."""
        if self._change is not None and change_id is not None:
            self._change.ids[owner] = change_id
        if erases:
            self._let_go_of(owner)

    def _let_go_of(self, owner: Owner) -> None:
        self._shards.forget(owner)
        self._pasts.forget(owner)

    def _let_go_of_all(self) -> None:
        self._shards.clear()
        self._pasts.clear()
