"""What has earned it moves from the short to the long term: by being said again, by being of use, by what it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final

from anyio import to_thread

from ebbing.domain.forgetting.stages import earned
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import Kind, Layer
from ebbing.domain.memory.scope import Scope
from ebbing.ports.stores.memory_store import Change, Revise
from ebbing.upkeep.fading.active_records import ActiveRecords, importances, load_active
from ebbing.upkeep.step import PlannedChange, StepContext, StepReport

_WRITTEN: Final = 200


async def consolidate(deps: StepContext, scope: Scope, *, now: datetime, dry_run: bool = False) -> StepReport:
    """Moves memories from the short to the long term. Counts the `consolidated`.

    Raises:
        ConflictError: somebody else changed one of the records in between; what was done by then stays.
        StoreError: the store could not do it.
    """
    report = StepReport("consolidate", {"consolidated": 0})
    here = await load_active(deps.store, scope, now=now)
    young: list[int] = []
    for place, record in enumerate(here.records):
        if record.kind is Kind.MEMORY and record.layer is Layer.SHORT_TERM:
            young.append(place)
    changes: list[Change] = []
    for place, importance in (await _weighed(deps, here, places=young, now=now)).items():
        record = here.records[place]
        why = earned(record, importance=importance, now=now)
        if why is not None:
            promoted = replace(record, version=record.version + 1, layer=Layer.LONG_TERM)
            changes.append(Revise(promoted, Event.NONE, reason=why))
            report.changes.append(PlannedChange(record.id, "promote", why))
    report.counts["consolidated"] = len(changes)
    if not dry_run:
        for at in range(0, len(changes), _WRITTEN):
            await deps.store.write(scope, changes[at : at + _WRITTEN])
    return report


async def _weighed(deps: StepContext, here: ActiveRecords, *, places: Sequence[int], now: datetime) -> dict[int, float]:
    """How much the records at these places matter, by place; they are not weighed where that would change nothing."""
    records = [here.records[place] for place in places]
    at_least = [earned(record, importance=0.0, now=now) for record in records]
    at_most = [earned(record, importance=1.0, now=now) for record in records]
    if at_least == at_most:
        return dict.fromkeys(places, 0.0)
    calibration = deps.embedder.calibration if deps.embedder else None
    weigh = partial(importances, here, policy=deps.policy, calibration=calibration, now=now)
    weighed = await to_thread.run_sync(weigh)
    return {place: weighed[place] for place in places}
