"""Doubts: what was told before, and something that is said later may have changed, though nothing says so for certain.

To end a memory, a statement has to be understood (`domain.conflict.closing`). Most changes are told in passing: "first
day. office above a carpet shop". A trained model finds those (`outdated_memories`). A memory in doubt stays, and is not
told as what holds now. Where it is said again, the doubt is gone. It also goes with the message that raised it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import DOUBTED, NOTICED, QUARANTINED, Kind, MemoryRecord, Role
from ebbing.domain.memory.scope import Scope
from ebbing.language.text.quotation import quoted_words
from ebbing.language.text.sentences import sentences
from ebbing.ports.stores.memory_store import Change, Insert, MemoryStore, Revise
from ebbing.remember.attempts import until_unchanged
from ebbing.remember.reconcile.candidates import owner_scope

REASON: Final = "something that was said later may have changed it"
_TAKEN_BACK: Final = "what may have changed it is gone"
READ: Final = frozenset({"rule", "llm"})
"""What was read from a message may be over; what somebody wrote by hand or brought along is theirs to change."""
_HEALTH: Final = frozenset({"health", "diet"})
_STAYS: Final = frozenset({"hometown", "birthday", "birth_year"})
"""Attributes of anybody that nothing said in passing changes …"""
_OWN_STAYS: Final = frozenset({"name", "age"})
"""… and those of the speaker: a pet that is told by its name may die."""
_PASTED: Final = re.compile(r"\s*【")
"""How a notice begins that somebody sent on: it is not about what they told."""
_PAGE_SIZE: Final = 200
_MAX_CHARS: Final = 600
"""Characters of a message that are looked at."""


async def with_doubts(
    store: MemoryStore, changes: Sequence[Change], *, doubted: Mapping[str, str], scope: Scope
) -> list[Change]:
    """Return the changes, with those that note which memories are in doubt; a new one is in doubt from the start.

    Each message notes what it puts in doubt, so that the doubt goes with it (`without_doubts`).

    Args:
        changes: what is to be written anyway. Of these only new memories, and those that come out of another doubt, may
            be doubted.
        doubted: the id of the message by the id of the memory.
    """
    if not doubted:
        return list(changes)
    doubts: dict[str, str] = {}
    for change in changes:
        if isinstance(change, Insert | Revise) and change.record.id in doubted:
            doubts[change.record.id] = doubted[change.record.id]
    others = sorted(doubted.keys() - doubts.keys())
    newly_doubted: list[Change] = []
    for record in await store.get(owner_scope(scope), others):
        if DOUBTED not in record.tags:
            doubts[record.id] = doubted[record.id]
            revised = replace(record, version=record.version + 1)
            in_doubt = _noted(revised, doubts[record.id])
            newly_doubted.append(Revise(in_doubt, Event.UPDATE, reason=REASON))
    return [*(_noted_in(change, doubts) for change in changes), *newly_doubted]


def _noted_in(change: Change, doubts: Mapping[str, str]) -> Change:
    """Return a change with the doubt of its record, and with the doubts that its record raises."""
    if not isinstance(change, Insert | Revise):
        return change
    record = change.record
    if record.id in doubts:
        record = _noted(record, doubts[record.id])
    related_ids = list(record.related_ids)
    for memory_id, message_id in doubts.items():
        if message_id == record.id:
            related_ids.append(memory_id)
    noted = replace(record, related_ids=tuple(related_ids))
    return replace(change, record=noted)


async def without_doubts(
    store: MemoryStore, changes: Sequence[Change], *, gone: Collection[MemoryRecord], scope: Scope
) -> list[Change]:
    """Return the changes, with those that take back what these records put in doubt, which are deleted or reworded."""
    gone_ids: set[str] = set()
    doubted_ids: set[str] = set()
    for record in gone:
        gone_ids |= {record.id, *record.compression_sources}
        doubted_ids.update(record.related_ids)
    sure: list[Change] = []
    doubted_ids -= gone_ids
    for change in changes:
        new = change
        if isinstance(change, Revise):
            doubted_ids.discard(change.record.id)
            if change.record.doubted_by in gone_ids:
                new = replace(change, record=change.record.without_doubt())
        sure.append(new)
    for record in await store.get(owner_scope(scope), sorted(doubted_ids)):
        if record.doubted_by in gone_ids:
            version = record.version + 1
            revised = replace(record.without_doubt(), version=version)
            sure.append(Revise(revised, Event.UPDATE, reason=_TAKEN_BACK))
    return sure


async def take_doubts_back_within(store: MemoryStore, scope: Scope) -> None:
    """Take back what the messages within this part of an owner's memory put in doubt elsewhere: they will be erased."""
    cursor = None
    while True:
        page = await store.page(scope, kinds=tuple(Kind), limit=_PAGE_SIZE, cursor=cursor, deleted=True)

        async def attempt(gone: Sequence[MemoryRecord] = page.records) -> None:
            changes = await without_doubts(store, [], gone=gone, scope=scope)
            if changes:
                await store.write(scope.whole, changes)

        await until_unchanged(attempt)
        cursor = page.next_cursor
        if cursor is None:
            return


def states_something(message: MemoryRecord) -> bool:
    """Return whether somebody states something in a message that is not held back, and does not only ask."""
    if message.role is not Role.USER or QUARANTINED in message.tags or _PASTED.match(message.content):
        return False
    return not all(sentence.asks for sentence in sentences(message.content[:_MAX_CHARS]))


def bears_on_health(record: MemoryRecord) -> bool:
    """Return whether a memory tells of health or of what may be eaten."""
    return not _HEALTH.isdisjoint(record.tags)


def is_open_to_doubt(memory: MemoryRecord) -> bool:
    """Return whether a memory was read from what somebody said, of a matter that can change, and is not in doubt yet.

    What somebody wrote by hand is theirs to change, also where it was a quotation before.
    """
    origin = memory.provenance
    if origin.source_text is None or origin.method not in READ or DOUBTED in memory.tags:
        return False
    attribute = memory.attribute or ""
    if attribute in _OWN_STAYS or attribute.rpartition(".")[2] in _STAYS:
        return False
    is_noticed = (origin.rule or "").startswith(f"{NOTICED}:")
    return not is_noticed or quoted_words(memory.content) is not None


def _noted(record: MemoryRecord, message_id: str) -> MemoryRecord:
    return replace(record, tags=(*record.tags, DOUBTED), related_ids=(*record.related_ids, message_id))
