"""What a person does to their profile by hand: setting, taking out, and undoing both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from ebbing.domain.errors import InvalidInputError
from ebbing.domain.forgetting.curves import PINNED
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.profile import ProfileEdit, ProfileEntry, Section
from ebbing.domain.memory.record import MemoryRecord
from ebbing.language.text.analyzer import normalise
from ebbing.people.build_profile import agree
from ebbing.people.profile_statements import MAX_KEY, profile_statement
from ebbing.ports.stores.memory_store import Revise

BY_HAND: Final = "profile"
"""Rule of a memory that somebody told by way of their profile."""


@dataclass(frozen=True, slots=True)
class NamedEntry:
    """An entry that a call names."""

    slot: str
    section: Section
    key: str
    memory_ids: tuple[str, ...] = ()


def find_entries(
    names: Iterable[object], entries: Sequence[ProfileEntry], *, edits: Sequence[ProfileEdit]
) -> list[NamedEntry]:
    """The entries that names mean (`home`, `preferences.jazz`), those too that were taken out before.

    Raises:
        InvalidInputError: a name means no entry, or several.
    """
    by_name: dict[str, dict[str, NamedEntry]] = {}
    for edit in edits:
        _index(by_name, NamedEntry(edit.slot, edit.section, edit.key))
    for entry in entries:
        _index(by_name, NamedEntry(entry.slot, entry.section, entry.key, entry.memory_ids))
    return [_the(by_name, name) for name in names]


def pins_of(keyed_records: Iterable[tuple[str | None, MemoryRecord]], *, now: datetime) -> list[ProfileEdit]:
    """The edits that make memories count as what the person set, each under the key that they gave it, if any."""
    pins = {}
    for key, record in keyed_records:
        says = profile_statement(record)
        if says is not None:
            pins[says.slot] = ProfileEdit(says.slot, says.section, (key or says.key)[:MAX_KEY], now, record.id)
    return list(pins.values())


def edits_taking_out(entries: Iterable[NamedEntry], *, now: datetime) -> list[ProfileEdit]:
    """The edits that keep entries out."""
    return [ProfileEdit(entry.slot, entry.section, entry.key, now) for entry in entries]


def pin_records(records: Iterable[MemoryRecord]) -> list[Revise]:
    """The changes by which memories stay, whatever time passes: somebody set by hand what they say."""
    return [
        Revise(replace(record, version=record.version + 1, tags=(*record.tags, PINNED)), Event.NONE)
        for record in records
        if PINNED not in record.tags
    ]


def says_the_same(record: MemoryRecord, other_record: MemoryRecord) -> bool:
    """Whether a memory makes the same entry as what was told."""
    first, other = profile_statement(record), profile_statement(other_record)
    return first is not None and other is not None and first.slot == other.slot and agree(first, other)


def was_set_by_hand(record: MemoryRecord) -> bool:
    """Whether it was told by way of the profile and nowhere else."""
    return record.provenance.rule == BY_HAND and record.provenance.method == "user"


def _index(by_name: dict[str, dict[str, NamedEntry]], entry: NamedEntry) -> None:
    for name in (entry.key, f"{entry.section}.{entry.key}"):
        by_name.setdefault(normalise(name), {})[entry.slot] = entry


def _the(by_name: dict[str, dict[str, NamedEntry]], name: object) -> NamedEntry:
    if not isinstance(name, str) or not (matches := by_name.get(normalise(name).strip())):
        raise InvalidInputError("the profile has no entry of this name: `profiles.get` shows the key of each")
    if len(matches) > 1:
        sections = ", ".join(sorted({entry.section for entry in matches.values()}))
        raise InvalidInputError(f"several entries have this key: name the section too ({sections}), as in section.key")
    return next(iter(matches.values()))
