"""What a step of the upkeep works with, and what it tells: the form that every step has."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from ebbing.domain.forgetting.policy import UpkeepPolicy
from ebbing.domain.memory.scope import Scope
from ebbing.ports.ids import Ids
from ebbing.ports.models.chat_model import ChatModel
from ebbing.ports.models.embedder import Embedder
from ebbing.ports.stores.memory_store import MemoryStore


@dataclass(frozen=True, slots=True)
class StepContext:
    """The parts that a step works with."""

    store: MemoryStore
    embedder: Embedder | None
    """None where there is none: rows are then found by keywords alone."""
    ids: Ids
    policy: UpkeepPolicy
    asking: ChatModel | None = None
    """A language model where one is set; every step does its work without one too. `policy.llm_timeout_seconds` bounds
    a call."""
    breathe: Callable[[], Awaitable[None]] = field(default=lambda: asyncio.sleep(0))
    """To be awaited between two pieces of work of more than a few milliseconds: lets calls in flight go first."""


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """One change that a step makes, or would make."""

    memory_id: str
    action: str
    """`fade`, `merge`, `purge` …: one word of the step."""
    why: str
    """A sentence for the owner of the memory."""


@dataclass(slots=True)
class StepReport:
    """What a step did for one owner; of a dry run what it would do."""

    step: str
    counts: dict[str, int] = field(default_factory=dict)
    changes: list[PlannedChange] = field(default_factory=list)


class Step(Protocol):
    """One piece of the upkeep of one owner.

    It does everything that is due at `now` and nothing else: run again at the same `now` it finds nothing to do. It
    writes in small transactions, each of which leaves the store in order, so that it may be killed at any point and
    run again. With `dry_run` it writes nothing and its report lists what it would do.

    Raises:
        ConflictError: somebody else changed the owner's memories in between; running it again finds the new state.
        StoreError: the store could not do it.
    """

    async def __call__(
        self, deps: StepContext, scope: Scope, *, now: datetime, dry_run: bool = False
    ) -> StepReport: ...
