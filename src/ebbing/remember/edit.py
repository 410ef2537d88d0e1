"""Changing, deleting and restoring one memory, on the caller's word."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Final

from ebbing.domain.errors import (
    BlockedContentError,
    ClosedMemoryError,
    ConflictError,
    InvalidInputError,
    MemoryNotFoundError,
    TooLargeError,
)
from ebbing.domain.forgetting.curves import reinforce
from ebbing.domain.forgetting.stages import EXPIRED, PENDING_DELETION
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import QUARANTINED, RESERVED_TAGS, Kind, MemoryRecord, Stage
from ebbing.domain.memory.scope import Scope
from ebbing.language.claims.claims import attribute_of
from ebbing.language.text.analyzer import normalise
from ebbing.language.text.detect_language import detect
from ebbing.language.text.quotation import dated
from ebbing.language.text.sentences import MAX_TEXT_LENGTH
from ebbing.language.text.text_compression import full_text
from ebbing.ports.stores.memory_store import Change, Erase, Insert, MemoryStore, Revise
from ebbing.privacy.guarding.trust import TrustTier, instruction_shaped
from ebbing.privacy.redaction.redact import RedactionPolicy, redact
from ebbing.remember.add_deps import MAX_ATTEMPTS, AddDeps
from ebbing.remember.attempts import until_unchanged
from ebbing.remember.facts.doubts import without_doubts
from ebbing.remember.facts.drafts import Draft
from ebbing.remember.facts.known_memories import statement_in
from ebbing.remember.facts.new_fact import hints_from_record
from ebbing.remember.intake.parse_messages import clean_text
from ebbing.remember.put_back import is_current
from ebbing.remember.reconcile.rivals import closed_rival, rivals_of
from ebbing.remember.reconcile.unmerge import is_apart, merged_records_of, unmerge
from ebbing.remember.vectors.embed_drafts import ids_without_vector

NEVER: Final = "never"
RESTORED: Final = "restored on request"
_CLOSED: Final = (
    "this memory is no longer true, and a new text would be in no answer: restore it first, or add the text"
)


@dataclass(frozen=True, slots=True)
class Edit:
    """The changes that a person makes to a memory; None leaves a field as it is."""

    text: str | None = None
    metadata: Mapping[str, Any] | None = None
    tags: Sequence[str] | None = None
    version: int | None = None
    """Only as long as the memory is of this version."""
    ends: datetime | str | None = None
    """From when on it appears in no answer; `NEVER` takes such an end away."""
    trust: TrustTier = TrustTier.USER
    """Whose word the text is: what only the person may order is held back from anybody else."""


async def update(deps: AddDeps, memory_id: str, *, scope: Scope, edit: Edit) -> MemoryRecord:
    """Give a memory another text, other metadata or other tags; the same again writes nothing.

    A text that gives orders to a model is held back for review, as `add` holds back a message that does.

    Raises:
        InvalidInputError: nothing is given, or the text is blank.
        BlockedContentError: the redaction policy blocks the text.
        TooLargeError: the text is longer than 4,000 characters.
        ConflictError: it is of another version.
        ClosedMemoryError: a new text for a memory that is no longer true.
        MemoryNotFoundError: no such memory in this scope.
    """
    wording = None if edit.text is None else _checked_text(edit.text, deps.policy.redaction)
    if wording is None and edit.metadata is None and edit.tags is None and edit.ends is None:
        raise InvalidInputError("give a text, metadata, tags or expires_at to update")

    async def change(old: MemoryRecord) -> Revise | None:
        labelled = replace(
            old,
            metadata=old.metadata if edit.metadata is None else dict(edit.metadata),
            tags=old.tags if edit.tags is None else _with_tags(old.tags, edit.tags),
            expires_at=_end(old.expires_at, edit.ends),
        )
        shown = dated(old.content, f"{old.said_at:%Y-%m-%d}")
        reworded = wording is not None and wording not in {old.content, shown}
        if not reworded and labelled == old:
            return None
        record = replace(labelled, version=old.version + 1, updated_at=deps.clock.now())
        if wording is None or not reworded:
            return Revise(record, Event.UPDATE, reason="metadata changed")
        if _is_closed(old, deps.clock.now()):
            raise ClosedMemoryError(_CLOSED)
        record = _screened(_reread(record, wording), edit.trust)
        rivals = await rivals_of(deps.store, record, scope=scope, now=deps.clock.now())
        if any(rival.attribute == record.attribute for rival in rivals):
            record = replace(record, attribute=None)
        insert: Insert = (await deps.embed([Draft(record, utterance=old.is_verbatim)]))[0]
        await deps.note_missing_vectors(ids_without_vector([insert]), scope)
        return Revise(record, Event.UPDATE, entry=insert.entry, reason="edited by hand")

    return await _changed(deps, memory_id, scope=scope, change=change, version=edit.version)


def _end(before: datetime | None, requested: datetime | str | None) -> datetime | None:
    if requested is None:
        return before
    return requested if isinstance(requested, datetime) else None


async def delete(deps: AddDeps, memory_id: str, *, scope: Scope, reason: str | None, hard: bool) -> None:
    """Take a memory out of every answer; `hard` removes it for good, else it can be restored.

    Raises:
        MemoryNotFoundError: no such memory in this scope, or already deleted.
    """
    if hard:
        await until_unchanged(partial(_erase, deps.store, memory_id, scope=scope))
        return
    now = deps.clock.now()

    async def change(old: MemoryRecord) -> Revise:
        record = replace(old, version=old.version + 1, updated_at=now, deleted_at=now, delete_reason=reason)
        return Revise(record, Event.DELETE, reason=reason or "deleted on request")

    await _changed(deps, memory_id, scope=scope, change=change)


async def _erase(store: MemoryStore, memory_id: str, *, scope: Scope) -> None:
    old = await _get_record(store, memory_id, scope=scope, deleted=True)
    old = await _voiced(store, old, scope=scope, moment=None)
    await _take_back(store, old, scope=scope, moment=None)
    changes = await without_doubts(store, [Erase(memory_id)], gone=[old], scope=scope)
    await store.write(scope.whole, changes)


@dataclass(frozen=True, slots=True)
class Restored:
    """A memory that was brought back."""

    record: MemoryRecord
    superseded_ids: tuple[str, ...] = ()
    """Memories that cannot be true beside it, and are closed from now on."""


async def restore(deps: AddDeps, memory_id: str, *, scope: Scope) -> Restored:
    """Bring back a memory that was deleted, ran out, faded (its full text, its vector) or was closed.

    What had faded counts as used now, so that it does not fade again at once. One that was told by a merged memory
    tells for itself again. One that was superseded is current again, and what superseded it stays; only a memory that
    gives another value of the same single-valued attribute, or the opposite taste, is closed in its turn.

    Raises:
        MemoryNotFoundError: no such memory in this scope.
        InvalidInputError: the memory is current as it is.
        ConflictError: a merged memory that was taken apart, or somebody else wrote all the while.
    """
    for attempt in range(1, MAX_ATTEMPTS + 1):
        now = deps.clock.now()
        record = await _get_record(deps.store, memory_id, scope=scope, deleted=True)
        if is_apart(record):
            raise ConflictError("this memory was taken apart, and its sources tell for themselves: undo that change")
        old = await _voiced(deps.store, record, scope=scope, moment=now)
        revise = await _restoration(deps, old, is_back=old != record, now=now)
        if revise is None:
            return Restored(old)
        rivals = await rivals_of(deps.store, revise.record, scope=scope, now=now) if is_current(revise.record) else []
        try:
            aside = [closed_rival(rival, memory_id, now=now) for rival in rivals]
            await deps.store.write(scope.whole if aside else scope, [revise, *aside])
        except ConflictError:
            if attempt == MAX_ATTEMPTS:
                raise
            continue
        return Restored(revise.record, tuple(rival.id for rival in rivals))
    raise AssertionError("the loop returns or raises")


async def _restoration(deps: AddDeps, old: MemoryRecord, *, is_back: bool, now: datetime) -> Revise | None:
    """Return the change that brings a memory back; None where that is done (`is_back`)."""
    record = replace(old, version=old.version + 1, updated_at=now, deleted_at=None, delete_reason=None)
    is_reopened = old.deleted_at is None and _is_closed(old, now)
    if is_reopened:
        record = replace(record, valid_to=None, superseded_by=None)
    if old.delete_reason == EXPIRED:
        record = replace(record, expires_at=None)
    if old.stage is not Stage.FULL:
        whole = reinforce(_whole(record), now)
        insert: Insert = (await deps.embed([Draft(whole, utterance=old.is_verbatim)]))[0]
        return Revise(whole, Event.RESTORE, entry=insert.entry, reason=RESTORED)
    if old.deleted_at is None and not is_reopened:
        if is_back:
            return None
        raise InvalidInputError("this memory is neither deleted, faded nor closed: there is nothing to restore")
    return Revise(record, Event.UPDATE if is_reopened else Event.RESTORE, reason=RESTORED)


def _is_closed(record: MemoryRecord, now: datetime) -> bool:
    """Return whether it is no longer true, and by itself: not because another memory tells it."""
    return record.retired_at is None and record.valid_to is not None and record.valid_to <= now


def _whole(record: MemoryRecord) -> MemoryRecord:
    """Return the record as it was before it faded."""
    text = full_text(record)
    tags = tuple(tag for tag in record.tags if tag != PENDING_DELETION)
    return replace(record, content=text, stage=Stage.FULL, packed=None, tags=tags)


async def _changed(
    deps: AddDeps,
    memory_id: str,
    *,
    scope: Scope,
    change: Callable[[MemoryRecord], Awaitable[Revise | None]],
    version: int | None = None,
) -> MemoryRecord:
    """Change a record as it is, again where somebody else changed it meanwhile, or what was made of it."""
    store = deps.store
    for attempt in range(1, MAX_ATTEMPTS + 1):
        now = deps.clock.now()
        record = await _get_record(store, memory_id, scope=scope, deleted=False)
        if version is not None and version != record.version:
            raise ConflictError("the memory is of another version by now: read it again and retry")
        try:
            old = await _voiced(store, record, scope=scope, moment=now)
            revise = await change(old)
            if revise is None:
                return old
            changes: list[Change] = [revise]
            if not _says_the_same(old, revise.record):
                await _take_back(store, old, scope=scope, moment=now)
                changes = await without_doubts(store, changes, gone=[old], scope=scope)
            await store.write(scope.whole, changes)
        except ConflictError:
            if attempt == MAX_ATTEMPTS:
                raise
            continue
        return revise.record
    raise AssertionError("the loop returns or raises")


async def _voiced(store: MemoryStore, record: MemoryRecord, *, scope: Scope, moment: datetime | None) -> MemoryRecord:
    """Return the record as one that tells for itself: what is changed or deleted is not told by another any more."""
    if record.retired_at is None:
        return record
    await unmerge(store, await merged_records_of(store, [record], scope=scope), scope=scope, moment=moment)
    return await _get_record(store, record.id, scope=scope, deleted=True)


async def _take_back(store: MemoryStore, record: MemoryRecord, *, scope: Scope, moment: datetime | None) -> None:
    """Remove what was made of the record: it would still say what the record does not say any more."""
    merged_from_it = [
        merged for merged in await merged_records_of(store, [record], scope=scope) if merged.id != record.id
    ]
    await unmerge(store, merged_from_it, scope=scope, moment=moment)


def _says_the_same(old: MemoryRecord, new: MemoryRecord) -> bool:
    return old.content == new.content and new.deleted_at is None


async def _get_record(store: MemoryStore, memory_id: str, *, scope: Scope, deleted: bool) -> MemoryRecord:
    records = await store.get(scope, [memory_id], deleted=deleted)
    if not records:
        raise MemoryNotFoundError("no memory with this id: check the id and whose it is")
    return records[0]


def _with_tags(old: Sequence[str], new: Sequence[str]) -> tuple[str, ...]:
    """Return the new tags beside those that a memory's own life set."""
    return (*(tag for tag in old if tag in RESERVED_TAGS), *new)


def _reread(record: MemoryRecord, wording: str) -> MemoryRecord:
    """Return the record in another wording, with what that says: it must not answer for the value that the old one
    gave.
    """
    record = replace(record, content=wording, language=detect(wording), stage=Stage.FULL, packed=None)
    if record.is_verbatim:
        return record
    keeps_object = bool(record.object and record.value) and normalise(record.value or "") in normalise(wording)
    object_, polarity = (record.object, record.polarity) if keeps_object else (None, 0)
    hints = replace(hints_from_record(record), attribute=None, value=None, object=None, polarity=0, was_read=False)
    attribute, value = attribute_of(statement_in(wording, speaker=record.actor), hints)
    if attribute is None and keeps_object:
        value = record.value
    return replace(record, attribute=attribute, value=value, object=object_, polarity=polarity)


def _screened(record: MemoryRecord, trust: TrustTier) -> MemoryRecord:
    """Return a reworded record; held back for review where its text gives orders to a model.

    A held back memory gives the value of no attribute. The person's own harmless wording ends the review of a memory.
    """
    by_person = trust is TrustTier.USER
    reason = instruction_shaped(record.content, spoken_by_user=by_person)
    provenance = replace(record.provenance, method="user", reason=reason or "edited by hand")
    if by_person:
        record = record.without_doubt()
    tags = record.tags
    if reason is not None or (by_person and record.kind is Kind.MEMORY):
        tags = tuple(tag for tag in tags if tag != QUARANTINED)
    if reason is None:
        return replace(record, tags=tags, provenance=provenance)
    return replace(
        record, tags=(QUARANTINED, *tags), provenance=provenance, attribute=None, value=None, object=None, polarity=0
    )


def _checked_text(text: str, policy: RedactionPolicy) -> str:
    redacted = redact(clean_text(text), policy) if isinstance(text, str) else None
    if redacted is not None and redacted.blocked:
        raise BlockedContentError("the new text holds what may not be stored: take it out, or change the redaction")
    if redacted is None or not (cleaned := redacted.text.strip()):
        raise InvalidInputError("the new text is blank: to remove a memory, delete it")
    if len(cleaned) > MAX_TEXT_LENGTH:
        raise TooLargeError(f"the new text is longer than {MAX_TEXT_LENGTH} characters: shorten it")
    return cleaned
