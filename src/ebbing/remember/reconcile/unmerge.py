"""A memory that tells what several said gives its sources their own voice again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from ebbing.domain.forgetting.stages import TAKEN_APART
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import Kind, MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.ports.stores.memory_store import Change, Erase, MemoryStore, Revise

_PAGE_SIZE: Final = 1_000


@dataclass(frozen=True, slots=True)
class Unmerge:
    """The changes that take merged memories apart."""

    changes: Sequence[Change]
    back: int
    """Sources that tell for themselves again."""
    latest: Mapping[str, MemoryRecord]
    """By id, every record that the changes revise, as they leave it."""


async def unmerge(store: MemoryStore, merged: Iterable[MemoryRecord], *, scope: Scope, moment: datetime | None) -> int:
    """Let the sources of these memories tell for themselves, and remove the memories, which say nothing else.

    A memory that somebody reworded by hand stays: it says what that person said. The outermost come first where one
    tells another. Returns how many sources are back.

    Args:
        moment: when it happens: the memories are deleted, and can be brought back by undoing it. None erases them.

    Raises:
        ConflictError: one of them changed in between; nothing was taken apart.
    """
    apart = await unmerge_changes(store, merged, scope=scope, moment=moment)
    if apart.changes:
        await store.write(Scope.of(scope.owner), apart.changes)
    return apart.back


async def unmerge_changes(
    store: MemoryStore, merged: Iterable[MemoryRecord], *, scope: Scope, moment: datetime | None
) -> Unmerge:
    """Return the changes of `unmerge`, to be written together with others."""
    back = 0
    changes: list[Change] = []
    changed: dict[str, MemoryRecord] = {}
    for memory in {record.id: record for record in merged}.values():
        if not memory.is_compressed or memory.provenance.method == "user":
            continue
        sources = await store.get(Scope.of(scope.owner), memory.compression_sources, deleted=True)
        for stored in sources:
            source = changed.get(stored.id, stored)
            if source.retired_at is not None and source.superseded_by == memory.id:
                source = replace(source, version=source.version + 1, retired_at=None, superseded_by=None)
                changed[source.id] = source
                changes.append(Revise(source, Event.SPLIT, reason=TAKEN_APART))
                back += 1
        latest = changed.get(memory.id, memory)
        if moment is None:
            changes.append(Erase(memory.id))
        elif latest.deleted_at is None:
            changed[memory.id] = deleted(latest, TAKEN_APART, moment=moment)
            changes.append(Revise(changed[memory.id], Event.DELETE, reason=TAKEN_APART))
    return Unmerge(changes, back, changed)


def deleted(record: MemoryRecord, reason: str, *, moment: datetime) -> MemoryRecord:
    """Return the record, deleted."""
    return replace(record, version=record.version + 1, updated_at=moment, deleted_at=moment, delete_reason=reason)


def is_apart(record: MemoryRecord) -> bool:
    """Return whether a merged memory was taken apart: its sources tell for themselves."""
    return record.deleted_at is not None and record.delete_reason == TAKEN_APART


async def merged_records_of(store: MemoryStore, records: Iterable[MemoryRecord], *, scope: Scope) -> list[MemoryRecord]:
    """Return the memories that were made of these records, those among them, and what was made of those: outermost
    first.
    """
    remaining = list(records)
    merged = {record.id: record for record in remaining if record.is_compressed}
    while remaining:
        made = await store.telling(scope, [record.id for record in remaining])
        remaining = [record for record in made if record.id not in merged]
        merged = {record.id: record for record in remaining} | merged
    return list(merged.values())


async def erase_apart_within(store: MemoryStore, scope: Scope) -> int:
    """Take apart for good what tells something from within this part of an owner's memory together with something from
    elsewhere, so that the part can be removed without a trace and without taking anything else along.
    """
    involved: dict[str, MemoryRecord] = {}
    cursor = None
    while True:
        page = await store.page(scope, kinds=tuple(Kind), limit=_PAGE_SIZE, cursor=cursor, deleted=True)
        involved |= {record.id: record for record in await merged_records_of(store, page.records, scope=scope)}
        cursor = page.next_cursor
        if cursor is None:
            break
    return await unmerge(store, involved.values(), scope=scope, moment=None)
