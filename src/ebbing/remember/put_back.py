"""The record that an undo restores, with later changes to other fields kept."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, Final

from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import MemoryRecord
from ebbing.language.text.text_compression import full_text
from ebbing.ports.stores.change_log import RecordChange

_STANDING: Final = ("valid_from", "valid_to", "superseded_by", "retired_at", "deleted_at", "delete_reason")
"""Whether it counts, and what counts in its place."""
_LABELS: Final = (("tags",), ("metadata",), ("expires_at",))
_BOOKS: Final = ("layer", "importance", "strength", "growth", "last_accessed_at", "access_count")
"""What the upkeep and the uses of a memory change by the way: never a reason to leave it alone."""
_FADING: Final = ("content", "stage", "packed")
_APART: Final = {"id", "version", "updated_at", *_STANDING, *_BOOKS, *(name for group in _LABELS for name in group)}
_WORDING: Final = tuple(field.name for field in fields(MemoryRecord) if field.name not in _APART)
"""What it says and where that comes from."""


def is_changed_since(done: RecordChange) -> bool:
    """Return whether undoing would take something along that happened later.

    A memory that was inserted counts as changed when its words, labels or standing did. It does not when it faded, or
    was deleted since: then it is gone already.
    """
    if done.before is None:
        return done.now.deleted_at is None and any(
            _differs(done.after, done.now, group=group) for group in (_lasting(_WORDING), _STANDING, *_LABELS)
        )
    return any(
        _differs(done.before, done.after, group=group)
        and _differs(done.after, done.now, group=group)
        and _differs(done.before, done.now, group=group)
        for group in (_touched_wording(done), _STANDING, *_LABELS)
    )


def as_before(done: RecordChange) -> MemoryRecord:
    """Return the record of now with all that the change set changed as it was before it, in the next version."""
    before, after, now = done.before, done.after, done.now
    assert before is not None
    values: dict[str, Any] = {}
    for group in (_WORDING, _STANDING, *_LABELS):
        if _differs(before, after, group=group):
            values |= {name: getattr(before, name) for name in group}
    for name in (*_BOOKS, "updated_at"):
        was, then, since = (getattr(record, name) for record in (before, after, now))
        values[name] = was if since == then else since
    values["access_count"] = max(0, before.access_count + now.access_count - after.access_count)
    return replace(now, version=now.version + 1, **values)


def event_of(old: MemoryRecord, new: MemoryRecord) -> Event:
    """Return what the history says of a record that was put back."""
    if (old.deleted_at is None) != (new.deleted_at is None):
        return Event.DELETE if old.deleted_at is None else Event.RESTORE
    if (old.retired_at is None) != (new.retired_at is None):
        return Event.MERGE if old.retired_at is None else Event.SPLIT
    if old.valid_to is None and new.valid_to is not None:
        return Event.SUPERSEDE
    shown_fields = ("content", "valid_to", "tags", "metadata", "expires_at")
    return Event.UPDATE if _differs(old, new, group=shown_fields) else Event.NONE


def is_visible(done: RecordChange) -> bool:
    """Return whether a change is one that somebody would call a change of the memory."""
    if done.before is None:
        return False
    return any(
        _differs(done.before, done.after, group=group) for group in ((*_FADING, "valid_to"), _STANDING, *_LABELS)
    )


def is_current(record: MemoryRecord) -> bool:
    """Return whether it is neither deleted, retired nor closed."""
    return record.is_active and record.valid_to is None


def _touched_wording(done: RecordChange) -> tuple[str, ...]:
    """Return the wording, and how far it has faded only where the change set changed that."""
    faded = done.before is not None and done.before.stage is not done.after.stage
    return _WORDING if faded else _lasting(_WORDING)


def _lasting(group: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in group if name not in _FADING)


def _differs(record: MemoryRecord, other: MemoryRecord, *, group: tuple[str, ...]) -> bool:
    if any(getattr(record, name) != getattr(other, name) for name in group):
        return True
    is_wording = "provenance" in group
    return is_wording and full_text(record) != full_text(other)
