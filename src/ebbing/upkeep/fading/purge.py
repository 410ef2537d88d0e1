"""What was packed or ran out is erased when it can no longer be brought back."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

import numpy as np

from ebbing.domain.forgetting.stages import EXPIRED, TAKEN_APART, UNDONE
from ebbing.domain.memory.record import MemoryRecord, Stage
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import NEVER, micros
from ebbing.ports.memory_store import Erase
from ebbing.upkeep.step import PlannedChange, StepContext, StepReport

_WRITTEN: Final = 200
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
