"""A profile as it is shown: with what holds for everybody, with the memories behind it, and in a sentence or two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from ebbing.domain.memory.profile import (
    Origin,
    Portrait,
    ProfileEntry,
    Section,
    Snapshot,
    in_order,
    joined,
    shortened,
)
from ebbing.domain.memory.record import Kind, MemoryRecord, MemoryType, Provenance
from ebbing.domain.memory.scope import Scope
from ebbing.language.dates.resolve import absolute
from ebbing.language.text.detect_language import detect
from ebbing.language.text.quotation import quoted_words, speaker_in
from ebbing.language.wording.profile_phrases import LANGUAGES, attribute_sentence, plain_sentence
from ebbing.people.build_profile import build_profile
from ebbing.people.profile_input import ProfileInput, fact_of
from ebbing.people.profile_statements import ProfileStatement, profile_statement
from ebbing.ports.stores.profile_store import StoredProfile
from ebbing.privacy.attribution import LABELS, Source
from ebbing.privacy.guarding.quote import fenced, named, quote

SHOWN: Final = 10
"""Entries of a profile that stand in a context and in its summary; what safety asks for comes on top."""
_TYPES: Final[Mapping[Section, MemoryType]] = {
    Section.FACTS: MemoryType.FACT,
    Section.CONSTRAINTS: MemoryType.CONSTRAINT,
    Section.PREFERENCES: MemoryType.PREFERENCE,
    Section.DISLIKES: MemoryType.PREFERENCE,
}


def portrait(snapshot: Snapshot, stored: StoredProfile) -> Portrait:
    """The entries of a snapshot and, where it says nothing, what holds for everybody of the tenant."""
    hidden = frozenset(edit.slot for edit in stored.edits if edit.memory_id is None)
    slots = {entry.slot for entry in snapshot.entries} | hidden
    more = [entry for entry in stored.defaults if entry.slot not in slots]
    entries = in_order([*snapshot.entries, *more]) if more else list(snapshot.entries)
    return Portrait(
        entries=tuple(entries),
        summaries={language: summary(entries, language) for language in LANGUAGES},
        version=snapshot.version,
        memories=snapshot.memories,
        built_at=snapshot.built_at,
        hidden=hidden,
    )


def summary(entries: Sequence[ProfileEntry], language: str) -> str:
    """The most important entries in `zh` or `en`, at most 240 characters but for what safety asks for.

    A statement in another language is put into this one where that needs no translation of what was said.
    """
    shown = shortened(entries, count=SHOWN)
    return joined([(sentence(entry, language), entry.safety) for entry in shown], language=language)


def sentence(entry: ProfileEntry, language: str) -> str:
    """An entry as a sentence, in `zh` or `en` as far as possible, without a stop at its end.

    All but the person's own plain statements stand in quotation marks under their source.
    """
    words, speaker = quoted_words(entry.text), None
    text = entry.text
    if words is not None:
        text, speaker = absolute(words, now=entry.first_at), speaker_in(entry.text)
    is_own_language = (entry.language == "zh") == (language == "zh")
    by_value = None if is_own_language else _from_value(entry, language)
    plain = quote(by_value or text.rstrip(".。 "))
    if entry.quoted_as is None:
        return plain
    label = LABELS[language][Source(entry.quoted_as)]
    return fenced(named(label, speaker), plain, language=language)


def _from_value(entry: ProfileEntry, language: str) -> str | None:
    """Return what the value of an entry says, as a sentence; None where that takes a translation of what was said."""
    kind, _, name = entry.slot.partition(":")
    if kind == "attribute":
        return attribute_sentence(name, entry.value, language=language)
    if kind == "taste":
        verb = "dislikes" if entry.section is Section.DISLIKES else "likes"
        return plain_sentence(verb, entry.value, language=language)
    return None


def stand_in(entry: ProfileEntry, scope: Scope) -> MemoryRecord:
    """A record for an entry that no memory holds, so that it can be shown beside those that one does."""
    return MemoryRecord(
        id=f"{entry.origin}:{entry.name}",
        belongs_to=scope,
        content=entry.text,
        created_at=entry.last_at,
        recorded_at=entry.last_at,
        kind=Kind.MEMORY,
        type=_TYPES[entry.section],
        language=entry.language,
        value=entry.value,
        importance=entry.importance,
        provenance=Provenance(method=entry.origin.value),
    )


def default_entries(inputs: Sequence[ProfileInput], *, now: datetime) -> list[ProfileEntry]:
    """Entries that hold for everybody of a tenant; none of them weighs anything."""
    statements: list[ProfileStatement] = []
    for place, entry_input in enumerate(inputs):
        fact = fact_of(entry_input, method=Origin.DEFAULT)
        record = MemoryRecord(
            id=f"default:{place}",
            belongs_to=Scope(run_id="default"),
            content=fact.text,
            created_at=now,
            recorded_at=now,
            type=fact.type,
            tags=fact.tags,
            language=detect(fact.text),
            attribute=fact.attribute,
            value=fact.value,
            polarity=fact.polarity,
        )
        statement = profile_statement(record)
        if statement is not None:
            statements.append(statement)
    weightless: dict[str, Any] = {"weight": 0.0, "mentions": 0, "importance": 0.0, "memory_ids": ()}
    entries = build_profile(statements, now=now)
    return [replace(entry, origin=Origin.DEFAULT, quoted_as=Source.DEFAULT, **weightless) for entry in entries]


def differs(first: Sequence[ProfileEntry], other: Sequence[ProfileEntry]) -> bool:
    """Whether two profiles say different things, whatever they weigh and rest on."""

    def says(entries: Sequence[ProfileEntry]) -> set[tuple[str, str, str, Origin]]:
        return {(entry.name, entry.value, entry.text, entry.origin) for entry in entries}

    return says(first) != says(other)
