"""Messages that are stored already: repeated, they change nothing; edited or deleted, what they led to follows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain
from operator import attrgetter
from typing import Final

import numpy as np

from ebbing.domain.conflict.decision import Decision, Keep, Supersede, Update, changed_by
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import Kind, MemoryRecord, Role
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import KINDS, ROLES, micros
from ebbing.language.text.quotation import is_answer, lead_in, leans_on, quoted_words
from ebbing.language.text.sentences import split_text
from ebbing.language.text.text_compression import full_text
from ebbing.ports.stores.memory_store import Change, MemoryStore, Revise
from ebbing.remember.attempts import until_unchanged
from ebbing.remember.extraction.answers import SAME_TALK
from ebbing.remember.facts.doubts import without_doubts
from ebbing.remember.facts.new_fact import NewFact
from ebbing.remember.intake.screening import ScreenedMessage
from ebbing.remember.reconcile.candidates import owner_scope
from ebbing.remember.reconcile.unmerge import merged_records_of, unmerge

EDITED: Final = "the message that said so was edited"
DELETED: Final = "the message that said so was deleted"
_REOPENED: Final = "what had replaced it was withdrawn"


@dataclass(frozen=True, slots=True)
class KnownMessages:
    """The stored messages among those of a call, and the memories that they led to."""

    repeated: frozenset[int] = frozenset()
    """Places of messages that are stored in just these words …"""
    repeated_ids: frozenset[str] = frozenset()
    """… and their ids, as the caller named them."""
    memories: tuple[MemoryRecord, ...] = ()
    """The current memories that those led to."""
    episodes: tuple[MemoryRecord, ...] = ()
    """The earlier wordings of edited messages."""
    sources: frozenset[str] = frozenset()
    """Ids of the edited messages."""
    products: tuple[str, ...] = ()
    """Ids of the memories that the earlier wordings led to."""
    evidence: tuple[str, ...] = ()
    """Of messages that were stored before they were read: their episodes' ids, by place."""

    async def drop_erased_sources(self, store: MemoryStore, facts: Sequence[NewFact], *, scope: Scope) -> list[NewFact]:
        """Return the facts without those of messages that were deleted or erased while they were read."""
        if not self.evidence:
            return list(facts)
        stored_ids = {episode.id for episode in await store.get(owner_scope(scope), self.evidence)}
        return [fact for fact in facts if self.evidence[fact.fact.source] in stored_ids]

    def as_edit(self, decision: Decision) -> Decision:
        """Return the decision of an edited message: it corrects its earlier wording, which was never true.

        A quotation gets the new words also where they say the same: what was taken out of the message is to be gone.
        """
        if not isinstance(decision, Supersede | Keep) or decision.memory_id not in self.products:
            return decision
        text = decision.fact.text
        if isinstance(decision, Keep) and quoted_words(text) is None:
            return decision
        return Update(decision.fact, decision.memory_id, text, EDITED, closes=decision.closes)

    async def withdrawn(
        self,
        store: MemoryStore,
        *,
        decisions: Sequence[Decision],
        scope: Scope,
        now: datetime,
    ) -> list[Revise]:
        """Return the end of what the earlier wordings led to and the new ones do not say, and of what leans on them."""
        if not self.episodes and not self.products:
            return []
        decided_ids: set[str] = set()
        for decision in decisions:
            decided_ids.update(changed_by(decision))
        gone = [memory_id for memory_id in self.products if memory_id not in decided_ids]
        records = await store.get(owner_scope(scope), gone)
        changes = await retract_sources(store, records, sources=self.sources, scope=scope, reason=EDITED, now=now)
        decided_ids |= {change.record.id for change in changes}
        for memory in await leaning_on(store, self.episodes, scope=scope):
            if memory.id not in decided_ids:
                changes.append(_deleted(memory, now=now, reason=EDITED))
        return changes


async def find_known_messages(
    store: MemoryStore, screened: Sequence[ScreenedMessage], *, scope: Scope, now: datetime
) -> KnownMessages:
    """Return the stored records of these messages, by the ids that the caller gave them."""
    places: dict[str, int] = {}
    for place, screened_message in enumerate(screened):
        if screened_message.message.id is not None:
            places[screened_message.message.id] = place
    if not places:
        return KnownMessages()
    stored = await store.from_sources(scope, list(places))
    known_messages = _sorted_out(stored, screened, places=places, scope=scope)
    merged = await merged_records_of(store, _from(stored, known_messages.sources), scope=scope)
    if not merged:
        return known_messages
    # What they tell is not what these messages say any more; the next merge finds what still repeats.
    await unmerge(store, merged, scope=scope, moment=now)
    return _sorted_out(await store.from_sources(scope, list(places)), screened, places=places, scope=scope)


def _sorted_out(
    stored: Iterable[MemoryRecord], screened: Sequence[ScreenedMessage], *, places: Mapping[str, int], scope: Scope
) -> KnownMessages:
    episodes: defaultdict[str, list[MemoryRecord]] = defaultdict(list)
    memories: list[MemoryRecord] = []
    for record in stored:
        if record.belongs_to.run_id != scope.run_id or _is_raw_memory(record):
            continue
        if record.kind is Kind.EPISODE:
            if record.is_compressed:
                continue
            episodes[record.provenance.source_ids[-1]].append(record)
        else:
            memories.append(record)
    same: set[str] = set()
    edited: set[str] = set()
    for message_id, parts in episodes.items():
        is_same = _says(parts, screened[places[message_id]])
        (same if is_same else edited).add(message_id)
    current = [memory for memory in memories if memory.valid_to is None and memory.is_active]
    return KnownMessages(
        repeated=frozenset(places[message_id] for message_id in same),
        repeated_ids=frozenset(same),
        memories=tuple(_from(current, same)),
        episodes=tuple(chain.from_iterable(episodes[message_id] for message_id in edited)),
        sources=frozenset(edited),
        products=tuple(memory.id for memory in _from(memories, edited)),
    )


def _from(memories: Iterable[MemoryRecord], sources: AbstractSet[str]) -> list[MemoryRecord]:
    return [memory for memory in memories if not sources.isdisjoint(memory.provenance.source_ids)]


def _is_raw_memory(record: MemoryRecord) -> bool:
    """Return whether a message was stored as a memory on purpose, and not concluded from another."""
    return record.kind is Kind.MEMORY and record.provenance.method == "raw"


def _says(parts: Sequence[MemoryRecord], screened_message: ScreenedMessage) -> bool:
    return [part.content for part in parts] == split_text(screened_message.message.content)


def deleted_episodes(episodes: Iterable[MemoryRecord], *, now: datetime, reason: str = EDITED) -> list[Revise]:
    """Messages in a wording that no longer stands."""
    return [_deleted(record, now=now, reason=reason) for record in episodes]


async def retract_sources(
    store: MemoryStore,
    records: Sequence[MemoryRecord],
    *,
    sources: frozenset[str],
    scope: Scope,
    reason: str,
    now: datetime,
) -> list[Revise]:
    """Memories lose these sources: what rests on nothing else is deleted, and what it had replaced holds again."""
    changes: list[Revise] = []
    for record in records:
        rest = tuple(name for name in record.provenance.source_ids if name.split("#")[0] not in sources)
        if rest:
            remaining = replace(
                record, version=record.version + 1, provenance=replace(record.provenance, source_ids=rest)
            )
            changes.append(Revise(remaining, Event.NONE, reason=reason))
            continue
        changes.append(_deleted(record, now=now, reason=reason))
        replaced = await store.get(owner_scope(scope), record.related_ids)
        changes += [_without_successor(old, record) for old in replaced if old.superseded_by == record.id]
    return changes


async def forget_source(store: MemoryStore, source_id: str, *, scope: Scope, now: datetime) -> int:
    """Delete a message and what rests on it alone; return the number of deleted records.

    Raises:
        ConflictError: somebody else changed them all the while; nothing was deleted.
    """

    async def attempt() -> int:
        records = await store.from_sources(scope, [source_id])
        if merged := await merged_records_of(store, records, scope=scope):
            await unmerge(store, merged, scope=scope, moment=now)
            records = await store.from_sources(scope, [source_id])
        episodes = [record for record in records if record.kind is Kind.EPISODE or _is_raw_memory(record)]
        memories = [record for record in records if record not in episodes]
        sources = frozenset({source_id})
        changes: list[Change] = [*deleted_episodes(episodes, now=now, reason=DELETED)]
        changes += await retract_sources(store, memories, sources=sources, scope=scope, reason=DELETED, now=now)
        besides = {memory.id for memory in memories}
        besides.update(change.record.id for change in changes if isinstance(change, Revise))
        changes += await without_leaning(store, episodes, besides=besides, scope=scope, now=now)
        changes = await without_doubts(store, changes, gone=episodes, scope=scope)
        await store.write(owner_scope(scope), changes)
        return sum(isinstance(change, Revise) and change.event is Event.DELETE for change in changes)

    return await until_unchanged(attempt)


async def leaning_on(store: MemoryStore, messages: Sequence[MemoryRecord], *, scope: Scope) -> list[MemoryRecord]:
    """Return the memories that repeat what one of these messages asks, or names somebody with; each once."""
    if not messages:
        return []
    shard = await store.shard(scope)
    of_a_person = shard.alive & (shard.kind == KINDS.index(Kind.MEMORY)) & (shard.role == ROLES.index(Role.USER))
    times = list(map(attrgetter("created_at"), messages))
    since, until = micros(min(times)), micros(max(times) + SAME_TALK)
    soon = (shard.created >= since) & (shard.created <= until)
    ids = [shard.id_of(int(row)) for row in np.flatnonzero(of_a_person & soon)]
    texts = [(message, full_text(message)) for message in messages]
    leaning: list[MemoryRecord] = []
    for record in await store.get(owner_scope(scope), ids):
        may_lean = is_answer(record.content) or lead_in(record.content)
        if may_lean and any(_leans_on(record, message, text=text) for message, text in texts):
            leaning.append(record)
    return leaning


def _leans_on(memory: MemoryRecord, message: MemoryRecord, *, text: str) -> bool:
    """Return whether a memory repeats a sentence of a message of the hour before it.

    A lead is the speaker's own, in the same scope; a question is the assistant's.
    """
    if not timedelta() <= memory.created_at - message.created_at <= SAME_TALK:
        return False
    if lead_in(memory.content):
        is_own = message.role is Role.USER and message.actor == memory.actor
        return is_own and message.belongs_to == memory.belongs_to and leans_on(memory.content, text)
    return message.role is Role.ASSISTANT and leans_on(memory.content, text)


async def without_leaning(
    store: MemoryStore, messages: Sequence[MemoryRecord], *, besides: Collection[str], scope: Scope, now: datetime
) -> list[Revise]:
    """Return the end of what leans on messages that are deleted; of `besides` something else becomes."""
    leaning = await leaning_on(store, messages, scope=scope)
    return [_deleted(memory, now=now, reason=DELETED) for memory in leaning if memory.id not in besides]


def _without_successor(old: MemoryRecord, gone: MemoryRecord) -> Revise:
    """Return what a withdrawn memory had replaced: it holds again, unless that was over by then too."""
    follower = gone.superseded_by if gone.valid_to is not None else None
    ends = old.valid_to if gone.valid_to is not None else None
    opened = replace(old, version=old.version + 1, valid_to=ends, superseded_by=follower)
    return Revise(opened, Event.UPDATE if ends is None else Event.NONE, reason=_REOPENED)


def _deleted(record: MemoryRecord, *, now: datetime, reason: str) -> Revise:
    gone = replace(record, version=record.version + 1, deleted_at=now, delete_reason=reason)
    return Revise(gone, Event.DELETE, reason=reason)
