"""Abstraction: what was done again and again becomes a behaviour, a kind of behaviour, a habit, with a count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import numpy as np
from anyio import to_thread

from ebbing.domain.forgetting.curves import never_fades
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import Kind, MemoryRecord, MemoryType, Role
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import KINDS, ROLES, TYPES, Shard
from ebbing.ports.stores.memory_store import Change, Insert, MemoryStore, Revise
from ebbing.upkeep.habits.habits import (
    ATTRIBUTE,
    BEHAVIOUR,
    Habit,
    Occasion,
    habit_record,
    habits,
    is_full,
    level_of,
    read_occasion,
)
from ebbing.upkeep.merging.index_entries import entries_of
from ebbing.upkeep.merging.merge_records import retire_into
from ebbing.upkeep.merging.mergeable import may_be_merged, mergeable_rows
from ebbing.upkeep.step import PlannedChange, StepContext, StepReport

MARK: Final = "counted at"
"""Under this name the store knows the state of the owner in which nothing was left to count."""
_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class _HabitPlan:
    """What is to be done about one habit."""

    record: MemoryRecord
    existing: MemoryRecord | None
    behind: tuple[MemoryRecord, ...]
    """Records that step behind it now."""
    waiting: bool
    """Others will, once they are old enough."""


async def abstract(
    deps: StepContext, scope: Scope, *, now: datetime, dry_run: bool = False, level: int | None = None
) -> StepReport:
    """Tells what was done on several days by one memory with a count, and raises the count when it is done again.

    An occasion that says nothing else steps behind it once it is `concrete_days` old. Counts `abstracted` (new ones),
    `raised` (known ones that tell more) and `merged` (records that another memory tells now).

    Args:
        level: 1 to 3, how general; as general as the occasions carry unless given.

    Raises:
        ConflictError: somebody else changed one of the records in between; what was done by then stays.
        StoreError: the store could not do it.
    """
    report = StepReport("abstract", {"abstracted": 0, "raised": 0, "merged": 0})
    store = deps.store
    shard = await store.shard(scope)
    if level is None and shard.generation <= await store.mark(scope, MARK):
        return report
    waiting, writes = False, 0
    for habit in await _habits(deps, scope, shard=shard, now=now, by_object=level == BEHAVIOUR):
        if not habit.occasions or not habit.is_often(deps.policy.habit_min_days):
            continue
        plan = _plan(deps, habit, level=level, now=now)
        waiting = waiting or plan.waiting
        if plan.record == plan.existing and not plan.behind:
            continue
        _report(report, plan)
        if not dry_run:
            await deps.breathe()
            await store.write(scope, await _changes(deps, plan, now=now))
            writes += 1
    if not dry_run and not waiting:
        await _note(store, scope, generation=shard.generation + writes)
    return report


async def _note(store: MemoryStore, scope: Scope, *, generation: int) -> None:
    """Remembers that nothing is left to count, unless somebody else wrote meanwhile."""
    if (await store.shard(scope)).generation == generation:
        await store.set_mark(scope, MARK, value=generation)


async def _habits(deps: StepContext, scope: Scope, *, shard: Shard, now: datetime, by_object: bool) -> list[Habit]:
    rows = mergeable_rows(shard, now=now)
    codes = [code for name, code in shard.attributes.items() if name.startswith(ATTRIBUTE)]
    habit_rows = rows[np.isin(shard.attribute[rows], codes)]
    tellers = await _records(deps, scope, ids=[shard.ids[row] for row in habit_rows])
    existing = [record for record in tellers if record.abstraction_level]
    names = [name for record in existing for name in record.compression_sources]
    counted = await _occasions(deps, await _records(deps, scope, ids=names), scope=scope)
    happened = rows[_of_people(shard)[rows]]
    records = await _records(deps, scope, ids=[shard.ids[row] for row in happened])
    fresh = await _occasions(deps, [record for record in records if may_be_merged(record)], scope=scope)
    return habits(existing, counted, fresh=fresh, by_object=by_object)


def _of_people(shard: Shard) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Rows of what happened, as people told it."""
    memory, episodic = shard.kind == KINDS.index(Kind.MEMORY), shard.type == TYPES.index(MemoryType.EPISODIC)
    mask: np.ndarray[tuple[int], np.dtype[np.bool_]] = memory & episodic & (shard.role != ROLES.index(Role.ASSISTANT))
    return mask


async def _records(deps: StepContext, scope: Scope, *, ids: Sequence[str]) -> list[MemoryRecord]:
    records: list[MemoryRecord] = []
    for start in range(0, len(ids), _AT_ONCE):
        records += await deps.store.get(Scope.of(scope.owner), ids[start : start + _AT_ONCE])
        await deps.breathe()
    return records


async def _occasions(deps: StepContext, records: Sequence[MemoryRecord], *, scope: Scope) -> list[Occasion]:
    """The occasions among records; one that tells for others counts the day of each."""
    names = [name for record in records for name in record.compression_sources]
    behind = {record.id: record for record in await _records(deps, scope, ids=names)}

    def read() -> list[Occasion]:
        occasions: list[Occasion] = []
        for record in records:
            sources = [behind[name] for name in record.compression_sources if name in behind]
            occasion = read_occasion(record, sources)
            if occasion is not None:
                occasions.append(occasion)
        return occasions

    return await to_thread.run_sync(read)


def _plan(deps: StepContext, habit: Habit, *, level: int | None, now: datetime) -> _HabitPlan:
    concrete = now - timedelta(days=deps.policy.concrete_days)
    plain = [occasion.record for occasion in habit.occasions if occasion.done.plain and occasion.record.is_active]
    may_step = [occasion for occasion in plain if not never_fades(occasion)]
    behind = [occasion for occasion in may_step if occasion.created_at <= concrete]
    full = is_full(habit)
    record = habit_record(habit, level_of(habit, level), new_id=deps.ids.new(), now=now)
    if full and habit.existing is not None:
        behind.append(habit.existing)
    return _HabitPlan(record, None if full else habit.existing, tuple(behind), len(behind) - full < len(may_step))


def _report(report: StepReport, plan: _HabitPlan) -> None:
    report.counts["merged"] += len(plan.behind)
    if plan.existing is None:
        report.counts["abstracted"] += 1
    elif plan.record.mentions > plan.existing.mentions:
        report.counts["raised"] += 1
    why = f"one memory tells that it was done on {plan.record.mentions} days"
    report.changes.append(PlannedChange(plan.record.id, "abstract", why))
    report.changes += [PlannedChange(record.id, "merge", why) for record in plan.behind]


async def _changes(deps: StepContext, plan: _HabitPlan, *, now: datetime) -> list[Change]:
    record, reason = plan.record, plan.record.provenance.reason or ""
    changes: list[Change] = []
    if record != plan.existing:
        [entry] = await entries_of(deps, [record])
        is_new = plan.existing is None
        changes.append(
            Insert(record, entry, reason=reason) if is_new else Revise(record, Event.UPDATE, entry=entry, reason=reason)
        )
    return [*changes, *(retire_into(source, record.id, now=now, reason=reason) for source in plan.behind)]
