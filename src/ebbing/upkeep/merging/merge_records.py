"""One record for many that say the same: what it holds, and how the others step behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import Any, Final

from ebbing.domain.forgetting.stages import times_said
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import Layer, MemoryRecord, Stage
from ebbing.language.dates.resolve import absolute
from ebbing.ports.stores.memory_store import Revise
from ebbing.upkeep.merging.mergeable import bytes_of, said_order, size_of

MAX_TOLD: Final = 200
"""Records that one tells directly; beyond that it becomes itself one of those that the next one tells."""
MAX_NAMED: Final = 100
"""Ids of messages, tags and related memories that one record names; of more, the first and the latest."""
LASTING: Final = 3
"""What was said so often belongs to the long term."""


@dataclass(frozen=True, slots=True)
class MergeResult:
    """What a cluster becomes."""

    record: MemoryRecord
    existing: MemoryRecord | None
    """The record as it was, where it was there before and tells more now."""
    behind: tuple[MemoryRecord, ...]
    """The records that it tells from now on, as they are stored."""
    source: MemoryRecord
    """The record whose words it has."""

    @property
    def saved_bytes(self) -> int:
        """Readable bytes less than before; never below 0."""
        before = bytes_of(self.behind) + (size_of(self.existing.content) if self.existing else 0)
        return before - size_of(self.record.content)


def merge_cluster(records: Sequence[MemoryRecord], lead: MemoryRecord, *, new_id: str, now: datetime) -> MergeResult:
    """The record that tells all of these in the wording of `lead`, which is one of them.

    If one of them was made by merging and has room, it stays and grows; else a new one is made. It has the highest
    importance, the newest time, and how often and since when the thing was said.
    """
    ordered = sorted(records, key=said_order)
    room = MAX_TOLD - len(ordered)
    tellers = [member for member in ordered if member.is_compressed and len(member.compression_sources) < room]
    existing = tellers[0] if len(tellers) == 1 else None
    behind = tuple(member for member in ordered if member is not existing)
    newest, ids = ordered[-1], tuple(member.id for member in behind)
    values = _together(ordered) | _wording(lead, newest=newest, room=bytes_of(ordered))
    if existing is not None:
        sources = (*existing.compression_sources, *ids)
        record = replace(
            existing, version=existing.version + 1, compression_sources=sources, belongs_to=newest.belongs_to, **values
        )
    else:
        record = replace(
            newest, id=new_id, version=1, recorded_at=now, compression_sources=ids, is_compressed=True, **values
        )
    return MergeResult(record, existing, behind, lead)


def retire_into(record: MemoryRecord, teller: str, *, now: datetime, reason: str) -> Revise:
    """The change that takes a record out of the answers because another one tells it."""
    retired = replace(record, version=record.version + 1, retired_at=now, superseded_by=teller)
    return Revise(retired, Event.MERGE, reason=reason)


def _wording(lead: MemoryRecord, *, newest: MemoryRecord, room: int) -> dict[str, Any]:
    """The text with what was read from it, and when it was said last.

    A day that the text names by a word ("yesterday") is written out where the word would mean another one by the time
    of the newest telling; where that takes more than `room` bytes, the time stays that of the words.
    """
    text, last = lead.content, newest
    dated = absolute(text, now=lead.said_at)
    if dated != absolute(text, now=newest.said_at):
        text, last = (dated, newest) if size_of(dated) < room else (text, lead)
    names = ("language", "attribute", "value", "object", "polarity", "actor", "role")
    times = {"created_at": last.created_at, "utc_offset_minutes": last.utc_offset_minutes}
    return {"content": text, **times, **{name: getattr(lead, name) for name in names}}


def _together(ordered: Sequence[MemoryRecord]) -> dict[str, Any]:
    newest = ordered[-1]
    each = {name: [getattr(record, name) for record in ordered] for name in _SUMMED_UP}
    mentions = sum(each["mentions"])
    lasts = times_said(replace(newest, mentions=mentions)) >= LASTING or Layer.LONG_TERM in each["layer"]
    source_ids = _few(name for record in ordered for name in record.provenance.source_ids)
    return {
        **{name: max(each[name]) for name in ("importance", "confidence", "strength", "growth")},
        "first_said_at": min(record.first_said_at or record.created_at for record in ordered),
        "mentions": mentions,
        "layer": Layer.LONG_TERM if lasts else newest.layer,
        "stage": Stage.FULL if Stage.FULL in each["stage"] else Stage.KEYWORD_ONLY,
        "access_count": sum(each["access_count"]),
        "last_accessed_at": max(filter(None, each["last_accessed_at"]), default=None),
        "expires_at": _if_all(max, each["expires_at"]),
        "valid_from": _if_all(min, each["valid_from"]),
        "tags": _few(chain.from_iterable(each["tags"])),
        "related_ids": _few(chain.from_iterable(each["related_ids"])),
        "metadata": _shared(each["metadata"]),
        "provenance": replace(newest.provenance, source_ids=source_ids, reason=f"it was said {mentions} times"),
    }


_SUMMED_UP: Final = (
    *("importance", "confidence", "strength", "growth", "mentions", "layer", "stage", "access_count"),
    *("last_accessed_at", "expires_at", "valid_from", "tags", "related_ids", "metadata"),
)


def _if_all(pick: Callable[[Iterable[datetime]], datetime], moments: Sequence[datetime | None]) -> datetime | None:
    """The earliest or latest of some moments; None if one is missing, which means "for ever"."""
    known_moments = [moment for moment in moments if moment is not None]
    return pick(known_moments) if len(known_moments) == len(moments) else None


def _few(names: Iterable[str]) -> tuple[str, ...]:
    distinct = tuple(dict.fromkeys(names))
    return distinct if len(distinct) <= MAX_NAMED else (distinct[0], *distinct[-(MAX_NAMED - 1) :])


def _shared(all_metadata: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What every record's metadata says alike; a source keeps the rest."""
    shared = dict(all_metadata[0])
    for metadata in all_metadata[1:]:
        shared = {name: value for name, value in shared.items() if name in metadata and metadata[name] == value}
    return shared
