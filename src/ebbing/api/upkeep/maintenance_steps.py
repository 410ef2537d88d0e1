"""The steps of the daily round: one line each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ebbing.api.people.profile_step import profile_step
from ebbing.upkeep.fading.consolidate import consolidate
from ebbing.upkeep.fading.decay import decay
from ebbing.upkeep.fading.expire import expire
from ebbing.upkeep.fading.purge import purge
from ebbing.upkeep.fading.usage_model import learn
from ebbing.upkeep.habits.derive_habits import abstract
from ebbing.upkeep.merging.compress import compress
from ebbing.upkeep.repair.reindex import reindex
from ebbing.upkeep.step import Step

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
