"""A memory as it was at a moment: the later changes of its history are taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from ebbing.domain.memory.history import Event, HistoryEntry
from ebbing.domain.memory.record import MemoryRecord


def as_it_was(record: MemoryRecord, history: Sequence[HistoryEntry], *, moment: datetime) -> MemoryRecord:
    """Return the record with the wording, the end of validity and the deletion that were known at `moment`.

    `history` is the record's own, oldest first. What no history is kept of (metadata, tags, strength, …) is as it is
    now.
    """
    changes = [entry for entry in history if entry.updated_at is not None]
    later = [entry for entry in changes if entry.updated_at and entry.updated_at > moment]
    if not later:
        return record
    earlier = changes[: len(changes) - len(later)]
    wordings = (entry.old_memory for entry in later if entry.old_memory is not None)
    was = replace(
        record, content=next(wordings, record.content), updated_at=earlier[-1].updated_at if earlier else None
    )
    if any(entry.event is Event.SUPERSEDE for entry in later):
        was = replace(was, valid_to=None, superseded_by=None)
    if turn := next((entry.event for entry in later if entry.event in {Event.MERGE, Event.SPLIT}), None):
        merges = [entry for entry in earlier if entry.event is Event.MERGE]
        retired = merges[-1].updated_at if turn is Event.SPLIT and merges else None
        was = replace(was, retired_at=retired, superseded_by=was.superseded_by if retired else None)
    return _with_deletion(was, earlier, later=later)


def _with_deletion(
    record: MemoryRecord, earlier: Sequence[HistoryEntry], *, later: Sequence[HistoryEntry]
) -> MemoryRecord:
    """Deleted or not as before the first later change of that."""
    turn = next((entry.event for entry in later if entry.event in {Event.DELETE, Event.RESTORE}), None)
    if turn is Event.DELETE:
        return replace(record, deleted_at=None, delete_reason=None)
    if turn is Event.RESTORE:
        deletion = next((entry for entry in reversed(earlier) if entry.event is Event.DELETE), None)
        return replace(record, deleted_at=deletion.updated_at if deletion else record.recorded_at)
    return record


def is_believed(record: MemoryRecord, moment: datetime) -> bool:
    """Return whether the record was known and valid, and neither expired, retired nor deleted, at `moment`.

    Ends do not belong to a span.
    """
    return (
        record.recorded_at <= moment
        and (record.deleted_at is None or record.deleted_at > moment)
        and (record.retired_at is None or record.retired_at > moment)
        and (record.valid_from is None or record.valid_from <= moment)
        and (record.valid_to is None or record.valid_to > moment)
        and (record.expires_at is None or record.expires_at > moment)
    )
