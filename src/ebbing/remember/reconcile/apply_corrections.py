"""A message that only puts the last one right becomes the last statement in the right words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.record import Kind, MemoryRecord, Role
from ebbing.domain.memory.scope import Scope
from ebbing.language.claims.corrections import Correction, correction_of, put_right
from ebbing.language.claims.whose_it_was import RightPerson, right_person_of
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.remember.intake.screening import ScreenedMessage
from ebbing.remember.reconcile.candidates import owner_scope

_RULE_ID: Final = "correction"
_MAX_MEMORIES: Final = 5
"""Memories, the newest first, among which a word that was wrong is looked for."""
_CONFIDENCE: Final = 0.9
_MAY_NAME: Final = re.compile(r"(?i)\b(?:my|our|not me|not mine|not I)\b|[是不][我俺咱]")
"""Without such words a message does not say of whom the last statement was."""


async def apply_self_corrections(
    store: MemoryStore, facts: Sequence[Fact], *, screened: Sequence[ScreenedMessage], scope: Scope
) -> tuple[Fact, ...]:
    """Return the facts; a message that says nothing but what a word should have been gives the statement that held it.

    The statement is looked for among the facts of the messages before it, which then were never so, and among what is
    known: there it names the memory that it puts right (`instead_of`).
    """
    corrected = list(facts)
    for index, (message, _, held_back) in enumerate(screened):
        if message.role is not Role.USER or held_back:
            continue
        earlier = [fact for fact in corrected if fact.source < index][-_MAX_MEMORIES:]
        person = right_person_of(message.content) if _MAY_NAME.search(message.content) else None
        correction = correction_of(message.content)
        right: tuple[Fact | None, Fact] | None = None
        if person is not None:
            right = await _told_of(person, earlier, store=store, scope=scope, speaker=message.name)
        elif correction is not None and earlier:
            right = _correct_fact(correction, earlier)
        elif correction is not None:
            right = await _correct_memory(store, correction, scope=scope)
        if right is None:
            continue
        wrong, fact = right
        corrected = [other for other in corrected if other is not wrong and other.source != index]
        corrected.append(replace(fact, source=index, source_text=message.content, sentence=None))
    return tuple(corrected)


async def _told_of(
    person: RightPerson, earlier: Sequence[Fact], *, store: MemoryStore, scope: Scope, speaker: str | None
) -> tuple[Fact | None, Fact] | None:
    """Return the one statement of the last message that is somebody else's, and the same told of them.

    Of two statements nobody could tell which one is meant.
    """
    speakers = (*([speaker] if speaker else ()), "User", "用户")
    if earlier:
        last = [fact for fact in earlier if fact.source == earlier[-1].source]
        moved = [(fact, text) for fact in last if (text := person.of(fact.reading or fact.text, speakers))]
        return (moved[0][0], _of_another(moved[0][0], moved[0][1])) if len(moved) == 1 else None
    page = await store.page(owner_scope(scope), limit=_MAX_MEMORIES)
    records = [
        (record, text)
        for record in page.records
        if record.superseded_by is None and record.role is Role.USER
        if (text := person.of(record.content, speakers)) and await _was_just_said(store, [record], scope=scope)
    ]
    if len(records) != 1:
        return None
    record, text = records[0]
    return None, replace(_of_another(_fact_of(record), text), instead_of=(record.id,))


def _of_another(fact: Fact, text: str) -> Fact:
    return replace(
        fact,
        text=text,
        attribute=None,
        value=None,
        object=None,
        polarity=0,
        reading=None,
        confidence=_CONFIDENCE,
        rule=_RULE_ID,
        corrects=True,
        tentative=False,
        understood=False,
    )


def _correct_fact(correction: Correction, facts: Sequence[Fact]) -> tuple[Fact, Fact] | None:
    """Return the fact of this call that is wrong, and what it should be."""
    for fact in reversed(facts):
        words = correction.of(fact.text, fact.object or fact.value)
        if words is not None:
            return fact, _in_the_right_words(fact, words)
        if correction.wrong is None:
            break
    return None


async def _correct_memory(store: MemoryStore, correction: Correction, *, scope: Scope) -> tuple[None, Fact] | None:
    """Return what a known memory should be: one of the last, and the very last where the wrong word is not named."""
    page = await store.page(owner_scope(scope), limit=_MAX_MEMORIES if correction.wrong else 1)
    if correction.wrong is None and not await _was_just_said(store, page.records, scope=scope):
        return None
    for record in page.records:
        words = correction.of(record.content, record.value)
        if words is not None and record.superseded_by is None and record.role is Role.USER:
            return None, replace(_in_the_right_words(_fact_of(record), words), instead_of=(record.id,))
    return None


async def _was_just_said(store: MemoryStore, records: Sequence[MemoryRecord], *, scope: Scope) -> bool:
    """Return whether a memory was read from the last message of the user."""
    page = await store.page(scope, kinds=(Kind.EPISODE,), limit=2)
    last = next((episode.content for episode in page.records if episode.role is Role.USER), "")
    return any((record.provenance.source_text or record.content) in last for record in records)


def _fact_of(record: MemoryRecord) -> Fact:
    return Fact(
        text=record.content,
        type=record.type,
        tags=record.tags,
        importance=record.importance,
        attribute=record.attribute,
        value=record.value,
        polarity=record.polarity,
        object=record.value if record.object else None,
    )


def _in_the_right_words(fact: Fact, words: tuple[str, str]) -> Fact:
    return replace(
        fact,
        text=put_right(fact.text, words),
        value=fact.value and put_right(fact.value, words),
        object=fact.object and put_right(fact.object, words),
        confidence=_CONFIDENCE,
        rule=_RULE_ID,
        corrects=True,
        tentative=False,
    )
