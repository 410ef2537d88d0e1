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
from ebbing.people.build_profile import build_profile
from ebbing.people.profile_statements import BINDING, PROFILE_TYPES, ProfileStatement, profile_statement
from ebbing.people.profile_view import SHOWN, differs, portrait, stand_in
from ebbing.ports.memory_store import MemoryStore
from ebbing.ports.profile_store import Kept

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
        kept = await self._store.profiles.read(whole)
        if (snapshot := _valid(kept, now)) is not None:
            return await self._shown(portrait(snapshot, kept), whole), True
        shard = await self._store.shard(whole)
        snapshot = await self._made(whole, shard, kept=kept, now=now)
        return await self._shown(portrait(snapshot, kept), whole, shard=shard), False

    async def of_part(
        self,
        scope: Scope,
        shard: Shard,
        *,
        among: Mask,
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
        kept = await self._store.profiles.read(scope)
        records = [one for one in await self._records(scope, shard, among=among & _typed(shard)) if usable(one)]
        if not by_hand:
            ids = {record.id for record in records}
            edits = (edit if edit.memory_id in ids else replace(edit, memory_id=None) for edit in kept.edits)
            kept = replace(kept, edits=tuple(edits), defaults=())
        snapshot = await self._drawn(records, scope, kept=kept, now=now)
        return await self._shown(portrait(snapshot, kept), scope, shard=shard)

    async def refreshed(self, scope: Scope, *, now: datetime, anew: bool = False) -> Portrait:
        """The same as `current`, kept for the next time where it was worked out.

        Args:
            anew: work it out even where the one that is kept still holds.

        Raises:
            StoreError: it could not be kept.
        """
        whole = Scope.of(scope.owner)
        for attempt in range(1, _ATTEMPTS + 1):
            kept = await self._store.profiles.read(whole)
            valid = _valid(kept, now)
            if valid is not None and not anew:
                return await self._shown(portrait(valid, kept), whole)
            shard = await self._store.shard(whole)
            snapshot = await self._made(whole, shard, kept=kept, now=now)
            done = await self._store.profiles.keep(whole, snapshot, seen=kept.revision)
            if done or attempt == _ATTEMPTS or shard.generation < 0:
                return await self._shown(portrait(snapshot, kept), whole, shard=shard)
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

    async def _made(self, scope: Scope, shard: Shard, *, kept: Kept, now: datetime) -> Snapshot:
        """A new snapshot of everything that is true at `now`, wherever it may be told."""
        at = micros(now)
        living = shard.alive & (shard.kind == KINDS.index(Kind.MEMORY)) & _typed(shard)
        among = living & (shard.valid_to > at) & (shard.expires > at)
        records = await self._records(scope, shard, among=among)
        snapshot = await self._drawn([one for one in records if one.scope == "global"], scope, kept=kept, now=now)
        before = kept.snapshot
        changed = before is None or before.generation < 0 or differs(before.entries, snapshot.entries)
        return replace(
            snapshot,
            version=(before.version if before is not None else 0) + changed,
            generation=shard.generation,
            holds_until=min(now + FRESH, _first_end(shard, among) or now + FRESH),
        )

    async def _drawn(self, records: Sequence[MemoryRecord], scope: Scope, *, kept: Kept, now: datetime) -> Snapshot:
        pins = [edit.memory_id for edit in kept.edits if edit.memory_id is not None]
        held = await self._store.get(Scope.of(scope.owner), pins) if pins else []
        told = [one for one in records if scope.user_id is None or one.role is not Role.ASSISTANT]
        work = partial(self._entries, told, held, edits=kept.edits, now=now)
        entries = work() if len(told) <= _INLINE else await to_thread.run_sync(work)
        return Snapshot(1, -1, now, now + FRESH, len(told), entries)

    def _entries(
        self,
        told: Sequence[MemoryRecord],
        held: Sequence[MemoryRecord],
        *,
        edits: Sequence[ProfileEdit],
        now: datetime,
    ) -> tuple[ProfileEntry, ...]:
        """What memories and edits come to; where several people speak under names of their own, by name."""
        several = len({one.actor for one in told if one.actor is not None}) > 1
        said = (self._stated(one, one.actor if several else None) for one in told)
        pinned = {one.id: says for one in held if (says := self._stated(one, None)) is not None}
        return tuple(build_profile([one for one in said if one is not None], edits=edits, pinned=pinned, now=now))

    def _stated(self, record: MemoryRecord, speaker: str | None) -> ProfileStatement | None:
        known = self._read.get(record.id)
        if known is not None and known[0] is record and known[1] == speaker:
            return known[2]
        found = profile_statement(record, speaker=speaker)
        self._read[record.id] = (record, speaker, found)
        while len(self._read) > _REMEMBERED:
            self._read.popitem(last=False)
        return found

    async def _records(self, scope: Scope, shard: Shard, *, among: Mask) -> list[MemoryRecord]:
        """The memories of rows; the shard keeps those that were read until their row changes."""
        ids = [shard.ids[row] for row in _chosen(shard, among)]
        missing = [memory_id for memory_id in ids if memory_id not in shard.records]
        if missing:
            shard.records.update((record.id, record) for record in await self._store.get(scope, missing))
        return [record for memory_id in ids if (record := shard.record(memory_id)) is not None]

    async def _shown(self, found: Portrait, scope: Scope, *, shard: Shard | None = None) -> Portrait:
        """The portrait with a record for each entry that stands in a context; the shard may have read some."""
        shown = shortened(found.entries, count=SHOWN)
        known = {} if shard is None else shard.records
        firsts = [entry.memory_ids[0] for entry in shown if entry.memory_ids]
        missing = [memory_id for memory_id in firsts if memory_id not in known]
        read = {one.id: one for one in await self._store.get(Scope.of(scope.owner), missing)} if missing else {}

        def record_of(entry: ProfileEntry) -> MemoryRecord:
            first = entry.memory_ids[0] if entry.memory_ids else ""
            return known.get(first) or read.get(first) or stand_in(entry, scope)

        return replace(found, records={entry.name: record_of(entry) for entry in shown})


def _valid(kept: Kept, now: datetime) -> Snapshot | None:
    """The snapshot, if it is up to date with the memories, and as of `now`."""
    snapshot = kept.snapshot
    if snapshot is None or snapshot.generation < 0 or snapshot.generation != kept.generation:
        return None
    return snapshot if snapshot.built_at <= now < snapshot.holds_until else None


def _typed(shard: Shard) -> Mask:
    typed: Mask = np.isin(shard.type, [TYPES.index(one) for one in PROFILE_TYPES])
    return typed


def _chosen(shard: Shard, among: Mask) -> list[int]:
    rows = np.flatnonzero(among)
    if len(rows) > MAX_READ:
        binding = np.isin(shard.type[rows], [TYPES.index(one) for one in BINDING])
        order = np.lexsort((shard.created[rows], shard.importance[rows], shard.attribute[rows] > 0, binding))
        rows = rows[order[-MAX_READ:]]
    return [int(row) for row in rows]


def _first_end(shard: Shard, among: Mask) -> datetime | None:
    """When the first of the rows is no longer true or expires."""
    first = min(int(times[among].min(initial=NEVER)) for times in (shard.valid_to, shard.expires))
    return None if first == NEVER else moment(first)
