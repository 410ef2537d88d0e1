"""From statements to a profile: those of one slot become one entry, weighed, with contradictions settled."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from ebbing.domain.memory.profile import (
    TASTE_HALF_LIFE,
    Origin,
    ProfileEdit,
    ProfileEntry,
    Rank,
    Section,
    in_order,
    weight_of,
)
from ebbing.domain.memory.record import MemoryRecord
from ebbing.language.signals.preferences import mentions
from ebbing.people.profile_statements import ProfileStatement
from ebbing.privacy.attribution import source_of
from ebbing.privacy.guarding.trust import TrustTier, may_change, trust_in

SURER: Final = 0.2
"""By so much an older statement must be surer than a newer one to stand against it."""
_FADING: Final = frozenset({Rank.TASTE, Rank.FACT, Rank.HABIT})
"""What is the less certain the longer it was not said; names and allergies do not go stale."""


def build_profile(
    statements: Iterable[ProfileStatement],
    *,
    edits: Sequence[ProfileEdit] = (),
    pinned: Mapping[str, ProfileStatement] | None = None,
    now: datetime,
) -> list[ProfileEntry]:
    """The entries of a profile in their order.

    Of several values of one attribute, and of liking and disliking one thing, the newer counts, unless it rests on a
    lesser word or is less sure by more than 0.2. What the person must avoid is nothing that they like. What they set by
    hand counts more than everything that was said, and what they took out stays out.

    Args:
        edits: what the person did by hand.
        pinned: by memory id, what the memories state that hold what the person set; the edit of one that is gone does
            not count.
    """
    pinned = pinned or {}
    slots: defaultdict[str, list[ProfileStatement]] = defaultdict(list)
    for statement in statements:
        slots[statement.slot].append(statement)
    by_slot = _without_answered({slot: _settled(of_slot) for slot, of_slot in slots.items()})
    avoided = [thing for agreeing in by_slot.values() for thing in agreeing[0].avoids]
    by_hand = {edit.slot: edit for edit in edits if edit.memory_id is None or edit.memory_id in pinned}
    drawn = [
        _drawn(agreeing, now=now)
        for slot, agreeing in by_slot.items()
        if slot not in by_hand and not agreeing[0].denied and not _is_avoided(agreeing[0], avoided)
    ]
    for slot, edit in by_hand.items():
        if edit.memory_id is not None:
            drawn.append(_set_by_hand(pinned[edit.memory_id], edit, statements=slots.get(slot, ()), now=now))
    return in_order({entry.name: entry for entry in drawn}.values())


def times_said(record: MemoryRecord) -> int:
    """How often it was said, as far as that is known; uses count too."""
    messages = {name.partition("#")[0] for name in record.provenance.source_ids}
    return max(len(messages), record.mentions) + record.access_count


def last_said(record: MemoryRecord) -> datetime:
    """When it was last said, given another wording, or of use."""
    times = (record.created_at, record.updated_at, record.last_accessed_at)
    return max(time for time in times if time is not None)


def _settled(of_slot: Sequence[ProfileStatement]) -> list[ProfileStatement]:
    """The statement of a slot that counts, and those that say the same; the newest of them first."""
    newest_first = sorted(of_slot, key=lambda statement: statement.record.created_at, reverse=True)
    best = newest_first[0]
    for older in newest_first[1:]:
        if not agree(older, best) and _outweighs(older.record, best.record):
            best = older
    return [statement for statement in newest_first if agree(statement, best)]


def agree(first: ProfileStatement, other: ProfileStatement) -> bool:
    """Whether two statements of one slot say the same."""
    return first.section is other.section and (first.means == other.means or not _has_values(first.slot))


def _has_values(slot: str) -> bool:
    return "attribute:" in slot or "whether:" in slot


def _outweighs(older: MemoryRecord, newer: MemoryRecord) -> bool:
    if not may_change(trust_in(newer), trust_in(older)):
        return True
    return trust_in(newer) is trust_in(older) and older.confidence > newer.confidence + SURER


def _without_answered(by_slot: Mapping[str, list[ProfileStatement]]) -> dict[str, list[ProfileStatement]]:
    """Of wishes about how to answer, those whose every choice a later wish makes anew are over."""
    wishes = [agreeing[0] for agreeing in by_slot.values() if agreeing[0].manner]
    made: set[str] = set()
    over: set[str] = set()
    for wish in sorted(wishes, key=lambda wish: wish.record.created_at, reverse=True):
        if wish.manner <= made:
            over.add(wish.slot)
        made |= wish.manner
    return {slot: agreeing for slot, agreeing in by_slot.items() if slot not in over}


def _is_avoided(statement: ProfileStatement, avoided: Sequence[str]) -> bool:
    return statement.section is Section.PREFERENCES and any(mentions(statement.value, thing) for thing in avoided)


def _drawn(agreeing: Sequence[ProfileStatement], *, now: datetime) -> ProfileEntry:
    shown = agreeing[0]
    records = [statement.record for statement in agreeing]
    half_life = TASTE_HALF_LIFE if shown.rank in _FADING else None
    tellings = [(record.confidence, times_said(record), last_said(record)) for record in records]
    return ProfileEntry(
        section=shown.section,
        key=shown.key,
        slot=shown.slot,
        value=shown.value,
        text=shown.record.content,
        rank=shown.rank,
        weight=weight_of(tellings, now=now, half_life=half_life),
        mentions=sum(times for _, times, _ in tellings),
        importance=max(record.importance for record in records),
        first_at=min(record.first_said_at or record.created_at for record in records),
        last_at=max(at for _, _, at in tellings),
        memory_ids=tuple(record.id for record in records),
        origin=Origin.IMPORT if trust_in(shown.record) is TrustTier.IMPORT else Origin.MEMORY,
        language=shown.record.language,
        safety=any(statement.safety for statement in agreeing),
        quoted_as=source_of(shown.record),
    )


def _set_by_hand(
    pin: ProfileStatement, edit: ProfileEdit, *, statements: Sequence[ProfileStatement], now: datetime
) -> ProfileEntry:
    """The entry as the person set it, resting on all that agrees with it, and what was said last instead."""
    others = sorted(
        (statement for statement in statements if statement.record.id != pin.record.id),
        key=lambda statement: statement.record.created_at,
    )
    drawn = _drawn([pin, *(statement for statement in others if agree(statement, pin))], now=now)
    against = [statement.value for statement in others if not agree(statement, pin)]
    return replace(
        drawn,
        section=edit.section,
        key=edit.key,
        slot=edit.slot,
        origin=Origin.USER,
        overridden_value=against[-1] if against else None,
    )
