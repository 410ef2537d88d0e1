"""The profiles of a store: worked out from the memories, kept beside them, brought up to date."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import numpy as np
from anyio import to_thread
from numpy.typing import NDArray

from ebbing.domain.memory.profile import Portrait, ProfileEdit, ProfileEntry, Snapshot, shortened
from ebbing.domain.memory.record import Kind, MemoryRecord, Role
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import KINDS, NEVER, TYPES, Shard, micros, moment
from ebbing.language.text.analyzer import normalise
from ebbing.people.build_profile import build_profile
from ebbing.people.profile_statements import BINDING, PROFILE_TYPES, ProfileStatement, profile_statement
from ebbing.people.profile_view import SHOWN, differs, portrait, stand_in
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.ports.stores.profile_store import StoredProfile

Mask = NDArray[np.bool_]
"""Shape (rows of the shard,)."""

FRESH: Final = timedelta(days=1)
"""So long the weights of a profile hold, which count how recent things are."""
MAX_READ: Final = 5_000
"""Memories that a profile is made from; of more, those that bind, those that give a value, and what matters most."""
_REMEMBERED: Final = 20_000
"""Memories whose statements are not read anew."""
_INLINE: Final = 64
"""Up to so many memories are read without a change of thread."""
_ATTEMPTS: Final = 3


class Profiles:
    """What a store knows of people. Only `refreshed` writes, and what it writes can be worked out again."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._read: OrderedDict[str, tuple[MemoryRecord, str | None, ProfileStatement | None]] = OrderedDict()

    async def current(self, scope: Scope, *, now: datetime) -> tuple[Portrait, bool]:
        """The profile of the scope's owner at `now`, and whether it was kept as it stands: else it was worked out."""
        whole = Scope.of(scope.owner)
        stored = await self._store.profiles.read(whole)
        if (snapshot := _valid(stored, now)) is not None:
            return await self._shown(portrait(snapshot, stored), whole), True
        shard = await self._store.shard(whole)
        snapshot = await self._made(whole, shard, stored=stored, now=now)
        return await self._shown(portrait(snapshot, stored), whole, shard=shard), False

    async def of_part(
        self,
        scope: Scope,
        shard: Shard,
        *,
        mask: Mask,
        now: datetime,
        usable: Callable[[MemoryRecord], bool],
        by_hand: bool,
    ) -> Portrait:
        """The profile that some of the rows give; what the person took out stays out.

        Args:
            among: the rows that may be told of.
            usable: whether a memory may be used at all where this is for.
            by_hand: what the person set counts also where its memory is not among the rows, and so do the defaults.
        """
        stored = await self._store.profiles.read(scope)
        records = [record for record in await self._records(scope, shard, mask=mask & _typed(shard)) if usable(record)]
        if not by_hand:
            ids = {record.id for record in records}
            edits = (edit if edit.memory_id in ids else replace(edit, memory_id=None) for edit in stored.edits)
            stored = replace(stored, edits=tuple(edits), defaults=())
        snapshot = await self._drawn(_own(records, scope, shard=shard), scope, stored=stored, now=now)
        return await self._shown(portrait(snapshot, stored), scope, shard=shard)

    async def refreshed(self, scope: Scope, *, now: datetime, anew: bool = False) -> Portrait:
        """The same as `current`, kept for the next time where it was worked out.

        Args:
            anew: work it out even where the one that is kept still holds.

        Raises:
            StoreError: it could not be kept.
        """
        whole = Scope.of(scope.owner)
        for attempt in range(1, _ATTEMPTS + 1):
            stored = await self._store.profiles.read(whole)
            valid = _valid(stored, now)
            if valid is not None and not anew:
                return await self._shown(portrait(valid, stored), whole)
            shard = await self._store.shard(whole)
            snapshot = await self._made(whole, shard, stored=stored, now=now)
            done = await self._store.profiles.keep(whole, snapshot, seen=stored.revision)
            if done or attempt == _ATTEMPTS or shard.generation < 0:
                return await self._shown(portrait(snapshot, stored), whole, shard=shard)
        raise AssertionError("the loop returns")

    def let_go(self) -> None:
        """Forgets what was read of memories; it is read again when it is needed."""
        self._read.clear()

    async def is_kept(self, scope: Scope) -> bool:
        """Whether a profile was kept before, be it out of date."""
        return (await self._store.profiles.read(Scope.of(scope.owner))).snapshot is not None

    async def is_behind(self, scope: Scope, *, now: datetime) -> bool:
        """Whether there is no profile that still holds."""
        return _valid(await self._store.profiles.read(Scope.of(scope.owner)), now) is None

    async def _made(self, scope: Scope, shard: Shard, *, stored: StoredProfile, now: datetime) -> Snapshot:
        """A new snapshot of everything that is true at `now`, wherever it may be told."""
        at = micros(now)
        living = shard.alive & (shard.kind == KINDS.index(Kind.MEMORY)) & _typed(shard)
        mask = living & (shard.valid_to > at) & (shard.expires > at)
        records = await self._records(scope, shard, mask=mask)
        everywhere = [record for record in records if record.scope == "global"]
        snapshot = await self._drawn(_own(everywhere, scope, shard=shard), scope, stored=stored, now=now)
        before = stored.snapshot
        changed = before is None or before.generation < 0 or differs(before.entries, snapshot.entries)
        return replace(
            snapshot,
            version=(before.version if before is not None else 0) + changed,
            generation=shard.generation,
            holds_until=min(now + FRESH, _first_end(shard, mask) or now + FRESH),
        )

    async def _drawn(
        self, records: Sequence[MemoryRecord], scope: Scope, *, stored: StoredProfile, now: datetime
    ) -> Snapshot:
        pins = [edit.memory_id for edit in stored.edits if edit.memory_id is not None]
        pinned_records = await self._store.get(Scope.of(scope.owner), pins) if pins else []
        statements = [record for record in records if scope.user_id is None or record.role is not Role.ASSISTANT]
        work = partial(self._entries, statements, pinned_records, edits=stored.edits, now=now)
        entries = work() if len(statements) <= _INLINE else await to_thread.run_sync(work)
        return Snapshot(1, -1, now, now + FRESH, len(statements), entries)

    def _entries(
        self,
        records: Sequence[MemoryRecord],
        pinned_records: Sequence[MemoryRecord],
        *,
        edits: Sequence[ProfileEdit],
        now: datetime,
    ) -> tuple[ProfileEntry, ...]:
        """What memories and edits come to; where several people speak under names of their own, by name."""
        several = len({record.actor for record in records if record.actor is not None}) > 1
        statements = (self._stated(record, record.actor if several else None) for record in records)
        pinned = {record.id: says for record in pinned_records if (says := self._stated(record, None)) is not None}
        return tuple(
            build_profile([record for record in statements if record is not None], edits=edits, pinned=pinned, now=now)
        )

    def _stated(self, record: MemoryRecord, speaker: str | None) -> ProfileStatement | None:
        cached = self._read.get(record.id)
        if cached is not None and cached[0] is record and cached[1] == speaker:
            return cached[2]
        statement = profile_statement(record, speaker=speaker)
        self._read[record.id] = (record, speaker, statement)
        while len(self._read) > _REMEMBERED:
            self._read.popitem(last=False)
        return statement

    async def _records(self, scope: Scope, shard: Shard, *, mask: Mask) -> list[MemoryRecord]:
        """The memories of rows; the shard keeps those that were read until their row changes."""
        ids = [shard.ids[row] for row in _chosen(shard, mask)]
        missing = [memory_id for memory_id in ids if memory_id not in shard.records]
        if missing:
            shard.records.update((record.id, record) for record in await self._store.get(scope, missing))
        return [record for memory_id in ids if (record := shard.record(memory_id)) is not None]

    async def _shown(self, profile: Portrait, scope: Scope, *, shard: Shard | None = None) -> Portrait:
        """The portrait with a record for each entry that stands in a context; the shard may have read some."""
        shown = shortened(profile.entries, count=SHOWN)
        cached = {} if shard is None else shard.records
        firsts = [entry.memory_ids[0] for entry in shown if entry.memory_ids]
        missing = [memory_id for memory_id in firsts if memory_id not in cached]
        read = (
            {record.id: record for record in await self._store.get(Scope.of(scope.owner), missing)} if missing else {}
        )

        def record_of(entry: ProfileEntry) -> MemoryRecord:
            first = entry.memory_ids[0] if entry.memory_ids else ""
            return cached.get(first) or read.get(first) or stand_in(entry, scope)

        return replace(profile, records={entry.name: record_of(entry) for entry in shown})


def _valid(stored: StoredProfile, now: datetime) -> Snapshot | None:
    """The snapshot, if it is up to date with the memories, and as of `now`."""
    snapshot = stored.snapshot
    if snapshot is None or snapshot.generation < 0 or snapshot.generation != stored.generation:
        return None
    return snapshot if snapshot.built_at <= now < snapshot.holds_until else None


def _own(records: Sequence[MemoryRecord], scope: Scope, *, shard: Shard) -> Sequence[MemoryRecord]:
    """The memories without what others in a group said, where one of the speakers goes by the owner's id.

    A speaker of whom nothing is kept but messages is one, too. Where nobody goes by that id, nobody knows which of them
    the owner is, and all of them count, by name.
    """
    owner = normalise(scope.user_id or "")
    if not any(normalise(name) == owner for name, _ in shard.actors.items()):
        return records
    return [record for record in records if record.actor is None or normalise(record.actor) == owner]


def _typed(shard: Shard) -> Mask:
    typed: Mask = np.isin(shard.type, [TYPES.index(type_) for type_ in PROFILE_TYPES])
    return typed


def _chosen(shard: Shard, mask: Mask) -> list[int]:
    rows = np.flatnonzero(mask)
    if len(rows) > MAX_READ:
        binding = np.isin(shard.type[rows], [TYPES.index(type_) for type_ in BINDING])
        order = np.lexsort((shard.created[rows], shard.importance[rows], shard.attribute[rows] > 0, binding))
        rows = rows[order[-MAX_READ:]]
    return [int(row) for row in rows]


def _first_end(shard: Shard, mask: Mask) -> datetime | None:
    """When the first of the rows is no longer true or expires."""
    first = min(int(times[mask].min(initial=NEVER)) for times in (shard.valid_to, shard.expires))
    return None if first == NEVER else moment(first)
