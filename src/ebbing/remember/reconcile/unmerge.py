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
from ebbing.ports.memory_store import Change, Erase, MemoryStore, Revise

_AT_ONCE: Final = 1_000


@dataclass(frozen=True, slots=True)
class Unmerge:
    """The changes that take merged memories apart."""

    changes: Sequence[Change]
    back: int
    """Sources that tell for themselves again."""
    latest: Mapping[str, MemoryRecord]
    """By id, every record that the changes revise, as they leave it."""


async def unmerge(store: MemoryStore, tellers: Iterable[MemoryRecord], *, scope: Scope, at: datetime | None) -> int:
    """Lets the sources of these memories tell for themselves and removes the memories, which say nothing else.

    A memory that somebody reworded by hand stays: it says what that person said. The outermost come first where one
    tells another. Returns how many sources are back.

    Args:
        at: when it happens: the memories are deleted, and can be brought back by undoing it. None erases them.

    Raises:
        ConflictError: one of them changed in between; nothing was taken apart.
    """
    apart = await unmerge_changes(store, tellers, scope=scope, at=at)
    if apart.changes:
        await store.write(Scope.of(scope.owner), apart.changes)
    return apart.back


async def unmerge_changes(
    store: MemoryStore, tellers: Iterable[MemoryRecord], *, scope: Scope, at: datetime | None
) -> Unmerge:
    """The changes of `unmerge`, to be written together with others."""
    back = 0
    changes: list[Change] = []
    changed: dict[str, MemoryRecord] = {}
    for teller in {one.id: one for one in tellers}.values():
        if not teller.is_compressed or teller.provenance.method == "user":
            continue
        sources = await store.get(Scope.of(scope.owner), teller.compression_sources, deleted=True)
        for known in sources:
            source = changed.get(known.id, known)
            if source.retired_at is not None and source.superseded_by == teller.id:
                source = replace(source, version=source.version + 1, retired_at=None, superseded_by=None)
                changed[source.id] = source
                changes.append(Revise(source, Event.SPLIT, reason=TAKEN_APART))
                back += 1
        latest = changed.get(teller.id, teller)
        if at is None:
            changes.append(Erase(teller.id))
        elif latest.deleted_at is None:
            changed[teller.id] = deleted(latest, TAKEN_APART, at=at)
            changes.append(Revise(changed[teller.id], Event.DELETE, reason=TAKEN_APART))
    return Unmerge(changes, back, changed)


def deleted(record: MemoryRecord, reason: str, *, at: datetime) -> MemoryRecord:
    """The record, deleted."""
    return replace(record, version=record.version + 1, updated_at=at, deleted_at=at, delete_reason=reason)


def is_apart(record: MemoryRecord) -> bool:
    """Whether a merged memory was taken apart: its sources tell for themselves."""
    return record.deleted_at is not None and record.delete_reason == TAKEN_APART


async def merged_records_of(store: MemoryStore, records: Iterable[MemoryRecord], *, scope: Scope) -> list[MemoryRecord]:
    """The memories that were made of these records, those among them, and what was made of those: outermost first."""
    asked = list(records)
    found = {one.id: one for one in asked if one.is_compressed}
    while asked:
        made = await store.telling(scope, [one.id for one in asked])
        asked = [one for one in made if one.id not in found]
        found = {one.id: one for one in asked} | found
    return list(found.values())


async def erase_apart_within(store: MemoryStore, scope: Scope) -> int:
    """Takes apart for good what tells something from within this part of an owner's memory together with something from
    elsewhere, so that the part can be removed without a trace and without taking anything else along."""
    involved: dict[str, MemoryRecord] = {}
    cursor = None
    while True:
        page = await store.page(scope, kinds=tuple(Kind), limit=_AT_ONCE, cursor=cursor, deleted=True)
        involved |= {one.id: one for one in await merged_records_of(store, page.records, scope=scope)}
        cursor = page.next_cursor
        if cursor is None:
            break
    return await unmerge(store, involved.values(), scope=scope, at=None)
