"""Records before they are stored: what was said, and what was concluded from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.history import STORED_AS_SAID
from ebbing.domain.memory.record import (
    QUARANTINED,
    USUAL_IMPORTANCE,
    Kind,
    MemoryRecord,
    MemoryType,
    Provenance,
    type_of_tags,
)
from ebbing.domain.memory.scope import Scope
from ebbing.language.claims.claims import attribute_of, polarity_of
from ebbing.language.claims.normalize_values import object_key
from ebbing.language.text.detect_language import detect
from ebbing.language.text.sentences import split_text
from ebbing.ports.ids import Ids
from ebbing.remember.facts.evidence import literal_span
from ebbing.remember.facts.new_fact import hints_from_fact
from ebbing.remember.intake.screening import ScreenedMessage

AFTER_EACH_OTHER: Final = timedelta(microseconds=1)
"""Between messages of one call that have no time of their own: a later one can change what an earlier one told."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A record that waits for its vector."""

    record: MemoryRecord
    utterance: bool
    """It is a message as it was said."""
    once: bool = False
    """The message has an id of the caller's, under which it is stored once only."""
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class DraftContext:
    """The fields that all records of one call share, and the source of their ids."""

    scope: Scope
    metadata: Mapping[str, Any]
    now: datetime
    ids: Ids = field(kw_only=True)
    tags: tuple[str, ...] = ()
    expires_at: datetime | None = None
    importance: float = USUAL_IMPORTANCE
    """Of memories that are stored as they are; facts are weighed by their text."""


def message_drafts(messages: Sequence[ScreenedMessage], *, kind: Kind, context: DraftContext) -> list[Draft]:
    """Return one draft a message; a message over 4,000 characters makes several, split where a sentence ends.

    Part n of a message with an id is named `id#n` beside the id itself.
    """
    drafts: list[Draft] = []
    for place, source in enumerate(messages):
        for number, part in enumerate(split_text(source.message.content), start=1):
            drafts.append(_utterance(source, part, place=place, number=number, kind=kind, context=context))
    return drafts


def fact_draft(fact: Fact, source: ScreenedMessage, *, context: DraftContext) -> Draft:
    """Return the memory that a fact would become."""
    message, language = source.message, detect(fact.text)
    statement = fact.reading or fact.text
    attribute, value = attribute_of(statement, hints_from_fact(fact, message.name))
    record = MemoryRecord(
        id=context.ids.new(),
        belongs_to=context.scope,
        content=fact.text,
        created_at=(message.timestamp or context.now + fact.source * AFTER_EACH_OTHER).astimezone(UTC),
        recorded_at=context.now,
        utc_offset_minutes=message.utc_offset_minutes,
        type=fact.type,
        actor=message.name,
        role=message.role,
        tags=(*fact.tags, *(tag for tag in context.tags if tag not in fact.tags)),
        metadata=dict(context.metadata),
        expires_at=context.expires_at,
        language=language,
        attribute=attribute,
        value=value if attribute else fact.object or value,
        object=object_key(fact.object, language) if fact.polarity else None,
        polarity=polarity_of(statement, fact.polarity),
        trust=source.tier,
        importance=fact.importance,
        confidence=fact.confidence,
        provenance=Provenance(
            source_ids=(message.id,) if message.id else (),
            source_text=literal_span(fact.source_text, message.content),
            method=fact.method,
            rule=fact.rule,
        ),
    )
    return Draft(record, utterance=False)


def _utterance(
    source: ScreenedMessage, text: str, *, place: int, number: int, kind: Kind, context: DraftContext
) -> Draft:
    message = source.message
    source_ids: tuple[str, ...] = ()
    if message.id is not None:
        source_ids = (message.id,) if number == 1 else (f"{message.id}#{number}", message.id)
    held_back = kind is Kind.EPISODE and source.held_back is not None
    record = MemoryRecord(
        id=context.ids.new(),
        belongs_to=context.scope,
        content=text,
        created_at=(message.timestamp or context.now + place * AFTER_EACH_OTHER).astimezone(UTC),
        recorded_at=context.now,
        utc_offset_minutes=message.utc_offset_minutes,
        kind=kind,
        type=type_of_tags(context.tags) if kind is Kind.MEMORY else MemoryType.EPISODIC,
        actor=message.name,
        role=message.role,
        tags=(QUARANTINED, *context.tags) if held_back else context.tags,
        metadata=dict(context.metadata),
        expires_at=context.expires_at,
        language=detect(text),
        trust=source.tier,
        importance=context.importance,
        provenance=Provenance(source_ids=source_ids, method="raw", reason=source.held_back if held_back else None),
    )
    return Draft(record, utterance=True, once=bool(source_ids), reason=STORED_AS_SAID)
