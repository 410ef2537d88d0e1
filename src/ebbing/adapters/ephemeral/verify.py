"""Compares everything in RAM that was derived with what it was derived from."""

from __future__ import annotations

from collections.abc import Iterable

from ebbing.adapters.ephemeral.owner_rows import Kept
from ebbing.adapters.system.entry_consistency import agrees
from ebbing.language.text.text_compression import full_text


def findings(kept: Iterable[Kept]) -> list[str]:
    """What does not agree, as sentences without personal text."""
    rows = list(kept)
    missing = sum(row.entry is None and row.record.is_active for row in rows)
    stale = sum(not _agrees(row) for row in rows)
    return [
        *([f"{missing} records have no index entry"] if missing else []),
        *([f"{stale} index entries do not say what their records say: rebuild the index"] if stale else []),
    ]


def _agrees(row: Kept) -> bool:
    entry, record = row.entry, row.record
    if entry is None:
        return True
    stored = (entry.length, entry.flags, entry.numbers, entry.terms.tobytes())
    return agrees(stored, content=full_text(record), actor=record.actor, created_at=record.created_at)
