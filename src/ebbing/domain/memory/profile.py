"""What is known of a person in short: entries with the memories that they rest on, weighed by how they were said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from ebbing.domain.memory.record import MemoryRecord

TASTE_HALF_LIFE: Final = timedelta(days=180)
"""What somebody likes or does counts half as much when it was last said so long ago."""
SUMMARY_CHARS: Final = 240
"""Characters of a summary; only what a person must be kept safe from may make it longer."""


class Section(StrEnum):
    """The parts of a profile."""

    FACTS = "facts"
    CONSTRAINTS = "constraints"
    PREFERENCES = "preferences"
    DISLIKES = "dislikes"


class Origin(StrEnum):
    """The origin of an entry, the weightiest first."""

    USER = "user"
    """The person set it by hand: it wins over everything that is heard."""
    MEMORY = "memory"
    """It was concluded from what was said."""
    IMPORT = "import"
    """The person brought it along."""
    DEFAULT = "default"
    """It holds for everybody of a tenant of whom nothing else is known."""


class Rank(StrEnum):
    """The rank of an entry, the most important first."""

    IDENTITY = "identity"
    BINDING = "binding"
    """It must be heeded: allergies, diets, illnesses, rules."""
    TASTE = "taste"
    FACT = "fact"
    HABIT = "habit"
    """Concluded from several memories."""


_ORDER: Final = {rank: place for place, rank in enumerate(Rank)}


@dataclass(frozen=True, slots=True)
class ProfileEntry:
    """One thing that is known of a person."""

    section: Section
    key: str
    """Its name in the section: an attribute (`home`, `sister.employer`) or what it is about (`jazz`)."""
    slot: str
    """What it speaks of, whatever section it stands in: of one slot there is one entry."""
    value: str
    text: str
    """The statement in full, in the words in which it was kept."""
    rank: Rank
    weight: float
    """How often and how recently it was said, in [0, 1); see `weight_of`."""
    mentions: int
    """How many statements say so."""
    importance: float
    first_at: datetime
    last_at: datetime
    memory_ids: tuple[str, ...] = ()
    """The memories that it rests on, the one that it shows first."""
    origin: Origin = Origin.MEMORY
    language: str = "und"
    safety: bool = False
    """Leaving it out could do harm: it stands in every summary."""
    overridden_value: str | None = None
    """What was said instead, where the person set another value by hand."""
    quoted_as: str | None = "user"
    """Under which source a prompt quotes it (`privacy.attribution.Source`); None for the person's plain statement."""

    @property
    def name(self) -> str:
        """How a call names it: `section.key`."""
        return f"{self.section}.{self.key}"


@dataclass(frozen=True, slots=True)
class ProfileEdit:
    """An edit of an entry by the person; it outlasts every rebuild."""

    slot: str
    """What the entry speaks of."""
    section: Section
    key: str
    at: datetime
    memory_id: str | None = None
    """The memory that holds what they set; None where they took the entry out."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A profile as it was worked out from the memories, without what holds for a whole tenant."""

    version: int
    """Rises by one whenever a rebuilt profile says something else."""
    generation: int
    """Of the owner's rows that it was made from; another one means that it may be out of date."""
    built_at: datetime
    holds_until: datetime
    """When it is out of date even if nothing is written: something runs out, or its weights are a day old."""
    memories: int
    """How many memories it was made from."""
    entries: tuple[ProfileEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class Portrait:
    """A person's profile, ready to be shown."""

    entries: tuple[ProfileEntry, ...] = ()
    """What matters most first."""
    records: Mapping[str, MemoryRecord] = field(default_factory=dict)
    """By the name of an entry, the memory that it shows; one that no memory holds has a record made up for it."""
    summaries: Mapping[str, str] = field(default_factory=dict)
    """By language, `zh` and `en`."""
    version: int = 0
    memories: int = 0
    built_at: datetime | None = None
    hidden: frozenset[str] = frozenset()
    """The slots that the person took out."""


def weight_of(mentions: Iterable[tuple[float, int, datetime]], *, now: datetime, half_life: timedelta | None) -> float:
    """s / (s + 1) with s = sum of confidence · times · 0.5^(age / half-life) over the statements.

    One fresh statement weighs a half, two two thirds, five 0.83. Without a half-life, age does not count.

    Args:
        mentions: for each memory its confidence in [0, 1], how often it was said, and when last.
    """
    total = 0.0
    for confidence, times, moment in mentions:
        age = max((now - moment) / half_life, 0.0) if half_life else 0.0
        total += confidence * times * 0.5**age
    return total / (total + 1)


def in_order(entries: Iterable[ProfileEntry]) -> list[ProfileEntry]:
    """Who they are, what binds, what they like, other facts; in each what is weightiest, then what is newest."""
    newest = sorted(entries, key=lambda entry: entry.last_at, reverse=True)
    return sorted(newest, key=lambda entry: (_ORDER[entry.rank], -round(entry.importance * entry.weight, 6)))


def shortened(entries: Sequence[ProfileEntry], *, count: int) -> list[ProfileEntry]:
    """All entries that safety asks for, and the first of the others up to `count` in all, or a third of it."""
    others = [entry for entry in entries if not entry.safety]
    room = max(count - (len(entries) - len(others)), count // 3)
    shown = {entry.name for entry in others[:room]}
    return [entry for entry in entries if entry.safety or entry.name in shown]


def joined(sentences: Sequence[tuple[str, bool]], *, language: str, length: int = SUMMARY_CHARS) -> str:
    """Sentences in their order, whole, as many as `length` characters hold, and every one that is marked as needed.

    Where the needed ones leave less than a third of the length to the others, these get a third all the same.
    """
    mark = "；" if language == "zh" else "; "
    needed = [text for text, is_needed in sentences if is_needed]
    room = max(length - sum(len(text) + len(mark) for text in needed), length // 3)
    chosen: list[str] = []
    for text, is_needed in sentences:
        cost = len(text) + (len(mark) if needed or chosen else 0)
        if is_needed:
            chosen.append(text)
        elif cost <= room:
            chosen.append(text)
            room -= cost
    return mark.join(chosen)


def entry_values(entry: ProfileEntry) -> dict[str, Any]:
    """Return the entry as JSON values."""
    return {
        "section": entry.section.value,
        "key": entry.key,
        "slot": entry.slot,
        "value": entry.value,
        "text": entry.text,
        "rank": entry.rank.value,
        "weight": round(entry.weight, 4),
        "mentions": entry.mentions,
        "importance": round(entry.importance, 4),
        "first_at": entry.first_at.isoformat(),
        "last_at": entry.last_at.isoformat(),
        "memory_ids": list(entry.memory_ids),
        "origin": entry.origin.value,
        "language": entry.language,
        "safety": entry.safety,
        "told": entry.overridden_value,
        "quoted_as": entry.quoted_as,
    }


def entry_of(values: Mapping[str, Any]) -> ProfileEntry:
    """Return the inverse of `entry_values`."""
    fields = dict(values)
    overridden_value = fields.pop("told", None)  # its name in stores
    return ProfileEntry(
        **fields
        | {
            "section": Section(fields["section"]),
            "rank": Rank(fields["rank"]),
            "origin": Origin(fields["origin"]),
            "first_at": datetime.fromisoformat(fields["first_at"]),
            "last_at": datetime.fromisoformat(fields["last_at"]),
            "memory_ids": tuple(fields["memory_ids"]),
            "overridden_value": overridden_value,
        }
    )
