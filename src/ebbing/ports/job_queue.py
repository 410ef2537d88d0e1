"""What remembers work to be done later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol


class JobState(StrEnum):
    """Where a job stands."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work."""

    id: int
    kind: str
    key: str
    payload: Mapping[str, Any]
    state: JobState
    attempts: int
    max_attempts: int
    run_at: datetime
    leased_until: datetime | None
    last_error: str | None


class JobQueue(Protocol):
    """At-least-once work with leases: a job whose worker died is handed out again when its lease ends.

    Raises:
        StoreError: the queue could not do it; nothing was changed.
    """

    async def enqueue(
        self,
        kind: str,
        key: str,
        *,
        payload: Mapping[str, Any] | None = None,
        run_at: datetime | None = None,
        max_attempts: int = 5,
    ) -> int:
        """Adds a job and returns its id; while one of the same kind and key is waiting, returns that one's instead."""
        ...

    async def claim(self, kinds: Sequence[str], *, lease: timedelta) -> Job | None:
        """The next due job of these kinds, now leased and its attempt counted; None when nothing is due."""
        ...

    async def complete(self, job: Job) -> bool:
        """Marks a leased job as done; False when the lease was lost to another worker meanwhile."""
        ...

    async def fail(self, job: Job, error: str, *, retry_after: timedelta) -> bool:
        """Gives a leased job back for another try, or marks it dead after its last; False when the lease was lost."""
        ...

    async def list(self, *, state: JobState | None = None, limit: int = 100) -> list[Job]:
        """Jobs, the newest first."""
        ...
