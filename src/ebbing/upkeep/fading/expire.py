"""What has run out is retired, and what was deleted long ago is erased."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

import numpy as np

from ebbing.domain.forgetting.stages import EXPIRED, TAKEN_APART, UNDONE, runs_out_at
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import MemoryRecord, Stage
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import NEVER, micros
from ebbing.ports.stores.memory_store import Erase, Revise
from ebbing.upkeep.step import PlannedChange, StepContext, StepReport

# What has run out is deleted; where memories run out by their type, each is given its day.

_WRITTEN: Final = 200


async def expire(deps: StepContext, scope: Scope, *, now: datetime, dry_run: bool = False) -> StepReport:
    """Deletes what has run out; it can be brought back until it is purged.

    With `policy.ttl_on` every record that has no end yet is given the one of its type, so that no answer holds it from
    that moment on. Counts the `expired` and the `dated`.

    Raises:
        ConflictError: somebody else changed one of the records in between; what was done by then stays.
        StoreError: the store could not do it.
    """
    report = StepReport("expire", {"expired": 0, "dated": 0})
    shard = await deps.store.shard(scope)
    mask = shard.alive & (shard.expires <= micros(now))
    if deps.policy.ttl_on:
        mask |= shard.alive & (shard.expires == NEVER)
    ids = [shard.ids[row] for row in np.flatnonzero(mask)]
    for at in range(0, len(ids), _WRITTEN):
        records = await deps.store.get(scope, ids[at : at + _WRITTEN])
        changes = [change for record in records if (change := _change(record, deps, report=report, now=now))]
        if changes and not dry_run:
            await deps.store.write(scope, changes)
    return report


def _change(record: MemoryRecord, deps: StepContext, *, report: StepReport, now: datetime) -> Revise | None:
    ends = record.expires_at or (runs_out_at(record) if deps.policy.ttl_on else None)
    if ends is None:
        return None
    dated = replace(record, version=record.version + 1, expires_at=ends)
    if ends > now:
        if record.expires_at is not None:
            return None
        report.counts["dated"] += 1
        return Revise(dated, Event.NONE, reason=f"it runs out on {ends:%Y-%m-%d}")
    report.counts["expired"] += 1
    report.changes.append(PlannedChange(record.id, "expire", f"it ran out on {ends:%Y-%m-%d}"))
    return Revise(replace(dated, deleted_at=now, delete_reason=EXPIRED), Event.DELETE, reason=EXPIRED)


# What was packed or ran out is erased when it can no longer be brought back.

_NOT_BY_HAND: Final = {EXPIRED, UNDONE, TAKEN_APART}
"""Reasons of deletions that nobody asked for of that very memory."""


async def purge(deps: StepContext, scope: Scope, *, now: datetime, dry_run: bool = False) -> StepReport:
    """Erases for good what was packed or expired longer than the grace period ago; counts the `purged`.

    What is kept for undoing goes as well, `policy.undo_days` after the change.

    What somebody deleted by hand stays: that was a decision of its own.

    Raises:
        ConflictError: somebody else changed one of the records in between; what was done by then stays.
        StoreError: the store could not do it.
    """
    report = StepReport("purge", {"purged": 0})
    last = now - timedelta(days=deps.policy.grace_days)
    shard = await deps.store.shard(scope, deleted=True)
    rows = np.flatnonzero(~shard.alive & (shard.deleted <= micros(last)) & (shard.deleted != NEVER))
    ids = list(dict.fromkeys(shard.ids[row] for row in rows))
    for at in range(0, len(ids), _WRITTEN):
        records = await deps.store.get(scope, ids[at : at + _WRITTEN], deleted=True)
        gone = [record for record in records if _is_over(record, last)]
        report.counts["purged"] += len(gone)
        why = f"it could be brought back for {deps.policy.grace_days:g} days"
        report.changes += [PlannedChange(record.id, "purge", why) for record in gone]
        if gone and not dry_run:
            await deps.store.write(scope, [Erase(record.id) for record in gone])
    if not dry_run:
        await deps.store.change_log.trim(scope, before=now - timedelta(days=deps.policy.undo_days))
    return report


def _is_over(record: MemoryRecord, last: datetime) -> bool:
    by_itself = record.stage is Stage.ARCHIVED or record.delete_reason in _NOT_BY_HAND
    return by_itself and record.deleted_at is not None and record.deleted_at <= last
