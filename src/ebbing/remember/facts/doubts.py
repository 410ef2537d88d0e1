"""Doubts: what was told before, and something that is said later may have changed, though nothing says so for certain.

To end a memory, a statement has to be understood (`domain.conflict.closing`). Most changes are told in passing: "first
day. office above a carpet shop". So little is asked here: it is said later by the same person, it is about the same
thing or the same matter, and it smells of change. A memory in doubt stays, and is not told as what holds now. Where it
is said again, the doubt is gone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from ebbing.domain.conflict.claim import Words
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import DOUBTED, QUARANTINED, MemoryRecord, MemoryType, Role
from ebbing.domain.memory.scope import Scope
from ebbing.language.claims.change_patterns import changes
from ebbing.language.claims.normalize_values import words_of
from ebbing.language.parsing.questions import others_in
from ebbing.language.parsing.subjects import content_of
from ebbing.language.patterns.rule_pack import Packs
from ebbing.language.signals.talk_signs import shows
from ebbing.language.text.analyzer import normalise
from ebbing.language.text.detect_language import detect
from ebbing.language.text.numbers import numbered
from ebbing.language.text.quotation import quoted_words
from ebbing.language.text.sentences import sentences
from ebbing.ports.stores.memory_store import Change, Insert, MemoryStore, Revise
from ebbing.privacy.guarding.trust import may_change
from ebbing.remember.facts.new_fact import KnownMemory, trust_of
from ebbing.remember.reconcile.candidates import known_before, owner_scope

REASON: Final = "something that was said later may have changed it"
_READ: Final = frozenset({"rule", "llm"})
"""What was read from a message may be over; what somebody wrote by hand or brought along is theirs to change."""
_SMELLS: Final = ("over", "changes", "permits", "asked_layout", "work", "home", "love", "school")
_MATTERS: Final = {
    "work": frozenset({"work", "job", "employer", "workplace", "position"}),
    "home": frozenset({"home", "residence"}),
    "love": frozenset({"relationship", "marital_status", "partner"}),
    "school": frozenset({"education", "school"}),
}
"""Tags and attributes of a matter that changes without a word in common, by the sign of its changes."""
_HEALTH: Final = frozenset({"health", "diet"})
_STAYS: Final = frozenset({"hometown", "birthday", "birth_year", "name", "age"})
"""Attributes that nothing said in passing changes."""
_MIN_SHARED: Final = 2
_NO_THING: Final = frozenset({"pleas", "thank", "听到", "看到", "知道", "听起"})
"""Stems, and pairs of characters, that name no thing."""
_PASTED: Final = re.compile(r"\s*【")
"""How a notice begins that somebody sent on: it is not about what they told."""
_MAX_CHARS: Final = 600
"""Characters of a message that are looked at."""


async def doubted_by_rules(
    store: MemoryStore,
    episodes: Sequence[Insert],
    *,
    scope: Scope,
    now: datetime,
    besides: Collection[str],
) -> dict[str, str]:
    """Return the id of the message by the id of each memory that it puts in doubt, without those `besides`."""
    doubted: dict[str, str] = {}
    for message in (episode.record for episode in episodes):
        text = _statements_in(message)
        if not any(shows(sign, text) for sign in _SMELLS):
            continue
        for memory in await known_before(store, message, scope=scope, now=now):
            memory_id = memory.record.id
            may_doubt = memory_id not in besides and outranks(message, memory.record)
            if may_doubt and puts_in_doubt(text, memory):
                doubted.setdefault(memory_id, message.id)
    return doubted


async def with_doubts(
    store: MemoryStore, changes: Sequence[Change], *, doubted: Mapping[str, str], scope: Scope
) -> list[Change]:
    """Return the changes, with those that note which memories are in doubt; a new one is in doubt from the start.

    Args:
        changes: what is to be written anyway.
        doubted: the id of the message by the id of the memory.
    """
    if not doubted:
        return list(changes)
    noted: list[Change] = []
    stored = dict(doubted)
    for change in changes:
        new = change
        if isinstance(change, Insert | Revise):
            message_id = stored.pop(change.record.id, None)
            if message_id is not None and isinstance(change, Insert):
                new = replace(change, record=_noted(change.record, message_id))
        noted.append(new)
    for record in await store.get(owner_scope(scope), list(stored)):
        if DOUBTED not in record.tags:
            revised = replace(_noted(record, doubted[record.id]), version=record.version + 1)
            noted.append(Revise(revised, Event.UPDATE, reason=REASON))
    return noted


def outranks(message: MemoryRecord, memory: MemoryRecord) -> bool:
    """Return whether the word that a message rests on may change a memory: a document changes nothing of the user's."""
    return may_change(trust_of(message), trust_of(memory))


def states_something(message: MemoryRecord) -> bool:
    """Return whether somebody states something in a message that is not held back."""
    return bool(_statements_in(message).strip())


def bears_on_health(record: MemoryRecord) -> bool:
    """Return whether a memory tells of health or of what may be eaten."""
    return not _HEALTH.isdisjoint(record.tags)


def puts_in_doubt(text: str, memory: KnownMemory) -> bool:
    """Return whether a message may have changed what a memory tells.

    What warns of harm is doubted only where the message names the whole thing, and says that it is over.
    """
    record = memory.record
    attribute = (record.attribute or "").rpartition(".")[2]
    if record.provenance.method not in _READ or attribute in _STAYS:
        return False
    if quoted_words(record.content) is not None:
        return False
    language = "zh" if detect(text) == "zh" else "en"
    content = _content(text, language)
    is_of_the_same = _is_of_the_same(text, memory, language=language)
    safety = memory.claim.about.safety
    if safety or bears_on_health(record):
        words = content | words_of(normalise(text), changes())
        is_named = bool(safety) and safety <= words
        return is_named and is_of_the_same and shows("over", text)
    shares = _shares(content, record, language=language)
    if _is_rule(record):
        return _may_lift(record, text, shares=shares)
    if not is_of_the_same:
        return False
    matters = {*record.tags, attribute}
    for sign, names in _MATTERS.items():
        if not names.isdisjoint(matters) and shows(sign, text):
            return True
    if record.type is MemoryType.PREFERENCE:
        return shares and shows("over", text)
    return shares and (shows("over", text) or shows("changes", text))


def _statements_in(message: MemoryRecord) -> str:
    """Return what somebody states, without their questions and conditions; nothing of what is held back."""
    if message.role is not Role.USER or QUARANTINED in message.tags or _PASTED.match(message.content):
        return ""
    read = sentences(message.content[:_MAX_CHARS])
    stated = (sentence.text for sentence in read if not sentence.asks)
    return "\n".join(text for text in stated if not shows("supposed", text))


def _content(text: str, language: str) -> Words:
    normal = normalise(text)
    words = words_of(normal, changes())
    return content_of(numbered(normal), words, language=language) - _NO_THING


def _shares(content: Words, record: MemoryRecord, *, language: str) -> bool:
    """Return whether a message speaks of a thing of the memory, or of two things of its sentence."""
    if not content.isdisjoint(_content(record.content, language)):
        return True
    sentence = record.provenance.source_text or ""
    return len(content & _content(sentence, language)) >= _MIN_SHARED


def _is_rule(record: MemoryRecord) -> bool:
    if record.type is MemoryType.PROCEDURAL:
        return True
    return "rule: " in record.content or "要求:" in record.content


def _may_lift(rule: MemoryRecord, text: str, *, shares: bool) -> bool:
    """Return whether a message may lift a rule: it allows its thing, or asks for answers of another layout.

    An exception lets the rule stand, and so does what is asked for once.
    """
    if shows("only", text) or shows("once", text):
        return False
    if shares and shows("permits", text):
        return True
    return shows("layout", rule.content) and shows("asked_layout", text)


def _is_of_the_same(text: str, memory: KnownMemory, *, language: str) -> bool:
    """Return whether a message may speak of whom the memory is about: it names them, or names nobody else."""
    subject, called = memory.claim.subject, memory.claim.called
    if subject:
        words = words_of(normalise(text), changes())
        return subject <= words or (bool(called) and called <= words)
    pack = Packs.load().by_language[language]
    if shows("self", text):
        return True
    return not (shows("others", text) or others_in(text, pack))


def _noted(record: MemoryRecord, message_id: str) -> MemoryRecord:
    return replace(record, tags=(*record.tags, DOUBTED), related_ids=(*record.related_ids, message_id))
