"""From single occasions to a behaviour, a kind of behaviour, a habit: what was done, counted and worded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any, Final

from ebbing.domain.memory.record import Layer, MemoryRecord, MemoryType, Provenance, Role
from ebbing.language.signals.activities import Done, read_done, told_as_habit, told_often
from ebbing.upkeep.merging.mergeable import said_order

ATTRIBUTE: Final = "habit."
"""Begins the attribute under which a habit is found again."""
BEHAVIOUR, KIND, PATTERN = 1, 2, 3
"""Levels of abstraction above the single occasion: the same done again, things of one kind, a pattern over weeks."""
RECENT: Final = timedelta(days=90)
"""What is done often was done so often within this time."""
PATTERN_TIMES: Final = 6
PATTERN_WEEKS: Final = 3
"""Occasions, and different weeks, from which on something is a habit."""
USUAL: Final = 0.75
"""Share of the occasions that must fall on the weekdays that are named."""
MAX_TOLD: Final = 400
"""Records that one habit tells directly; beyond that it becomes itself one of those that the next one tells."""
MAX_NAMED: Final = 100
CONFIDENCE: Final = 0.7
"""It was concluded, not said."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """A record that tells of something done, once or, where it tells for others, several times."""

    record: MemoryRecord
    done: Done
    days: frozenset[date]


@dataclass(slots=True)
class Habit:
    """Occasions of one thing done by one person, and the memory that tells it by now."""

    key: str
    """Of the activity and its object, or its category (`Done.key`)."""
    existing: MemoryRecord | None = None
    counted: list[Occasion] = field(default_factory=list)
    """Those that the known memory was made of, as far as they can still be read."""
    fresh: list[Occasion] = field(default_factory=list)

    @property
    def occasions(self) -> list[Occasion]:
        """All of them, oldest first."""
        return sorted([*self.counted, *self.fresh], key=lambda occasion: said_order(occasion.record))

    @property
    def days(self) -> list[date]:
        """Each day once, in order."""
        return sorted(_days_of(self.occasions))

    @property
    def times(self) -> int:
        """On how many days it was done; what was counted once stays counted when its source is gone."""
        if self.existing is None:
            return len(self.days)
        counted = _days_of(self.counted)
        return max(self.existing.mentions, len(counted)) + len(_days_of(self.fresh) - counted)

    def is_often(self, least: int) -> bool:
        """Whether it was done on so many days, not too far apart; what is told already stays told."""
        days = self.days
        return self.existing is not None or (len(days) >= least and days[-1] - days[-least] <= RECENT)


def read_occasion(record: MemoryRecord, sources: Sequence[MemoryRecord] = ()) -> Occasion | None:
    """What a record tells of, on the day of each telling that it stands for; None where it tells of nothing done."""
    done = read_done(record.content, said_at=record.said_at)
    if done is None:
        return None
    each = [read_done(reading.content, said_at=reading.said_at) for reading in sources]
    days = {reading.day for reading in each if reading is not None} or {done.day}
    return Occasion(record, done, frozenset(days))


def habits(
    existing: Iterable[MemoryRecord], counted: Iterable[Occasion], *, fresh: Iterable[Occasion], by_object: bool
) -> list[Habit]:
    """What was done by whom, and where it may be used.

    Args:
        counted: occasions that the known memories were made of.
        by_object: count only the very same objects together, not those of one kind.
    """
    habits_by_key: dict[tuple[object, ...], Habit] = {}
    teller: dict[str, Habit] = {}
    for record in existing:
        key = (record.attribute or "").removeprefix(ATTRIBUTE)
        habit = habits_by_key.setdefault((*_speaker_of(record), key), Habit(key, record))
        teller.update(dict.fromkeys(record.compression_sources, habit))
    for occasion in counted:
        teller[occasion.record.id].counted.append(occasion)
    for occasion in fresh:
        if occasion.record.id not in teller:
            key = _key(occasion.done, by_object=by_object)
            habits_by_key.setdefault((*_speaker_of(occasion.record), key), Habit(key)).fresh.append(occasion)
    return list(habits_by_key.values())


def level_of(habit: Habit, requested: int | None) -> int:
    """How general a statement the occasions carry, and at least as general as it is told by now.

    Args:
        asked: go as far as that, whatever the count; things of no known kind have no second level.
    """
    things = [occasion.done.thing for occasion in habit.occasions if occasion.done.thing]
    by_now = habit.existing.abstraction_level if habit.existing else BEHAVIOUR
    has_kind = any(thing.category is not None for thing in things)
    if requested is not None:
        return max(by_now, requested if requested != KIND or has_kind else BEHAVIOUR)
    if habit.times >= PATTERN_TIMES and len({day.isocalendar()[:2] for day in habit.days}) >= PATTERN_WEEKS:
        return PATTERN
    return max(by_now, KIND if len({thing.key for thing in things}) > 1 else BEHAVIOUR)


def word_habit(habit: Habit, level: int) -> tuple[str, str]:
    """The statement of a level, and its language: that of most occasions."""
    occasions, times = habit.occasions, habit.times
    language = Counter(occasion.done.language for occasion in occasions).most_common(1)[0][0]
    subject = occasions[-1].record.actor
    if level == PATTERN:
        since = _first_said(habit).date()
        days = usual_days(habit.days)
        return told_as_habit(habit.key, days, language=language, times=times, since=since, subject=subject), language
    names = Counter(
        occasion.done.thing.name for occasion in occasions if occasion.done.thing and occasion.done.language == language
    )
    things = [name for name, _ in names.most_common()]
    text = told_often(habit.key, things, language=language, times=times, subject=subject, general=level == KIND)
    return text, language


def usual_days(days: Sequence[date]) -> list[int]:
    """The weekdays (Monday is 0) on which most occasions fall, at most three; none where they are spread wider."""
    counts = Counter(day.weekday() for day in days)
    common = [weekday for weekday, count in counts.most_common(3) if count > 1]
    return sorted(common) if sum(counts[weekday] for weekday in common) >= USUAL * len(days) else []


def habit_record(habit: Habit, level: int, *, new_id: str, now: datetime) -> MemoryRecord:
    """The memory that tells a habit: the known one with what it tells by now, or a new one."""
    existing, last = habit.existing, habit.occasions[-1].record
    text, language = word_habit(habit, level)
    values: dict[str, Any] = {
        "content": text,
        "language": language,
        "created_at": max(last.created_at, existing.created_at) if existing else last.created_at,
        "utc_offset_minutes": last.utc_offset_minutes,
        "first_said_at": _first_said(habit),
        "mentions": habit.times,
        "importance": max(
            [occasion.record.importance for occasion in habit.occasions] + ([existing.importance] if existing else [])
        ),
        "tags": (f"abstraction_level_{level}",),
        "abstraction_level": level,
        "compression_sources": _sources(habit),
        "provenance": Provenance(source_ids=_source_ids(habit), method="merge", reason=f"done on {habit.times} days"),
    }
    if existing is not None and not is_full(habit):
        record = replace(existing, **values)
        return existing if record == existing else replace(record, version=existing.version + 1)
    return MemoryRecord(
        id=new_id,
        belongs_to=replace(last.belongs_to, run_id=None)
        if last.belongs_to.user_id or last.belongs_to.agent_id
        else last.belongs_to,
        recorded_at=now,
        type=MemoryType.SEMANTIC,
        layer=Layer.LONG_TERM,
        scope=last.scope,
        actor=last.actor,
        role=Role.USER,
        attribute=f"{ATTRIBUTE}{habit.key}",
        trust=last.trust,
        confidence=CONFIDENCE,
        is_compressed=True,
        **values,
    )


def is_full(habit: Habit) -> bool:
    """Whether the known memory tells so many that another one has to tell it together with what is new."""
    return habit.existing is not None and len(habit.existing.compression_sources) + len(habit.fresh) > MAX_TOLD


def _sources(habit: Habit) -> tuple[str, ...]:
    fresh = [occasion.record.id for occasion in sorted(habit.fresh, key=lambda occasion: said_order(occasion.record))]
    if habit.existing is None:
        return tuple(fresh)
    return (habit.existing.id, *fresh) if is_full(habit) else (*habit.existing.compression_sources, *fresh)


def _days_of(occasions: Iterable[Occasion]) -> set[date]:
    return {day for occasion in occasions for day in occasion.days}


def _source_ids(habit: Habit) -> tuple[str, ...]:
    existing = habit.existing.provenance.source_ids if habit.existing else ()
    fresh = (name for occasion in habit.occasions for name in occasion.record.provenance.source_ids[:1])
    return tuple(dict.fromkeys((*existing, *fresh)))[-MAX_NAMED:]


def _first_said(habit: Habit) -> datetime:
    moments = [occasion.record.first_said_at or occasion.record.created_at for occasion in habit.occasions]
    if habit.existing is not None and habit.existing.first_said_at is not None:
        moments.append(habit.existing.first_said_at)
    return min(moments)


def _speaker_of(record: MemoryRecord) -> tuple[str | None, str, str | None, str | None]:
    return record.belongs_to.agent_id, record.scope, record.actor, record.trust


def _key(done: Done, *, by_object: bool) -> str:
    return f"{done.activity}.{done.thing.key}" if by_object and done.thing else done.key
