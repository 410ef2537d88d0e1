"""Looks at a store every thirty days: what the product said of each memory then, and what became of it since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from ebbing.domain.forgetting.curves import EXPONENTIAL, POWER_LAW, retention
from ebbing.domain.forgetting.usage_model import HORIZON_DAYS, usage_features
from ebbing.domain.memory.record import Kind, MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.upkeep.fading.usage_model import Outcome, outcomes, usage_model_of

HORIZON: Final = timedelta(days=HORIZON_DAYS)


@dataclass(frozen=True, slots=True)
class Said:
    """What was said of one memory at one moment, each in [0, 1]."""

    exponential: float
    """The curve of the first design, read as a probability."""
    power: float
    """FSRS-6's curve, read as a probability."""
    learned: float
    """The chance by what the upkeep had learned of this owner by then."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One memory at one moment: what was said of it, and what came of it."""

    said: Said
    outcome: Outcome


@dataclass
class Watch:
    """Collects, for one user, through the store's own log of uses."""

    judged: list[Judged] = field(default_factory=list)
    _at: datetime | None = None
    _said: Mapping[str, Said] = field(default_factory=dict)

    async def night(self, store: MemoryStore, user: str, *, now: datetime) -> None:
        """Called every night: looks on every thirtieth."""
        if self._at is None or now >= self._at + HORIZON:
            await self.look(store, user, now=now)

    async def look(self, store: MemoryStore, user: str, *, now: datetime) -> None:
        """Judges what was said the last time, and notes what is said now."""
        scope = Scope(user_id=user)
        if self._at is not None:
            found = await outcomes(store, scope, at=self._at, until=self._at + HORIZON)
            self.judged += [Judged(self._said[item.memory_id], item) for item in found if item.memory_id in self._said]
        learned = await usage_model_of(store, scope)
        self._at = now
        self._said = {
            record.id: Said(
                retention(record, now, curve=EXPONENTIAL),
                retention(record, now, curve=POWER_LAW),
                learned.chance(usage_features(record, now)),
            )
            for record in await _current(store, scope)
        }


async def _current(store: MemoryStore, scope: Scope) -> list[MemoryRecord]:
    found: list[MemoryRecord] = []
    cursor: str | None = None
    while True:
        page = await store.page(scope, kinds=tuple(Kind), limit=1_000, cursor=cursor)
        found += page.records
        cursor = page.next_cursor
        if cursor is None:
            return found
