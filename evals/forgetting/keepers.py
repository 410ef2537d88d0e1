"""What can be done about a store that grows: what the product does, and the plain ways it is held against."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from ebbing.domain.forgetting.curves import EXPONENTIAL, SECONDS_A_DAY
from ebbing.domain.memory.record import MemoryType
from ebbing.domain.memory.scope import Scope
from ebbing.memory import AsyncMemory
from ebbing.ports.stores.memory_store import Erase
from evals.retention.watch import Watch

Item = Mapping[str, Any]


class Keeper(Protocol):
    """Decides what of a user is kept."""

    @property
    def name(self) -> str:
        """As it stands in the tables."""
        ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """What it sets, beyond the defaults."""
        ...

    async def look_after(self, memory: AsyncMemory, user: str, *, now: datetime) -> None:
        """Called once for every day that passes, whether something was said on it or not."""
        ...

    async def before_exam(self, memory: AsyncMemory, user: str, *, now: datetime) -> None:
        """Called before questions are put."""
        ...


@dataclass(frozen=True, slots=True)
class KeepEverything:
    """Nothing is ever forgotten."""

    name: str = "keep everything"
    settings: Mapping[str, Any] = field(default_factory=dict)

    async def look_after(self, memory: AsyncMemory, user: str, *, now: datetime) -> None:
        """Nothing."""

    async def before_exam(self, memory: AsyncMemory, user: str, *, now: datetime) -> None:
        """Nothing."""


@dataclass(frozen=True, slots=True)
class Upkept:
    """The product's own upkeep, once every night."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    every: int = 1
    """Nights from one round to the next."""
    watch: Watch = field(default_factory=Watch)

    async def look_after(self, memory: AsyncMemory, user: str, *, now: datetime) -> None:
        """The daily round, and behind it whoever watches."""
        if now.toordinal() % self.every == 0:
            await memory.maintenance.run(user_id=user, now=now)
        await self.watch.night(memory.components.store, user, now=now)

    async def before_exam(self, memory: AsyncMemory, user: str, *, now: datetime) -> None:
        """Nothing: the night has just been."""


@dataclass(slots=True)
class Sweeper:
    """A plain rule that names what to erase, applied weekly and before every exam."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    _next: datetime | None = None

    async def look_after(self, memory: AsyncMemory, user: str, *, now: datetime) -> None:
        """Sweeps once a week: between two sweeps the store holds a little more than the rule allows."""
        if self._next is None or now >= self._next:
            self._next = now + timedelta(days=7)
            await self.before_exam(memory, user, now=now)

    async def before_exam(self, memory: AsyncMemory, user: str, *, now: datetime) -> None:
        """Erases what the rule names."""
        gone = [item["id"] for item in self.outdated(await everything(memory, user), now)]
        if gone:
            await memory.components.store.write(Scope(user_id=user), [Erase(memory_id) for memory_id in gone])

    def outdated(self, items: list[Item], now: datetime) -> Iterable[Item]:
        """What has to go of these, the newest of which stands first."""
        raise NotImplementedError


@dataclass(slots=True)
class Newest(Sweeper):
    """As many of the newest as fit into so many bytes."""

    most_bytes: int = 0

    def outdated(self, items: list[Item], now: datetime) -> Iterable[Item]:  # noqa: ARG002 - time does not matter
        """Everything older than what fits."""
        left = self.most_bytes
        for item in items:
            left -= size(item)
            if left < 0:
                yield item


@dataclass(slots=True)
class TimeToLive(Sweeper):
    """Everything lives so many days."""

    days: int = 90

    def outdated(self, items: list[Item], now: datetime) -> Iterable[Item]:
        """Everything that is older."""
        return [item for item in items if _age_days(item, now) > self.days]


@dataclass(slots=True)
class SeedLiterally(Sweeper):
    """The first design's curve as it was written: R = e^(-t/S) since a memory was made, S of at most ten days."""

    def outdated(self, items: list[Item], now: datetime) -> Iterable[Item]:
        """Everything of which less than a tenth is remembered."""
        curve = EXPONENTIAL
        for item in items:
            days = curve.base_days + curve.days_per_importance * item["importance"]
            stability = min(curve.longest_days, days * curve.type_factors.get(MemoryType(item["type"]), 1.0))
            if curve.remembered(_age_days(item, now), stability) < curve.forgotten_below:
                yield item


def rivals(most_bytes: Mapping[str, int]) -> list[Keeper]:
    """The plain ways; the newest once for every budget, by its name."""
    newest = [Newest(f"newest that fit in {name}", most_bytes=budget) for name, budget in most_bytes.items()]
    return [*newest, TimeToLive("TTL 90 days"), SeedLiterally("seed's curve, literally")]


async def everything(memory: AsyncMemory, user: str) -> list[Item]:
    """All that is active of a user, memories and episodes, the newest first; what was superseded is not."""
    items: list[Item] = []
    cursor: str | None = None
    while True:
        page = await memory.get_all(user_id=user, include="all", limit=1_000, cursor=cursor)
        items += [item for item in page["results"] if "valid_to" not in item]
        cursor = page["next_cursor"]
        if cursor is None:
            return items


def size(item: Item) -> int:
    """Readable bytes."""
    return len(item["memory"].encode("utf-8"))


def _age_days(item: Item, now: datetime) -> float:
    return (now - datetime.fromisoformat(item["created_at"])).total_seconds() / SECONDS_A_DAY
