"""Few memories of many: what repeats is merged, and what happened is summed up."""

from __future__ import annotations

from datetime import datetime

from ebbing.domain.memory.scope import Scope
from ebbing.upkeep.merging.merge_duplicates import merge_repeats
from ebbing.upkeep.merging.summarize import summarise
from ebbing.upkeep.step import StepContext, StepReport


async def compress(deps: StepContext, scope: Scope, *, now: datetime, dry_run: bool = False) -> StepReport:
    """Merges, then sums up; counts `merged`, `clusters`, `saved_bytes` and `summarized`.

    Raises:
        ConflictError: somebody else changed one of the records in between; what was done by then stays.
        StoreError: the store could not do it.
    """
    merged = await merge_repeats(deps, scope, now=now, dry_run=dry_run)
    summed = await summarise(deps, scope, now=now, dry_run=dry_run)
    return StepReport("compress", merged.counts | summed.counts, merged.changes + summed.changes)
