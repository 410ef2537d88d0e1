"""Records before they are stored: what was said, and what was concluded from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ebbing.domain.decision import Add
from ebbing.domain.message import Message
from ebbing.domain.record import Kind, MemoryRecord, MemoryType, Provenance
from ebbing.domain.scope import Scope
from ebbing.language.detect import detect
from ebbing.language.split import split_text
from ebbing.ports.ids import Ids


@dataclass(frozen=True, slots=True)
class Draft:
    """A record that waits for its vector."""

    record: MemoryRecord
    utterance: bool
    """It is a message as it was said."""
    once: bool = False
    """The message has an id of the caller's, under which it is stored once only."""
    reason: str | None = None


def message_drafts(
    messages: Sequence[Message], *, scope: Scope, metadata: Mapping[str, Any], kind: Kind, now: datetime, ids: Ids
) -> list[Draft]:
    """One draft a message; a message over 4,000 characters makes several, split where a sentence ends.

    Part n of a message with an id is named `id#n` beside the id itself.
    """
    return [
        _utterance(message, part, number=number, scope=scope, metadata=metadata, kind=kind, now=now, new_id=ids.new())
        for message in messages
        for number, part in enumerate(split_text(message.content), start=1)
    ]


def fact_draft(
    decision: Add, message: Message, *, scope: Scope, metadata: Mapping[str, Any], now: datetime, ids: Ids
) -> Draft:
    """The memory that a decision to add makes of a fact."""
    fact = decision.fact
    record = MemoryRecord(
        id=ids.new(),
        whose=scope,
        content=fact.text,
        created_at=message.timestamp or now,
        recorded_at=now,
        type=fact.type,
        actor=message.name,
        role=message.role,
        tags=fact.tags,
        metadata=dict(metadata),
        language=detect(fact.text),
        importance=fact.importance,
        confidence=fact.confidence,
        provenance=Provenance(
            source_ids=(message.id,) if message.id else (),
            source_text=fact.source_text,
            method="rule",
            rule=fact.rule,
            reason=decision.reason,
        ),
    )
    return Draft(record, utterance=False, reason=decision.reason)


def _utterance(
    message: Message,
    text: str,
    *,
    number: int,
    scope: Scope,
    metadata: Mapping[str, Any],
    kind: Kind,
    now: datetime,
    new_id: str,
) -> Draft:
    source_ids: tuple[str, ...] = ()
    if message.id is not None:
        source_ids = (message.id,) if number == 1 else (f"{message.id}#{number}", message.id)
    record = MemoryRecord(
        id=new_id,
        whose=scope,
        content=text,
        created_at=message.timestamp or now,
        recorded_at=now,
        kind=kind,
        type=MemoryType.EPISODIC,
        actor=message.name,
        role=message.role,
        metadata=dict(metadata),
        language=detect(text),
        provenance=Provenance(source_ids=source_ids, method="raw"),
    )
    return Draft(record, utterance=True, once=bool(source_ids), reason="stored as said")
