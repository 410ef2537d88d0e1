"""The deletion of memories that a person agreed to forget: those alone, as they were shown, or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np

from ebbing.domain.errors import ConflictError
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import Kind, MemoryRecord, is_read_from
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import KINDS, micros
from ebbing.ports.stores.memory_store import Change, Erase, MemoryStore, Revise
from ebbing.remember.add_deps import MAX_ATTEMPTS
from ebbing.remember.facts.doubts import without_doubts
from ebbing.remember.reconcile.known_messages import leaning_on
from ebbing.remember.reconcile.unmerge import deleted, is_apart, merged_records_of, unmerge_changes

REASON: Final = "forgotten on request"


@dataclass(frozen=True, slots=True)
class ForgetReport:
    """The deleted records."""

    ids: tuple[str, ...]
    memories: int = 0
    episodes: int = 0


async def records_that_say(store: MemoryStore, record: MemoryRecord, *, scope: Scope) -> list[MemoryRecord]:
    """Return a memory with what would still say it: the messages that it was read from, what repeats a sentence of
    these, and what it tells.
    """
    records: dict[str, MemoryRecord] = {}
    waiting = [record]
    while waiting:
        memory = waiting.pop()
        if memory.id in records:
            continue
        records[memory.id] = memory
        waiting += await store.get(scope.whole, memory.compression_sources)
        if memory.kind is Kind.MEMORY and not memory.is_verbatim:
            waiting += await _messages_of(store, memory, scope=scope.whole)
    messages = [memory for memory in records.values() if memory.kind is Kind.EPISODE]
    # What leans on them tells something else: its own message stays.
    for memory in await leaning_on(store, messages, scope=scope.whole):
        records.setdefault(memory.id, memory)
    return list(records.values())


async def _messages_of(store: MemoryStore, memory: MemoryRecord, *, scope: Scope) -> list[MemoryRecord]:
    sources = memory.provenance.source_ids
    if sources:
        stored = await store.from_sources(scope, sources)
        return [record for record in stored if record.kind is Kind.EPISODE]
    shard = await store.shard(scope)
    then = shard.alive & (shard.kind == KINDS.index(Kind.EPISODE)) & (shard.created == micros(memory.created_at))
    stored = await store.get(scope, [shard.ids[row] for row in np.flatnonzero(then)])
    return [message for message in stored if is_read_from(memory, message)]


async def forget_records(
    store: MemoryStore, agreed_hashes: Mapping[str, str], *, scope: Scope, hard: bool, reason: str | None, now: datetime
) -> ForgetReport:
    """Delete records as long as each still says what it said; what is gone by now is left out.

    A memory that tells some of them together with others is taken apart first, so that the others go on telling.

    Args:
        agreed_hashes: id to the hash of the content that was agreed on.
        hard: for good; else marked, with the reason, and restored on demand.

    Raises:
        ConflictError: one of them says something else by now, or somebody wrote all the while; nothing was deleted.
    """
    for attempt in range(1, MAX_ATTEMPTS + 1):
        generation = (await store.shard(scope)).generation
        records = await store.get(scope, list(agreed_hashes), deleted=True)
        if any(record.hash != agreed_hashes[record.id] for record in records):
            raise ConflictError("one of the memories says something else by now: ask again what would be forgotten")
        try:
            if await _taken_apart(
                store, records, agreed_hashes=agreed_hashes, scope=scope, moment=None if hard else now
            ):
                continue
            gone = [record for record in records if hard or record.deleted_at is None]
            changes = _erasures(gone) if hard else _deletions(gone, reason=reason or REASON, now=now)
            changes = await without_doubts(store, changes, gone=gone, scope=scope)
            await store.write(scope, changes, seen=generation if changes else None)
        except ConflictError:
            if attempt == MAX_ATTEMPTS:
                raise
            continue
        memories = sum(record.kind is Kind.MEMORY for record in gone)
        return ForgetReport(tuple(record.id for record in gone), memories, len(gone) - memories)
    raise ConflictError("these memories were changed all the while: try again")


async def _taken_apart(
    store: MemoryStore,
    records: Sequence[MemoryRecord],
    *,
    agreed_hashes: Mapping[str, str],
    scope: Scope,
    moment: datetime | None,
) -> bool:
    """Take apart what tells some of the records and others; False if there is nothing of that kind."""
    mixed = [
        teller
        for teller in await merged_records_of(store, records, scope=scope)
        if (teller.id not in agreed_hashes or not set(teller.compression_sources) <= agreed_hashes.keys())
        and not (moment is not None and is_apart(teller))
    ]
    changes = (await unmerge_changes(store, mixed, scope=scope, moment=moment)).changes
    if changes:
        await store.write(Scope.of(scope.owner), changes)
    return bool(changes)


def _erasures(records: Sequence[MemoryRecord]) -> list[Change]:
    """Return the erasures; a merged record goes after its sources, which it would take along."""
    depth = {record.id: 0 for record in records}
    by_id = {record.id: record for record in records}
    for _ in range(len(records)):
        deeper = {
            record.id: 1
            + max((depth[source_id] for source_id in record.compression_sources if source_id in by_id), default=-1)
            for record in records
        }
        if deeper == depth:
            break
        depth = deeper
    return [Erase(record.id) for record in sorted(records, key=lambda record: depth[record.id])]


def _deletions(records: Sequence[MemoryRecord], *, reason: str, now: datetime) -> list[Change]:
    return [Revise(deleted(record, reason, moment=now), Event.DELETE, reason=reason) for record in records]
