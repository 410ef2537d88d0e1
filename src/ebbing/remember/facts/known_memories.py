"""Known memories, each with the claim that it makes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from ebbing.domain.conflict.claim import Claim
from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import MemoryRecord
from ebbing.language.claims.claims import claim_of
from ebbing.language.text.caches import text_cache
from ebbing.language.text.quotation import quoted_words
from ebbing.remember.extraction.rule_extractor import extract
from ebbing.remember.facts.new_fact import KnownMemory, hints_from_fact, hints_from_record

_ANY_TIME: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""Dates are no part of what is compared."""


def known_memory(record: MemoryRecord, similarity: float = 0.0) -> KnownMemory:
    """Return a known memory with the claim that it makes.

    A quotation is compared by what the rules read from its words, as it was when it came in.
    """
    words = quoted_words(record.content)
    fact = None
    if words:
        rule = record.provenance.rule
        readings = _readings_of(words, rule, speaker=record.actor)
        fact = readings[0] if readings else None
        for reading in readings:
            if reading.attribute == record.attribute:
                fact = reading
                break
    return KnownMemory(record, _claim_of(record, fact), similarity)


def statement_in(text: str, *, speaker: str | None) -> str:
    """Return what a text states in the third person: of a quotation, what the rules read first from its words."""
    words = quoted_words(text)
    facts = extract([Message(words, name=speaker)], now=_ANY_TIME) if words else ()
    return (facts[0].reading or facts[0].text) if facts else text


def _claim_of(record: MemoryRecord, fact: Fact | None) -> Claim:
    if fact is None:
        return claim_of(record.content, hints_from_record(record))
    return claim_of(fact.reading or fact.text, hints_from_fact(fact, record.actor))


@text_cache(512)
def _readings_of(words: str, rule: str | None, *, speaker: str | None) -> Sequence[Fact]:
    """Return what the rule that a quotation was kept for reads from its words; nothing where only their wording spoke
    for them.
    """
    facts = extract([Message(words, name=speaker)], now=_ANY_TIME)
    read = (fact for fact in facts if fact.rule == rule)
    return [fact for fact in read if fact.reading is not None or quoted_words(fact.text) is None]
