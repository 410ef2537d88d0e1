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
from ebbing.ports.stores.memory_store import Change, Insert, MemoryStore, Revise
from ebbing.privacy.guarding.trust import TrustTier
from ebbing.remember.add_deps import MAX_ATTEMPTS, AddDeps
from ebbing.remember.add_report import ALREADY_STORED, AddReport, MemoryOutcome, joined_report
from ebbing.remember.facts.drafts import Draft, DraftContext, message_drafts
from ebbing.remember.intake.screening import ScreenedMessage, screen_messages, split_repeated_ids
from ebbing.remember.reconcile.candidates import owner_scope
from ebbing.remember.reconcile.known_messages import EDITED, deleted_episodes, find_known_messages
from ebbing.remember.reconcile.unmerge import merged_records_of, unmerge
from ebbing.remember.vectors.embed_drafts import ids_without_vector


async def add_raw(
    deps: AddDeps,
    messages: Sequence[Message],
    *,
    scope: Scope,
    metadata: Mapping[str, Any],
    trust: TrustTier | None = None,
    tags: tuple[str, ...] = (),
    expires_at: datetime | None = None,
    importance: float | None = None,
) -> AddReport:
    """Store every message as a memory of its own, as it was said but for secrets.

    A message whose id the owner's run already holds changes nothing if its text is the same; if it was edited, its
    memory is, and what was concluded from the earlier wording follows. A wording that somebody put right by hand stays
    unless the message says something new.
    """
    context = DraftContext(scope, metadata, now=deps.clock.now(), ids=deps.ids, tags=tags, expires_at=expires_at)
    if importance is not None:
        context = replace(context, importance=importance)
    if any(message.id is not None for message in messages):
        parts = split_repeated_ids(messages)
        return joined_report([await _add_named(deps, part, context=context, trust=trust) for part in parts])
    screened = screen_messages(messages, deps.policy, trust=trust, learning=False)
    return await _add_unnamed(deps, screened, context=context)


async def _add_named(
    deps: AddDeps, messages: Sequence[Message], *, context: DraftContext, trust: TrustTier | None
) -> AddReport:
    """Store messages some of which have ids: what is known of these decides."""
    screened, scope = screen_messages(messages, deps.policy, trust=trust, learning=False), context.scope
    for attempt in range(1, MAX_ATTEMPTS + 1):
        plan = await _planned(deps, screened, context=context)
        try:
            stored_ids = await deps.store.write(owner_scope(scope), plan.changes)
        except ConflictError:
            if attempt == MAX_ATTEMPTS:
                raise
            continue
        pending = await deps.note_missing_vectors(ids_without_vector(plan.inserts), scope)
        ids = [*map(_id_of, plan.changes)]
        if stored_ids == ids:
            return AddReport(tuple(plan.outcomes), vectors_pending=pending)
        stored_id_of = dict(zip(ids, stored_ids, strict=True))
        return AddReport(
            tuple(_under_stored_id(outcome, stored_id_of) for outcome in plan.outcomes), vectors_pending=pending
        )
    raise AssertionError("the loop returns or raises")


@dataclass(slots=True)
class _Plan:
    changes: list[Change] = field(default_factory=list)
    inserts: list[Insert] = field(default_factory=list)
    """What is indexed anew, for new and for edited memories."""
    outcomes: list[MemoryOutcome] = field(default_factory=list)

    def put(self, old: Sequence[MemoryRecord], fresh: Sequence[Insert], *, now: datetime) -> None:
        """A message, part by part, in the place of what was stored of it."""
        for part, insert in zip(old, fresh, strict=False):
            if part.content != insert.record.content:
                self._edit(part, insert, now=now)
        for insert in fresh[len(old) :]:
            self.changes.append(insert)
            self.outcomes.append(_added(insert))
        if gone := old[len(fresh) :]:
            self.changes += deleted_episodes(gone, now=now)

    def _edit(self, old: MemoryRecord, insert: Insert, *, now: datetime) -> None:
        """The same memory in the message's new words, under its own day."""
        new = insert.record
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
        self.changes.append(Revise(record, Event.UPDATE, entry=insert.entry, reason=EDITED))
        self.outcomes.append(MemoryOutcome(old.id, new.content, Event.UPDATE, EDITED))


async def _add_unnamed(deps: AddDeps, screened: Sequence[ScreenedMessage], *, context: DraftContext) -> AddReport:
    """Store messages without ids, of which nothing can be stored yet."""
    drafts = message_drafts(screened, kind=Kind.MEMORY, context=context)
    inserts, is_later = await deps.embed_now_or_later(drafts)
    await deps.store.write(owner_scope(context.scope), inserts)
    pending = await deps.note_missing_vectors(ids_without_vector(inserts), context.scope, is_later=is_later)
    return AddReport(tuple(map(_added, inserts)), vectors_pending=pending)


async def _planned(deps: AddDeps, screened: Sequence[ScreenedMessage], *, context: DraftContext) -> _Plan:
    """Return what is to be written, given what is stored of these messages."""
    store, scope, now = deps.store, context.scope, context.now
    drafts = [message_drafts([message], kind=Kind.MEMORY, context=context) for message in screened]
    stored, are_same = await _stored_parts(store, screened, drafts=drafts, scope=scope)
    inactive = _inactive_parts(stored, are_same)
    if merged := await merged_records_of(store, inactive, scope=scope):
        # What they tell is not what these messages say any more; the next merge finds what still repeats.
        await unmerge(store, merged, scope=scope, moment=now)
        stored, are_same = await _stored_parts(store, screened, drafts=drafts, scope=scope)
    known_messages = await find_known_messages(store, screened, scope=scope, now=now)
    plan = _Plan([*deleted_episodes(known_messages.episodes, now=now)])
    plan.changes += await known_messages.withdrawn(store, decisions=(), scope=scope, now=now)
    fresh: list[Draft] = []
    for parts, is_same in zip(drafts, are_same, strict=True):
        if not is_same:
            fresh += parts
    plan.inserts = await deps.embed(fresh)
    inserts = iter(plan.inserts)
    for old, parts, is_same in zip(stored, drafts, are_same, strict=True):
        if is_same:
            plan.outcomes += [MemoryOutcome(_holder(part), part.content, Event.NONE, ALREADY_STORED) for part in old]
        else:
            plan.put(old, list(islice(inserts, len(parts))), now=now)
    return plan


def _inactive_parts(stored: Sequence[Sequence[MemoryRecord]], are_same: Sequence[bool]) -> list[MemoryRecord]:
    """Return the stored parts of edited messages for which a merged record answers."""
    inactive: list[MemoryRecord] = []
    for parts, is_same in zip(stored, are_same, strict=True):
        if not is_same:
            inactive += [part for part in parts if not part.is_active]
    return inactive


async def _stored_parts(
    store: MemoryStore, screened: Sequence[ScreenedMessage], *, drafts: Sequence[Sequence[Draft]], scope: Scope
) -> tuple[list[list[MemoryRecord]], list[bool]]:
    """For each message what is stored of it, part by part, and whether that is just what it says."""
    stored = await _stored_by_message(store, screened, scope=scope)
    parts_by_message: list[list[MemoryRecord]] = []
    are_same: list[bool] = []
    for screened_message, parts in zip(screened, drafts, strict=True):
        old = stored.get(screened_message.message.id or "", [])
        texts = [draft.record.content for draft in parts]
        parts_by_message.append(old)
        are_same.append(bool(old) and await _says_nothing_new(store, old, texts=texts, scope=scope))
    return parts_by_message, are_same


async def _stored_by_message(
    store: MemoryStore, screened: Sequence[ScreenedMessage], *, scope: Scope
) -> dict[str, list[MemoryRecord]]:
    """By message id, the memories that hold a message of this run as it was said; also those that another one tells."""
    messages = (screened_message.message for screened_message in screened)
    ids = list({message.id for message in messages if message.id})
    if not ids:
        return {}
    parts: defaultdict[str, list[MemoryRecord]] = defaultdict(list)
    for record in await store.from_sources(scope, ids):
        names = record.provenance.source_ids
        verbatim = record.kind is Kind.MEMORY and record.is_verbatim and not record.is_compressed
        if verbatim and record.belongs_to.run_id == scope.run_id and names:
            parts[names[-1]].append(record)
    return {name: sorted(records, key=_number) for name, records in parts.items()}


async def _says_nothing_new(
    store: MemoryStore, old: Sequence[MemoryRecord], *, texts: Sequence[str], scope: Scope
) -> bool:
    """Return whether a message says nothing new: the stored words, or words that a person corrected since."""
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
    """Return the memory that tells it now."""
    return record.id if record.is_active or record.superseded_by is None else record.superseded_by


def _number(record: MemoryRecord) -> int:
    """Return which part of its message a record holds, from 1."""
    _, _, number = record.provenance.source_ids[0].rpartition("#")
    return int(number) if len(record.provenance.source_ids) > 1 and number.isdecimal() else 1


def _added(insert: Insert) -> MemoryOutcome:
    """Return the outcome of a message that is stored anew."""
    record = insert.record
    return MemoryOutcome(record.id, record.content, Event.ADD, STORED_AS_SAID, record)


def _id_of(change: Change) -> str:
    return change.record.id if isinstance(change, Insert | Revise) else change.memory_id


def _under_stored_id(outcome: MemoryOutcome, stored_id_of: Mapping[str, str]) -> MemoryOutcome:
    """Return the outcome under the id that holds it: somebody else may have stored the message in between."""
    stored_id = stored_id_of.get(outcome.memory_id or "", outcome.memory_id)
    if stored_id == outcome.memory_id:
        return outcome
    return MemoryOutcome(stored_id, outcome.text, Event.NONE, ALREADY_STORED)
