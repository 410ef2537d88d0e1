"""Records before they are stored: what was said, and what was concluded from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from ebbing.domain.decision import Fact
from ebbing.domain.record import Kind, MemoryRecord, MemoryType, Provenance
from ebbing.domain.scope import Scope
from ebbing.language.claims import attribute_of, polarity_of
from ebbing.language.detect import detect
from ebbing.language.split import split_text
from ebbing.language.values import object_key
from ebbing.ports.ids import Ids
from ebbing.remember.heard import told_by
from ebbing.remember.screen import Screened

QUARANTINED: Final = "quarantined"
"""Tag of an episode that speaks like an order to the model: nothing is learnt from it until somebody reviews it."""

_TYPES: Final = {
    "preference": MemoryType.PREFERENCE,
    "dislike": MemoryType.PREFERENCE,
    "constraint": MemoryType.CONSTRAINT,
    "fact": MemoryType.FACT,
    "identity": MemoryType.FACT,
}


@dataclass(frozen=True, slots=True)
class Draft:
    """A record that waits for its vector."""

    record: MemoryRecord
    utterance: bool
    """It is a message as it was said."""
    once: bool = False
    """The message has an id of the caller's, under which it is stored once only."""
    reason: str | None = None
    fresh: bool = False
    """Its id was drawn for it."""


@dataclass(frozen=True, slots=True)
class Drafting:
    """What all records of one call share."""

    scope: Scope
    metadata: Mapping[str, Any]
    now: datetime
    ids: Ids
    tags: tuple[str, ...] = ()
    expires_at: datetime | None = None


def message_drafts(messages: Sequence[Screened], *, kind: Kind, drafting: Drafting) -> list[Draft]:
    """One draft a message; a message over 4,000 characters makes several, split where a sentence ends.

    Part n of a message with an id is named `id#n` beside the id itself.
    """
    return [
        _utterance(one, part, number=number, kind=kind, drafting=drafting)
        for one in messages
        for number, part in enumerate(split_text(one.message.content), start=1)
    ]


def fact_draft(fact: Fact, source: Screened, *, drafting: Drafting) -> Draft:
    """The memory that a fact would become."""
    message, language = source.message, detect(fact.text)
    attribute, value = attribute_of(fact.text, told_by(fact, message.name))
    record = MemoryRecord(
        id=drafting.ids.new(),
        whose=drafting.scope,
        content=fact.text,
        created_at=message.timestamp or drafting.now,
        recorded_at=drafting.now,
        type=fact.type,
        actor=message.name,
        role=message.role,
        tags=(*fact.tags, *(tag for tag in drafting.tags if tag not in fact.tags)),
        metadata=dict(drafting.metadata),
        expires_at=drafting.expires_at,
        language=language,
        attribute=attribute,
        value=value if attribute else fact.object or value,
        object=object_key(fact.object, language) if fact.polarity else None,
        polarity=polarity_of(fact.text, fact.polarity),
        trust=source.tier,
        importance=fact.importance,
        confidence=fact.confidence,
        provenance=Provenance(
            source_ids=(message.id,) if message.id else (),
            source_text=fact.source_text,
            method=fact.method,
            rule=fact.rule,
        ),
    )
    return Draft(record, utterance=False, fresh=True)


def _type_of(tags: Sequence[str]) -> MemoryType:
    """The type that the first well-known tag names."""
    return next((_TYPES[tag] for tag in tags if tag in _TYPES), MemoryType.EPISODIC) if tags else MemoryType.EPISODIC


def _utterance(source: Screened, text: str, *, number: int, kind: Kind, drafting: Drafting) -> Draft:
    message = source.message
    source_ids: tuple[str, ...] = ()
    if message.id is not None:
        source_ids = (message.id,) if number == 1 else (f"{message.id}#{number}", message.id)
    held_back = kind is Kind.EPISODE and source.held_back is not None
    record = MemoryRecord(
        id=drafting.ids.new(),
        whose=drafting.scope,
        content=text,
        created_at=message.timestamp or drafting.now,
        recorded_at=drafting.now,
        kind=kind,
        type=_type_of(drafting.tags) if kind is Kind.MEMORY else MemoryType.EPISODIC,
        actor=message.name,
        role=message.role,
        tags=(QUARANTINED, *drafting.tags) if held_back else drafting.tags,
        metadata=dict(drafting.metadata),
        expires_at=drafting.expires_at,
        language=detect(text),
        trust=source.tier,
        provenance=Provenance(source_ids=source_ids, method="raw", reason=source.held_back if held_back else None),
    )
    return Draft(record, utterance=True, once=bool(source_ids), reason="stored as said", fresh=True)
