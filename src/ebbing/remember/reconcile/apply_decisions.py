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
from ebbing.ports.stores.memory_store import Change, Insert, Revise
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
    """Return the changes, in order, for one transaction; a fact may have several decisions, and a memory several
    changes.

    `wordings` holds the entries of texts for known memories that are not the fact's own.
    """
    batch = _Batch({candidate.record.id: candidate.record for candidate in candidates}, now=now, wordings=wordings)
    for fact, decision in decided:
        batch.carry_out(fact, decision)
    return batch.changes


@dataclass(slots=True)
class _Batch:
    latest: dict[str, MemoryRecord]
    """Each memory as the changes so far leave it."""
    now: datetime
    wordings: Mapping[str, IndexEntry | None]
    changes: list[Change] = field(default_factory=list)

    def carry_out(self, fact: NewFact, decision: Decision) -> None:
        if isinstance(decision, Ignore):
            return
        if isinstance(decision, Keep):
            self._note_source(fact, decision)
        elif isinstance(decision, Update):
            self._reword(fact, decision)
        else:
            self._insert(fact, decision)
        winner = decision.memory_id if isinstance(decision, Keep | Update) else fact.record.id
        for memory_id in closed_by(decision):
            self._close(memory_id, winner, since=fact.record.created_at, reason=decision.reason)

    def _insert(self, fact: NewFact, decision: Add | AddForReview | AddClosed | Supersede) -> None:
        record = fact.record
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
        self.changes.append(Insert(record, fact.insert.entry, reason=decision.reason))

    def _close(self, memory_id: str, winner: str, *, since: datetime, reason: str) -> None:
        old = self.latest[memory_id]
        ends = min(max(since, old.created_at), self.now)
        self._revise(old, Event.SUPERSEDE, reason=reason, valid_to=ends, superseded_by=winner)

    def _note_source(self, fact: NewFact, decision: Keep) -> None:
        memory = self.latest[decision.memory_id]
        sources = _merged(memory, fact.record)
        if sources != memory.provenance.source_ids or not fact.record.provenance.source_ids:
            provenance = replace(memory.provenance, source_ids=sources)
            self._revise(
                memory, Event.NONE, reason=decision.reason, provenance=provenance, **_said_again(memory, fact.record)
            )

    def _reword(self, fact: NewFact, decision: Update) -> None:
        memory, new = self.latest[decision.memory_id], fact.record
        values: dict[str, Any] = {
            name: getattr(new, name) for name in ("language", "attribute", "value", "object", "polarity")
        }
        values |= {} if decision.reason == EDITED else _said_again(memory, new)
        values |= {"content": decision.text, "stage": Stage.FULL, "packed": None}
        values["provenance"] = replace(new.provenance, source_ids=_merged(memory, new), reason=decision.reason)
        values["confidence"] = max(memory.confidence, new.confidence)
        values["importance"] = max(memory.importance, new.importance)
        own = fact.insert.entry if decision.text == new.content else self.wordings.get(decision.text)
        entry = _entry_of(memory, own, text=decision.text)
        self._revise(memory, Event.UPDATE, entry=entry, reason=decision.reason, updated_at=self.now, **values)

    def _revise(
        self, old: MemoryRecord, event: Event, *, entry: IndexEntry | None = None, reason: str, **values: Any
    ) -> None:
        record = replace(old, version=old.version + 1, **values)
        self.latest[old.id] = record
        self.changes.append(Revise(record, event, entry=entry, reason=reason))


def _said_again(memory: MemoryRecord, new: MemoryRecord) -> dict[str, Any]:
    """Return how often and since when a thing is said that was just said once more, and is in doubt no longer."""
    sure = memory.without_doubt()
    return {
        "mentions": memory.mentions + 1,
        "first_said_at": min(memory.first_said_at or memory.created_at, new.created_at),
        "tags": sure.tags,
        "related_ids": sure.related_ids,
    }


def _merged(memory: MemoryRecord, new: MemoryRecord) -> tuple[str, ...]:
    ids = tuple(dict.fromkeys((*memory.provenance.source_ids, *new.provenance.source_ids)))
    return ids if len(ids) <= MAX_SOURCES else (ids[0], *ids[1 - MAX_SOURCES :])


def _entry_of(memory: MemoryRecord, new: IndexEntry | None, *, text: str) -> IndexEntry:
    """Return the entry of another wording under the known memory's own date, with the vector that the wording has."""
    analysis = analyse(text, speaker=memory.actor, said_at=memory.said_at)
    if new is None:
        return entry_for(analysis)
    return entry_for(analysis, vector=new.vector, model_id=new.model_id)
