"""When a memory moves from one stage of fading to the next, when its time runs out, and what is spared."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from ebbing.domain.forgetting.curves import Curve, never_fades
from ebbing.domain.memory.record import Kind, Layer, MemoryRecord, MemoryType, Role, Stage

PENDING_DELETION: Final = "pending_deletion"
"""Tag of what is packed and will be erased when the grace period is over."""
FADED: Final = "faded"
"""Begins the `delete_reason` of what was packed."""
UNDONE: Final = "the change that it comes from was undone"
"""Reason of the deletion of what a change set had made that was undone; erased after the grace period."""
TAKEN_APART: Final = "the memory that told it was taken apart"
"""Reason of the deletion of a merged memory whose sources tell for themselves again; erased likewise."""
EXPIRED: Final = "expired"
"""The `delete_reason` of what ran out."""
STAGES: Final = tuple(Stage)
"""In the order in which they follow each other."""
STEPS: Final[Mapping[Stage, float]] = MappingProxyType(
    {Stage.KEYWORD_ONLY: 5 / 7, Stage.SHORTENED: 4.5 / 7, Stage.ARCHIVED: 3.5 / 7}
)
"""Share of the curve's threshold under which time alone brings a memory to this stage: retention 0.5, 0.45 and 0.35 on
the power law. From 0.7 down to 0.5 a memory has faded, yet stays as it is while there is room for it."""
REPEATED: Final = 3
"""What was said so often is not a chance remark."""
PROTECTED_TYPES: Final = frozenset({MemoryType.PREFERENCE, MemoryType.FACT, MemoryType.PROCEDURAL})
"""Beside constraints, which never fade at all."""

TTL_DAYS: Final[Mapping[MemoryType, float]] = MappingProxyType(
    {MemoryType.PREFERENCE: 90.0, MemoryType.CONSTRAINT: 180.0, MemoryType.FACT: 365.0}
)
OTHER_TTL_DAYS: Final = 90.0
LASTING_TTL_TAGS: Final = frozenset({"identity", "pinned"})
"""What has one of these tags never runs out."""


def times_said(record: MemoryRecord) -> int:
    """Return how often it was said, as far as that tells how much it matters: an assistant repeats its set phrases."""
    return 1 if record.role is Role.ASSISTANT else record.mentions


def is_protected(record: MemoryRecord, *, types: Collection[MemoryType] = PROTECTED_TYPES) -> bool:
    """Return whether a memory is spared by the curve: it is known to matter, was said again and again, or belongs to
    the core.

    Where there is no room for everything it goes last.
    """
    if never_fades(record) or times_said(record) >= REPEATED:
        return True
    return record.kind is Kind.MEMORY and (record.type in types or record.layer is Layer.LONG_TERM)


def stage_at(remembered: float, curve: Curve) -> Stage:
    """Return the stage that a memory of this retention, in [0, 1], has reached on a curve."""
    reached = [stage for stage, share in STEPS.items() if remembered < share * curve.forgotten_below]
    return reached[-1] if reached else Stage.FULL


def is_later(stage: Stage, other: Stage) -> bool:
    """Return whether a stage comes after another one."""
    return STAGES.index(stage) > STAGES.index(other)


def runs_out_at(record: MemoryRecord) -> datetime | None:
    """When a memory runs out if memories do: so long after it was last said or changed; None for never."""
    if not LASTING_TTL_TAGS.isdisjoint(record.tags):
        return None
    last_change = max(record.created_at, record.updated_at or record.created_at)
    kind = MemoryType.CONSTRAINT if "constraint" in record.tags else record.type
    return last_change + timedelta(days=TTL_DAYS.get(kind, OTHER_TTL_DAYS))


# The conditions under which a memory enters the long-term layer.

SHORT_TERM_AGE: Final = timedelta(days=7)
"""How long something is new."""
MIN_USES: Final = 2
"""Uses that show that a memory is needed."""
MIN_IMPORTANCE: Final = 0.8
"""Importance from which something known about a person is kept for its own sake."""


def earned(record: MemoryRecord, *, importance: float, now: datetime) -> str | None:
    """Why the memory belongs to the long term, as a sentence; None if it does not, or not yet.

    `importance` in [0, 1] is the one that it has among the owner's memories.
    """
    if record.stage not in {Stage.FULL, Stage.KEYWORD_ONLY}:
        return None
    if times_said(record) >= REPEATED:
        return f"it was said {record.mentions} times"
    if record.access_count >= MIN_USES:
        return f"it was of use {record.access_count} times"
    if now - record.created_at < SHORT_TERM_AGE:
        return None
    if is_protected(record):
        return f"it is a {record.type.value}, and older than {SHORT_TERM_AGE.days} days"
    if importance >= MIN_IMPORTANCE and record.type is not MemoryType.EPISODIC:
        return f"it is among the most important that is known, and older than {SHORT_TERM_AGE.days} days"
    return None
