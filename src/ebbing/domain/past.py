"""What a memory was at a moment: undoes what its history tells of the time after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from ebbing.domain.events import Event, HistoryEntry
from ebbing.domain.record import MemoryRecord


def as_it_was(record: MemoryRecord, history: Sequence[HistoryEntry], moment: datetime) -> MemoryRecord:
    """The record with the wording, the end of validity and the deletion that were known at `moment`.

    `history` is the record's own, oldest first. What no history is kept of (metadata, tags, strength, …) is as it is
    now.
    """
    later = [told for told in history if told.updated_at is not None and told.updated_at > moment]
    if not later:
        return record
    wordings = (told.old_memory for told in later if told.old_memory is not None)
    earlier = [told.updated_at for told in history if told.updated_at is not None and told.updated_at <= moment]
    was = replace(record, content=next(wordings, record.content), updated_at=max(earlier, default=None))
    if any(told.event is Event.SUPERSEDE for told in later):
        was = replace(was, valid_to=None, superseded_by=None)
    turns = [told for told in later if told.event in {Event.DELETE, Event.RESTORE}]
    if turns and turns[0].event is Event.DELETE:
        was = replace(was, deleted_at=None, delete_reason=None)
    elif turns:
        gone = [told.updated_at for told in history if told.event is Event.DELETE and told not in later]
        was = replace(was, deleted_at=gone[-1] if gone else moment)
    return was


def is_believed(record: MemoryRecord, moment: datetime) -> bool:
    """Whether the record was known, valid, not expired and not deleted at `moment`; ends do not belong to a span."""
    return (
        record.recorded_at <= moment
        and (record.deleted_at is None or record.deleted_at > moment)
        and (record.valid_from is None or record.valid_from <= moment)
        and (record.valid_to is None or record.valid_to > moment)
        and (record.expires_at is None or record.expires_at > moment)
    )
