"""A memory that tells what several said gives its sources their own voice again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import Kind, MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.ports.memory_store import Change, Erase, MemoryStore, Revise

SPLIT: Final = "the memory that told it was taken apart"
_AT_ONCE: Final = 1_000


async def take_apart(store: MemoryStore, tellers: Iterable[MemoryRecord], *, scope: Scope) -> int:
    """Lets the sources of these memories tell for themselves and erases the memories, which say nothing else.

    A memory that somebody reworded by hand stays: it says what that person said. The outermost come first where one
    tells another. Returns how many sources are back.

    Raises:
        ConflictError: one of them changed in between; nothing was taken apart.
    """
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
                changes.append(Revise(source, Event.SPLIT, reason=SPLIT))
                back += 1
        changes.append(Erase(teller.id))
    if changes:
        await store.write(Scope.of(scope.owner), changes)
    return back


async def tellers_of(store: MemoryStore, records: Iterable[MemoryRecord], *, scope: Scope) -> list[MemoryRecord]:
    """The memories that were made of these records, those among them, and what was made of those: outermost first."""
    asked = list(records)
    found = {one.id: one for one in asked if one.is_compressed}
    while asked:
        made = await store.telling(scope, [one.id for one in asked])
        asked = [one for one in made if one.id not in found]
        found = {one.id: one for one in asked} | found
    return list(found.values())


async def take_apart_within(store: MemoryStore, scope: Scope) -> int:
    """Takes apart what tells something from within this part of an owner's memory together with something from
    elsewhere, so that the part can be removed without a trace and without taking anything else along."""
    involved: dict[str, MemoryRecord] = {}
    cursor = None
    while True:
        page = await store.page(scope, kinds=tuple(Kind), limit=_AT_ONCE, cursor=cursor, deleted=True)
        involved |= {one.id: one for one in await tellers_of(store, page.records, scope=scope)}
        cursor = page.next_cursor
        if cursor is None:
            break
    return await take_apart(store, involved.values(), scope=scope)
