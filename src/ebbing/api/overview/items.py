"""Records and their freshness as people see them."""

from __future__ import annotations

from datetime import datetime
from typing import cast

from ebbing.api.answers.items import memory_item
from ebbing.domain.forgetting.freshness import freshness_of
from ebbing.domain.forgetting.policy import UpkeepPolicy
from ebbing.domain.memory.record import MemoryRecord
from ebbing.results import BrowsedItem, Freshness


def freshness_item(record: MemoryRecord, now: datetime, *, policy: UpkeepPolicy) -> Freshness:
    """Return where a memory stands on its curve."""
    fresh = freshness_of(record, now, curve=policy.curve, has_room=policy.owner_text_limit_bytes > 0)
    return {
        "retention": round(fresh.retention, 4),
        "never_fades": fresh.never_fades,
        "since": fresh.since.isoformat(),
        "stability_days": round(fresh.stability_days, 3),
        "fades_at": iso(fresh.fades_at),
        "stage_at": {str(stage): at.isoformat() for stage, at in fresh.stage_at.items()},
    }


def browsed_item(record: MemoryRecord, now: datetime, *, policy: UpkeepPolicy) -> BrowsedItem:
    """Return a memory with how fresh it is and what became of it."""
    item = cast(BrowsedItem, memory_item(record))
    item["freshness"] = freshness_item(record, now, policy=policy)
    item["access_count"] = record.access_count
    item["last_accessed_at"] = iso(record.last_accessed_at)
    if record.deleted_at is not None:
        item["deleted_at"] = record.deleted_at.isoformat()
        item["delete_reason"] = record.delete_reason
    if record.superseded_by is not None:
        item["superseded_by"] = record.superseded_by
    return item


def iso(at: datetime | None) -> str | None:
    """Return a moment as ISO 8601 text."""
    return at.isoformat() if at is not None else None
