"""The steps of the daily round: one line each."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Final

from ebbing.domain.memory.scope import Scope
from ebbing.people.profiles import Profiles
from ebbing.upkeep.fading.consolidate import consolidate
from ebbing.upkeep.fading.decay import decay
from ebbing.upkeep.fading.expire import expire, purge
from ebbing.upkeep.fading.usage_model import learn
from ebbing.upkeep.habits.derive_habits import abstract
from ebbing.upkeep.merging.summarize import compress
from ebbing.upkeep.repair.reindex import reindex
from ebbing.upkeep.step import Step, StepContext, StepReport

# The last step of the daily round: profiles follow what the others left.


async def profile_step(deps: StepContext, scope: Scope, *, now: datetime, dry_run: bool = False) -> StepReport:
    """Work the owner's profile out anew where the one that is kept no longer holds; count it as `rebuilt`."""
    profiles = Profiles(deps.store)
    behind = await profiles.is_behind(scope, now=now)
    if behind and not dry_run:
        await profiles.refreshed(scope, now=now)
    return StepReport("profile", {"rebuilt": int(behind)})


DAILY: Final[Mapping[str, Step]] = MappingProxyType(
    {
        "expire": expire,
        "compress": compress,
        "abstract": abstract,
        "consolidate": consolidate,
        "decay": decay,
        "purge": purge,
        "retention": learn,
        "profile": profile_step,
        "reindex": reindex,
    }
)
"""By the names of `upkeep.daily_round.ORDER`, which says when each runs. Here rooms meet that do not know each other
(`upkeep`, `people`)."""
