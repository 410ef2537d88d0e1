"""The daily round of one owner: every step, in its order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import anyio

from ebbing.domain.errors import ConflictError
from ebbing.domain.memory.scope import Scope
from ebbing.upkeep.step import Step, StepContext, StepReport

ORDER: Final = ("expire", "compress", "abstract", "consolidate", "decay", "purge", "retention", "profile", "reindex")
"""What has run out goes first; what repeats is merged before anything fades; the profile sees what is left; the index
comes last, for it may take long."""
_TRIES: Final = 3


GoesOn = Callable[[StepReport], Awaitable[bool]]
"""Told what a step did, with more to come; False stops the round there."""


@dataclass(slots=True)
class RoundReport:
    """What became of one owner."""

    scope: Scope
    steps: list[StepReport] = field(default_factory=list)
    is_complete: bool = True
    """Whether the round went on to its end."""
    seconds: dict[str, float] = field(default_factory=dict)
    """How long each step took."""


async def run_steps(
    deps: StepContext,
    scope: Scope,
    *,
    steps: Mapping[str, Step],
    now: datetime,
    dry_run: bool = False,
    goes_on: GoesOn | None = None,
) -> RoundReport:
    """Runs the given steps for the scope's owner, in `ORDER`; names that `ORDER` does not have are not run.

    A dry run of a step sees the store as it is, not as the steps before it would leave it.

    Raises:
        ConflictError: somebody else kept changing the owner's memories, three times in a row.
        StoreError: the store could not do it; what was done by then stays, and the round can be run again.
    """
    report = RoundReport(scope)
    left = [name for name in ORDER if name in steps]
    for number, name in enumerate(left, 1):
        began = anyio.current_time()
        report.steps.append(await run_step(steps[name], deps, scope=scope, now=now, dry_run=dry_run))
        report.seconds[name] = anyio.current_time() - began
        if goes_on is not None and number < len(left) and not await goes_on(report.steps[-1]):
            report.is_complete = False
            break
    return report


async def run_step(step: Step, deps: StepContext, *, scope: Scope, now: datetime, dry_run: bool = False) -> StepReport:
    """Runs one step, again where somebody else wrote in between: what it did before that is not in the report then."""
    for _ in range(_TRIES - 1):
        try:
            return await step(deps, scope, now=now, dry_run=dry_run)
        except ConflictError:
            continue
    return await step(deps, scope, now=now, dry_run=dry_run)
