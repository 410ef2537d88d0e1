"""Changing, deleting and restoring one memory, on the caller's word."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from ebbing.domain.errors import (
    BlockedContentError,
    ConflictError,
    InvalidInputError,
    MemoryNotFoundError,
    TooLargeError,
)
from ebbing.domain.forgetting.curves import reinforce
from ebbing.domain.forgetting.stages import EXPIRED, PENDING_DELETION
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import RESERVED_TAGS, MemoryRecord, Stage
from ebbing.domain.memory.scope import Scope
from ebbing.language.claims.claims import attribute_of
from ebbing.language.text.analyzer import normalise
from ebbing.language.text.detect_language import detect
from ebbing.language.text.split_text import MAX_TEXT_LENGTH
from ebbing.language.text.text_compression import full_text
from ebbing.ports.memory_store import Erase, Insert, MemoryStore, Revise
from ebbing.privacy.redact import RedactionPolicy, redact
from ebbing.remember.add import Remembering
from ebbing.remember.facts.drafts import Draft
from ebbing.remember.facts.new_fact import told_of
from ebbing.remember.intake.parse_messages import clean_text
from ebbing.remember.reconcile.unmerge import take_apart, tellers_of
from ebbing.remember.vectors.embed_drafts import bare, embedded

NEVER: Final = "never"
RESTORED: Final = "restored on request"
ATTEMPTS: Final = 5
"""How often a change is tried again when somebody else changed the memory in between."""


@dataclass(frozen=True, slots=True)
class Edit:
    """What somebody changes of a memory by hand; None leaves it as it is."""

    text: str | None = None
    metadata: Mapping[str, Any] | None = None
    tags: Sequence[str] | None = None
    version: int | None = None
    """Only as long as the memory is of this version."""
    ends: datetime | str | None = None
    """From when on it appears in no answer; `NEVER` takes such an end away."""


async def update(using: Remembering, memory_id: str, *, scope: Scope, edit: Edit) -> MemoryRecord:
    """Gives a memory another text, other metadata or other tags; the same again writes nothing.

    Raises:
        InvalidInputError: nothing is given, or the text is blank.
        BlockedContentError: the redaction policy blocks the text.
        TooLargeError: the text is longer than 4,000 characters.
        ConflictError: it is of another version.
        MemoryNotFoundError: no such memory in this scope.
    """
    wording = None if edit.text is None else _checked_text(edit.text, using.policy.redaction)
    if wording is None and edit.metadata is None and edit.tags is None and edit.ends is None:
        raise InvalidInputError("give a text, metadata, tags or expires_at to update")

    async def change(old: MemoryRecord) -> Revise | None:
        if edit.version is not None and edit.version != old.version:
            raise ConflictError("the memory is of another version by now: read it again and retry")
        labelled = replace(
            old,
            metadata=old.metadata if edit.metadata is None else dict(edit.metadata),
            tags=old.tags if edit.tags is None else _with_tags(old.tags, edit.tags),
            expires_at=_end(old.expires_at, edit.ends),
        )
        reworded = wording is not None and wording != old.content
        if not reworded and labelled == old:
            return None
        record = replace(labelled, version=old.version + 1, updated_at=using.clock.now())
        if wording is None or not reworded:
            return Revise(record, Event.UPDATE, reason="metadata changed")
        record = replace(
            _reread(record, wording),
            provenance=replace(old.provenance, method="user", reason="edited by hand"),
        )
        insert: Insert = (await embedded(using.embedding, [Draft(record, utterance=old.is_verbatim)]))[0]
        await using.note_bare(bare([insert]), scope)
        return Revise(record, Event.UPDATE, entry=insert.entry, reason="edited by hand")

    return await _changed(using.store, memory_id, scope=scope, change=change)


def _end(before: datetime | None, wanted: datetime | str | None) -> datetime | None:
    if wanted is None:
        return before
    return wanted if isinstance(wanted, datetime) else None


async def delete(using: Remembering, memory_id: str, *, scope: Scope, reason: str | None, hard: bool) -> None:
    """Takes a memory out of every answer; `hard` removes it for good, else it can be restored.

    Raises:
        MemoryNotFoundError: no such memory in this scope, or already deleted.
    """
    if hard:
        old = await _voiced(using.store, await _the(using.store, memory_id, scope=scope, deleted=True), scope=scope)
        await _take_back(using.store, old, scope=scope)
        await using.store.write(scope, [Erase(memory_id)])
        return
    now = using.clock.now()

    async def change(old: MemoryRecord) -> Revise:
        record = replace(old, version=old.version + 1, updated_at=now, deleted_at=now, delete_reason=reason)
        return Revise(record, Event.DELETE, reason=reason or "deleted on request")

    await _changed(using.store, memory_id, scope=scope, change=change)


async def restore(using: Remembering, memory_id: str, *, scope: Scope) -> MemoryRecord:
    """Brings back a memory that was deleted or ran out, and what faded of one: its full text, its vector.

    What had faded counts as used now, so that it does not fade again at once.

    Raises:
        MemoryNotFoundError: no such memory in this scope.
        InvalidInputError: the memory is neither deleted nor faded.
    """

    async def change(old: MemoryRecord) -> Revise:
        if old.deleted_at is None and old.stage is Stage.FULL:
            raise InvalidInputError("this memory is neither deleted nor faded: there is nothing to restore")
        now = using.clock.now()
        record = replace(old, version=old.version + 1, updated_at=now, deleted_at=None, delete_reason=None)
        if old.delete_reason == EXPIRED:
            record = replace(record, expires_at=None)
        if old.stage is Stage.FULL:
            return Revise(record, Event.RESTORE, reason=RESTORED)
        whole = reinforce(_whole(record), now)
        insert: Insert = (await embedded(using.embedding, [Draft(whole, utterance=old.is_verbatim)]))[0]
        return Revise(whole, Event.RESTORE, entry=insert.entry, reason=RESTORED)

    return await _changed(using.store, memory_id, scope=scope, change=change, deleted=True)


def _whole(record: MemoryRecord) -> MemoryRecord:
    """The record as it was before it faded."""
    text = full_text(record)
    tags = tuple(tag for tag in record.tags if tag != PENDING_DELETION)
    return replace(record, content=text, stage=Stage.FULL, packed=None, tags=tags)


async def _changed(
    store: MemoryStore,
    memory_id: str,
    *,
    scope: Scope,
    change: Callable[[MemoryRecord], Awaitable[Revise | None]],
    deleted: bool = False,
) -> MemoryRecord:
    for attempt in range(ATTEMPTS):
        old = await _voiced(store, await _the(store, memory_id, scope=scope, deleted=deleted), scope=scope)
        revise = await change(old)
        if revise is None:
            return old
        if revise.event is not Event.RESTORE and not _says_the_same(old, revise.record):
            await _take_back(store, old, scope=scope)
        try:
            await store.write(scope, [revise])
        except ConflictError:
            if attempt == ATTEMPTS - 1:
                raise
            continue
        return revise.record
    raise AssertionError("the loop returns or raises")


async def _voiced(store: MemoryStore, record: MemoryRecord, *, scope: Scope) -> MemoryRecord:
    """The record as one that tells for itself: what is changed or deleted is not told by another any more."""
    if record.retired_at is None:
        return record
    await take_apart(store, await tellers_of(store, [record], scope=scope), scope=scope)
    return await _the(store, record.id, scope=scope, deleted=True)


async def _take_back(store: MemoryStore, record: MemoryRecord, *, scope: Scope) -> None:
    """Removes what was made of the record: it would still say what the record does not say any more."""
    tellers = [one for one in await tellers_of(store, [record], scope=scope) if one.id != record.id]
    await take_apart(store, tellers, scope=scope)


def _says_the_same(old: MemoryRecord, new: MemoryRecord) -> bool:
    return old.content == new.content and new.deleted_at is None


async def _the(store: MemoryStore, memory_id: str, *, scope: Scope, deleted: bool) -> MemoryRecord:
    found = await store.get(scope, [memory_id], deleted=deleted)
    if not found:
        raise MemoryNotFoundError("no memory with this id: check the id and whose it is")
    return found[0]


def _with_tags(old: Sequence[str], new: Sequence[str]) -> tuple[str, ...]:
    """The new tags beside those that a memory's own life set."""
    return (*(tag for tag in old if tag in RESERVED_TAGS), *new)


def _reread(record: MemoryRecord, wording: str) -> MemoryRecord:
    """The record in another wording, with what that says: it must not answer for the value that the old one gave."""
    record = replace(record, content=wording, language=detect(wording), stage=Stage.FULL, packed=None)
    if record.is_verbatim:
        return record
    keeps_object = bool(record.object and record.value) and normalise(record.value or "") in normalise(wording)
    object_, polarity = (record.object, record.polarity) if keeps_object else (None, 0)
    told = replace(told_of(record), attribute=None, value=None, object=None, polarity=0, known=False)
    attribute, value = attribute_of(wording, told)
    if attribute is None and keeps_object:
        value = record.value
    return replace(record, attribute=attribute, value=value, object=object_, polarity=polarity)


def _checked_text(text: str, policy: RedactionPolicy) -> str:
    redacted = redact(clean_text(text), policy) if isinstance(text, str) else None
    if redacted is not None and redacted.blocked:
        raise BlockedContentError("the new text holds what may not be stored: take it out, or change the redaction")
    if redacted is None or not (cleaned := redacted.text.strip()):
        raise InvalidInputError("the new text is blank: to remove a memory, delete it")
    if len(cleaned) > MAX_TEXT_LENGTH:
        raise TooLargeError(f"the new text is longer than {MAX_TEXT_LENGTH} characters: shorten it")
    return cleaned
