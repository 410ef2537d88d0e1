"""Messages that are stored as they are, each a memory of its own: once by their ids, and edited where they changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Any

from ebbing.domain.errors import ConflictError
from ebbing.domain.memory.history import STORED_AS_SAID, Event
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Kind, MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.ports.memory_store import Change, Insert, MemoryStore, Revise
from ebbing.privacy.guarding.trust import TrustTier
from ebbing.remember.add_deps import AddDeps
from ebbing.remember.add_report import ALREADY_STORED, AddReport, MemoryOutcome, joined_report
from ebbing.remember.facts.drafts import Draft, DraftContext, message_drafts
from ebbing.remember.intake.screening import ScreenedMessage, screen_messages, split_repeated_ids
from ebbing.remember.reconcile.candidates import owner_scope
from ebbing.remember.reconcile.commit import MAX_ATTEMPTS
from ebbing.remember.reconcile.known_messages import EDITED, deleted_episodes, find_known_messages
from ebbing.remember.reconcile.unmerge import merged_records_of, unmerge
from ebbing.remember.vectors.embed_drafts import ids_without_vector


async def add_raw(
    using: AddDeps,
    messages: Sequence[Message],
    *,
    scope: Scope,
    metadata: Mapping[str, Any],
    trust: TrustTier | None = None,
    tags: tuple[str, ...] = (),
    expires_at: datetime | None = None,
) -> AddReport:
    """Stores every message as a memory of its own, as it was said but for secrets.

    A message whose id the owner's run already holds changes nothing if its text is the same; if it was edited, its
    memory is, and what was concluded from the earlier wording follows. A wording that somebody put right by hand stays
    unless the message says something new.
    """
    drafting = DraftContext(scope, metadata, now=using.clock.now(), ids=using.ids, tags=tags, expires_at=expires_at)
    if any(message.id is not None for message in messages):
        parts = split_repeated_ids(messages)
        return joined_report([await _add_named(using, part, drafting=drafting, trust=trust) for part in parts])
    kept = screen_messages(messages, using.policy, trust=trust, learning=False)
    return await _add_unnamed(using, kept, drafting=drafting)


async def _add_named(
    using: AddDeps, messages: Sequence[Message], *, drafting: DraftContext, trust: TrustTier | None
) -> AddReport:
    """Stores messages some of which have ids: what is known of these decides."""
    kept, scope = screen_messages(messages, using.policy, trust=trust, learning=False), drafting.scope
    for attempt in range(1, MAX_ATTEMPTS + 1):
        plan = await _planned(using, kept, drafting=drafting)
        try:
            held = await using.store.write(owner_scope(scope), plan.changes)
        except ConflictError:
            if attempt == MAX_ATTEMPTS:
                raise
            continue
        pending = await using.note_missing_vectors(ids_without_vector(plan.inserts), scope)
        ids = [*map(_id_of, plan.changes)]
        if held == ids:
            return AddReport(tuple(plan.outcomes), vectors_pending=pending)
        found = dict(zip(ids, held, strict=True))
        return AddReport(tuple(_as_held(outcome, found) for outcome in plan.outcomes), vectors_pending=pending)
    raise AssertionError("the loop returns or raises")


@dataclass(slots=True)
class _Plan:
    changes: list[Change] = field(default_factory=list)
    inserts: list[Insert] = field(default_factory=list)
    """What is indexed anew, for new and for edited memories."""
    outcomes: list[MemoryOutcome] = field(default_factory=list)

    def put(self, old: Sequence[MemoryRecord], fresh: Sequence[Insert], *, now: datetime) -> None:
        """A message, part by part, in the place of what was stored of it."""
        for part, one in zip(old, fresh, strict=False):
            if part.content != one.record.content:
                self._edit(part, one, now=now)
        for one in fresh[len(old) :]:
            self.changes.append(one)
            self.outcomes.append(_added(one))
        if gone := old[len(fresh) :]:
            self.changes += deleted_episodes(gone, now=now)

    def _edit(self, old: MemoryRecord, one: Insert, *, now: datetime) -> None:
        """The same memory in the message's new words, under its own day."""
        new = one.record
        record = replace(
            old,
            content=new.content,
            language=new.language,
            metadata=new.metadata or old.metadata,
            tags=tuple(dict.fromkeys((*old.tags, *new.tags))),
            trust=new.trust,
            provenance=replace(new.provenance, source_ids=old.provenance.source_ids),
            updated_at=now,
            version=old.version + 1,
        )
        self.changes.append(Revise(record, Event.UPDATE, entry=one.entry, reason=EDITED))
        self.outcomes.append(MemoryOutcome(old.id, new.content, Event.UPDATE, EDITED))


async def _add_unnamed(using: AddDeps, kept: Sequence[ScreenedMessage], *, drafting: DraftContext) -> AddReport:
    """Store messages without ids, of which nothing can be stored yet."""
    drafts = message_drafts(kept, kind=Kind.MEMORY, context=drafting)
    inserts, is_later = await using.embed_now_or_later(drafts)
    await using.store.write(owner_scope(drafting.scope), inserts)
    pending = await using.note_missing_vectors(ids_without_vector(inserts), drafting.scope, is_later=is_later)
    return AddReport(tuple(map(_added, inserts)), vectors_pending=pending)


async def _planned(using: AddDeps, kept: Sequence[ScreenedMessage], *, drafting: DraftContext) -> _Plan:
    """What is to be written, given what is stored of these messages."""
    store, scope, now = using.store, drafting.scope, drafting.now
    drafts = [message_drafts([one], kind=Kind.MEMORY, context=drafting) for one in kept]
    known, is_said = await _known(store, kept, drafts=drafts, scope=scope)
    told = [part for old, said in zip(known, is_said, strict=True) if not said for part in old if not part.is_active]
    if tellers := await merged_records_of(store, told, scope=scope):
        # What they tell is not what these messages say any more; the next merge finds what still repeats.
        await unmerge(store, tellers, scope=scope, at=now)
        known, is_said = await _known(store, kept, drafts=drafts, scope=scope)
    before = await find_known_messages(store, kept, scope=scope, now=now)
    plan = _Plan([*deleted_episodes(before.episodes, now=now)])
    plan.changes += await before.withdrawn(store, decisions=(), scope=scope, now=now)
    fresh = [draft for parts, said in zip(drafts, is_said, strict=True) if not said for draft in parts]
    plan.inserts = await using.embed(fresh)
    inserts = iter(plan.inserts)
    for old, parts, said in zip(known, drafts, is_said, strict=True):
        if said:
            plan.outcomes += [MemoryOutcome(_holder(part), part.content, Event.NONE, ALREADY_STORED) for part in old]
        else:
            plan.put(old, list(islice(inserts, len(parts))), now=now)
    return plan


async def _known(
    store: MemoryStore, kept: Sequence[ScreenedMessage], *, drafts: Sequence[Sequence[Draft]], scope: Scope
) -> tuple[list[list[MemoryRecord]], list[bool]]:
    """For each message what is stored of it, part by part, and whether that is just what it says."""
    stored = await _stored(store, kept, scope=scope)
    known = [stored.get(one.message.id or "", []) for one in kept]
    is_said = [
        bool(old) and await _is_said(store, old, texts=[draft.record.content for draft in parts], scope=scope)
        for old, parts in zip(known, drafts, strict=True)
    ]
    return known, is_said


async def _stored(
    store: MemoryStore, kept: Sequence[ScreenedMessage], *, scope: Scope
) -> dict[str, list[MemoryRecord]]:
    """By message id, the memories that hold a message of this run as it was said; also those that another one tells."""
    ids = list({one.message.id for one in kept if one.message.id})
    if not ids:
        return {}
    parts: defaultdict[str, list[MemoryRecord]] = defaultdict(list)
    for record in await store.from_sources(scope, ids):
        names = record.provenance.source_ids
        verbatim = record.kind is Kind.MEMORY and record.is_verbatim and not record.is_compressed
        if verbatim and record.whose.run_id == scope.run_id and names:
            parts[names[-1]].append(record)
    return {name: sorted(found, key=_number) for name, found in parts.items()}


async def _is_said(store: MemoryStore, old: Sequence[MemoryRecord], *, texts: Sequence[str], scope: Scope) -> bool:
    """Whether a message says nothing new: the stored words, or ones that somebody has since put right by hand."""
    if [part.content for part in old] == list(texts):
        return True
    if all(part.provenance.method != "user" for part in old) or len(old) != len(texts):
        return False
    for part, text in zip(old, texts, strict=True):
        earlier = {entry.old_memory for entry in await store.history(owner_scope(scope), part.id)}
        by_hand = part.provenance.method == "user" and text in earlier
        if text != part.content and not by_hand:
            return False
    return True


def _holder(record: MemoryRecord) -> str:
    """The memory that tells it now."""
    return record.id if record.is_active or record.superseded_by is None else record.superseded_by


def _number(record: MemoryRecord) -> int:
    """Which part of its message a record holds, from 1."""
    _, _, number = record.provenance.source_ids[0].rpartition("#")
    return int(number) if len(record.provenance.source_ids) > 1 and number.isdecimal() else 1


def _added(insert: Insert) -> MemoryOutcome:
    """The outcome of a message that is stored anew."""
    record = insert.record
    return MemoryOutcome(record.id, record.content, Event.ADD, STORED_AS_SAID, record)


def _id_of(change: Change) -> str:
    return change.record.id if isinstance(change, Insert | Revise) else change.memory_id


def _as_held(outcome: MemoryOutcome, held: Mapping[str, str]) -> MemoryOutcome:
    """The outcome under the id that holds it: somebody else may have stored the message in between."""
    there = held.get(outcome.memory_id or "", outcome.memory_id)
    if there == outcome.memory_id:
        return outcome
    return MemoryOutcome(there, outcome.text, Event.NONE, ALREADY_STORED)
