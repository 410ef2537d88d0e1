"""The last step of the daily round: profiles follow what the others left."""

from __future__ import annotations

from datetime import datetime

from ebbing.domain.memory.scope import Scope
from ebbing.people.profiles import Profiles
from ebbing.upkeep.step import StepContext, StepReport


async def profile_step(deps: StepContext, scope: Scope, *, now: datetime, dry_run: bool = False) -> StepReport:
    """Work the owner's profile out anew where the one that is kept no longer holds; count it as `rebuilt`."""
    profiles = Profiles(deps.store)
    behind = await profiles.is_behind(scope, now=now)
    if behind and not dry_run:
        await profiles.refreshed(scope, now=now)
    return StepReport("profile", {"rebuilt": int(behind)})
