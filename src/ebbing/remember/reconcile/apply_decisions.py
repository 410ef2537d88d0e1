"""Decisions become changes of the store: new memories, closed ones, better wordings, more sources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from ebbing.domain.conflict.decision import (
    Add,
    AddClosed,
    AddForReview,
    Decision,
    Ignore,
    Keep,
    Supersede,
    Update,
    closed_by,
)
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import NEEDS_REVIEW, MemoryRecord, Stage
from ebbing.index.index_entry import IndexEntry, entry_for
from ebbing.language.text.analyzer import analyse
from ebbing.ports.memory_store import Change, Insert, Revise
from ebbing.remember.facts.new_fact import KnownMemory, NewFact
from ebbing.remember.reconcile.known_messages import EDITED

MAX_SOURCES: Final = 100
"""Messages that one memory names; of more, the first and the latest."""


def to_changes(
    decided: Iterable[tuple[NewFact, Decision]],
    *,
    candidates: Iterable[KnownMemory],
    now: datetime,
    wordings: Mapping[str, IndexEntry | None],
) -> list[Change]:
    """The changes, in order, for one transaction; a fact may have several decisions, and a memory several changes.

    `wordings` holds the entries of texts for known memories that are not the fact's own.
    """
    batch = _Batch({one.record.id: one.record for one in candidates}, now=now, wordings=wordings)
    for heard, decision in decided:
        batch.carry_out(heard, decision)
    return batch.changes


@dataclass(slots=True)
class _Batch:
    latest: dict[str, MemoryRecord]
    """Each memory as the changes so far leave it."""
    now: datetime
    wordings: Mapping[str, IndexEntry | None]
    changes: list[Change] = field(default_factory=list)

    def carry_out(self, heard: NewFact, decision: Decision) -> None:
        if isinstance(decision, Ignore):
            return
        if isinstance(decision, Keep):
            self._note_source(heard, decision)
        elif isinstance(decision, Update):
            self._reword(heard, decision)
        else:
            self._insert(heard, decision)
        winner = decision.memory_id if isinstance(decision, Keep | Update) else heard.record.id
        for memory_id in closed_by(decision):
            self._close(memory_id, winner, since=heard.record.created_at, reason=decision.reason)

    def _insert(self, heard: NewFact, decision: Add | AddForReview | AddClosed | Supersede) -> None:
        record = heard.record
        if record.id in self.latest:
            return
        provenance = replace(record.provenance, reason=decision.reason)
        record = replace(record, provenance=provenance, related_ids=closed_by(decision))
        if isinstance(decision, Supersede):
            record = replace(record, valid_from=min(record.created_at, self.now))
        if isinstance(decision, Add | Supersede) and not decision.is_the_value:
            record = replace(record, attribute=None)
        if isinstance(decision, AddForReview):
            tags = (*record.tags, NEEDS_REVIEW)
            record = replace(record, attribute=None, tags=tags, related_ids=decision.memory_ids)
        if isinstance(decision, AddClosed):
            newer = self.latest[decision.memory_id]
            ends = max(newer.created_at, record.created_at)
            record = replace(record, valid_to=min(ends, self.now), superseded_by=newer.id, related_ids=(newer.id,))
        self.latest[record.id] = record
        self.changes.append(Insert(record, heard.insert.entry, reason=decision.reason))

    def _close(self, memory_id: str, winner: str, *, since: datetime, reason: str) -> None:
        old = self.latest[memory_id]
        ends = min(max(since, old.created_at), self.now)
        self._revise(old, Event.SUPERSEDE, reason=reason, valid_to=ends, superseded_by=winner)

    def _note_source(self, heard: NewFact, decision: Keep) -> None:
        known = self.latest[decision.memory_id]
        sources = _merged(known, heard.record)
        if sources != known.provenance.source_ids or not heard.record.provenance.source_ids:
            provenance = replace(known.provenance, source_ids=sources)
            self._revise(
                known, Event.NONE, reason=decision.reason, provenance=provenance, **_said_again(known, heard.record)
            )

    def _reword(self, heard: NewFact, decision: Update) -> None:
        known, new = self.latest[decision.memory_id], heard.record
        values: dict[str, Any] = {
            name: getattr(new, name) for name in ("language", "attribute", "value", "object", "polarity")
        }
        values |= {} if decision.reason == EDITED else _said_again(known, new)
        values |= {"content": decision.text, "stage": Stage.FULL, "packed": None}
        values["provenance"] = replace(new.provenance, source_ids=_merged(known, new), reason=decision.reason)
        values["confidence"] = max(known.confidence, new.confidence)
        values["importance"] = max(known.importance, new.importance)
        own = heard.insert.entry if decision.text == new.content else self.wordings.get(decision.text)
        entry = _entry_of(known, own, text=decision.text)
        self._revise(known, Event.UPDATE, entry=entry, reason=decision.reason, updated_at=self.now, **values)

    def _revise(
        self, old: MemoryRecord, event: Event, *, entry: IndexEntry | None = None, reason: str, **values: Any
    ) -> None:
        record = replace(old, version=old.version + 1, **values)
        self.latest[old.id] = record
        self.changes.append(Revise(record, event, entry=entry, reason=reason))


def _said_again(known: MemoryRecord, new: MemoryRecord) -> dict[str, Any]:
    """How often and since when a thing is said that was just said once more."""
    return {
        "mentions": known.mentions + 1,
        "first_said_at": min(known.first_said_at or known.created_at, new.created_at),
    }


def _merged(known: MemoryRecord, new: MemoryRecord) -> tuple[str, ...]:
    ids = tuple(dict.fromkeys((*known.provenance.source_ids, *new.provenance.source_ids)))
    return ids if len(ids) <= MAX_SOURCES else (ids[0], *ids[1 - MAX_SOURCES :])


def _entry_of(known: MemoryRecord, new: IndexEntry | None, *, text: str) -> IndexEntry:
    """The entry of another wording under the known memory's own date, with the vector that the wording has."""
    analysis = analyse(text, speaker=known.actor, said_at=known.created_at)
    if new is None:
        return entry_for(analysis)
    return entry_for(analysis, vector=new.vector, model_id=new.model_id)
