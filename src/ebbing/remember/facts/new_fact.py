"""New facts, each with the memory that it would become and the claim that it makes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ebbing.domain.conflict.claim import Claim
from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.record import MemoryRecord, Role
from ebbing.language.claims.claims import StatementHints, claim_of
from ebbing.ports.stores.memory_store import Insert
from ebbing.privacy.guarding.trust import TrustTier, tier_of


@dataclass(frozen=True, slots=True)
class NewFact:
    """One fact on its way in."""

    fact: Fact
    insert: Insert
    """The memory that it would become, with its index entry."""
    claim: Claim

    @property
    def record(self) -> MemoryRecord:
        """The memory, without its index entry."""
        return self.insert.record


@dataclass(frozen=True, slots=True)
class KnownMemory:
    """A memory that may have to do with a fact."""

    record: MemoryRecord
    claim: Claim
    similarity: float = 0.0
    """Calibrated, in [0, 1]; 0 where there are no vectors."""


def to_new_fact(fact: Fact, insert: Insert) -> NewFact:
    """Return a fact with the memory that it would become and the claim that it makes.

    The memory gets the attribute that is compared: what is denied, or over, gives no value.
    """
    claim = claim_of(fact.reading or fact.text, hints_from_fact(fact, insert.record.actor))
    record = insert.record
    if record.attribute != claim.attribute:
        insert = replace(insert, record=replace(record, attribute=claim.attribute))
    return NewFact(fact, insert, claim)


def hints_from_record(record: MemoryRecord) -> StatementHints:
    """Return the hints that a memory gives about its own statement."""
    return StatementHints(
        type=record.type,
        tags=record.tags,
        attribute=record.attribute,
        value=record.value,
        object=record.value if record.object else None,
        polarity=record.polarity,
        speaker=record.actor,
        agent=record.role is Role.ASSISTANT,
        was_read=True,
    )


def hints_from_fact(fact: Fact, speaker: str | None) -> StatementHints:
    """Return the hints that a rule gives about a statement."""
    return StatementHints(
        type=fact.type,
        tags=fact.tags,
        attribute=fact.attribute,
        value=fact.value,
        object=fact.object,
        polarity=fact.polarity,
        ended=fact.ended,
        corrects=fact.corrects,
        source=fact.sentence or fact.source_text,
        speaker=speaker,
        agent=fact.about == "agent",
    )


def fact_as_known(fact: NewFact) -> KnownMemory:
    """Return a new fact as the facts after it see it: as a known memory."""
    claim = replace(fact.claim, changed=False, further=False, resumed=False)
    return KnownMemory(fact.record, claim)


def without_value(memory: KnownMemory) -> KnownMemory:
    """Return a memory that waits for review without its value and its endings."""
    return replace(memory, claim=replace(memory.claim, attribute=None, value=frozenset(), also=None, ends=()))


def trust_of(record: MemoryRecord) -> TrustTier:
    """Return the trust of a memory; where none is noted, the speaker's role decides."""
    if record.trust is not None:
        return TrustTier(record.trust)
    return (tier_of(record.role) if record.role else None) or TrustTier.USER
