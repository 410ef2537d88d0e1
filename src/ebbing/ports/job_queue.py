"""What remembers work to be done later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Protocol

from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.scope import DEFAULT_TENANT, Scope

LOST: Final = "the worker died or overran its lease"
"""`last_error` of a job that was in the hands of a worker that never came back, at its last attempt."""


class JobState(StrEnum):
    """Where a job stands."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class NewJob:
    """Work to be queued."""

    kind: str
    key: str
    """Names the work: while one of the same kind and key is waiting, no second one is added."""
    payload: Mapping[str, Any] | None = None
    """JSON values: what a worker needs to know. It names memories and never holds their text."""
    run_at: datetime | None = None
    """Not before; at once unless given."""
    max_attempts: int = 5
    belongs_to: Scope | None = None
    """Whose memory it is about: it is forgotten with the owner."""
    tenant: str | None = None
    """Of work that is about nobody in particular; else the owner's."""
    once: bool = False
    """Nor is one added while one of the same kind and key is running, done or dead."""

    def __post_init__(self) -> None:
        if self.max_attempts < 1:
            raise InvalidInputError("max_attempts must be at least 1")
        if self.belongs_to is not None and self.tenant not in {None, self.belongs_to.tenant}:
            raise InvalidInputError("a job belongs to the tenant of its owner")

    @property
    def of_tenant(self) -> str:
        """The tenant that it belongs to."""
        return self.belongs_to.tenant if self.belongs_to else self.tenant or DEFAULT_TENANT


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
    tenant: str = DEFAULT_TENANT
    belongs_to: Scope | None = None
    progress: Mapping[str, Any] = field(default_factory=dict)
    """How far it is, as its worker last noted it; the next attempt may go on from there."""
    ended_at: datetime | None = None
    """When it was done, or given up."""


class JobQueue(Protocol):
    """At-least-once work with leases: a job whose worker died is handed out again when its lease ends.

    An attempt's number names its lease, so that a worker that comes back late can neither finish nor renew it.

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
        belongs_to: Scope | None = None,
    ) -> int:
        """Adds a job and returns its id; while one of the same kind and key is waiting, returns that one's instead."""
        ...

    async def enqueue_all(self, jobs: Sequence[NewJob]) -> int:
        """Adds those that are not there yet, all or none, and returns how many these were."""
        ...

    async def claim(self, kinds: Sequence[str], *, lease: timedelta) -> Job | None:
        """The next due job of these kinds, now leased and its attempt counted; None when nothing is due."""
        ...

    async def renew(self, job: Job, *, lease: timedelta, progress: Mapping[str, Any] | None = None) -> bool:
        """Lengthens a lease to `lease` from now, and notes how far the work is; False when the lease was lost."""
        ...

    async def complete(self, job: Job) -> bool:
        """Marks a leased job as done; False when the lease was lost to another worker meanwhile."""
        ...

    async def fail(self, job: Job, error: str, *, retry_after: timedelta) -> bool:
        """Gives a leased job back for another try, or marks it dead after its last; False when the lease was lost."""
        ...

    async def release(self, job: Job) -> bool:
        """Gives a leased job back as if it had not been tried, to be handed out at once; False when the lease was lost.

        It gives way to one of the same kind and key that is waiting.
        """
        ...

    async def get(self, job_id: int) -> Job | None:
        """One job; None where there is none with this id."""
        ...

    async def list(
        self,
        *,
        state: JobState | None = None,
        kind: str | None = None,
        tenant: str | None = None,
        limit: int = 100,
    ) -> list[Job]:
        """Jobs, the newest first."""
        ...

    async def counts(self, *, tenant: str | None = None) -> dict[tuple[str, JobState], int]:
        """How many jobs there are of each kind in each state, of all tenants or of one; nothing for none."""
        ...

    async def requeue(self, job_id: int, *, tries: int = 5) -> Job | None:
        """Lets a dead job wait again, at once and for so many more tries; None where no dead one has this id, or one of
        the same kind and key is waiting already."""
        ...

    async def forget(self, scope: Scope) -> int:
        """Removes every job that is about what the scope covers, in whatever state, and returns how many they were.

        A worker that has one in hand finds its lease lost.
        """
        ...

    async def forget_tenant(self, tenant: str) -> int:
        """Removes every job of a tenant and returns how many they were."""
        ...

    async def hand_over(self, tenant: str, target: str, *, gone: str) -> int:
        """Gives every job about the user `gone`, in whatever state, to the user `target`, and returns how many.

        A payload that names the user under `user_id` names the other one then. What is in hand is begun anew, since its
        worker looks where the memories were: its lease is lost, and it gives way to one of its name that is waiting.
        """
        ...

    async def drop_done(self, *, before: datetime) -> int:
        """Removes what was done before a moment and returns how many they were; what was given up stays."""
        ...


@dataclass(frozen=True, slots=True)
class QueueStanding:
    """How a queue on a server of its own stands."""

    server: str
    """What it is, and where; without a password."""
    warnings: tuple[str, ...] = ()
    """Sentences: what may cost jobs, and what to do."""


class SeparateJobQueue(JobQueue, Protocol):
    """A queue on a server of its own: it shares no transaction with the memories that its jobs are about."""

    async def standing(self) -> QueueStanding:
        """How its server stands.

        Raises:
            StoreError: it does not answer; the message says what to do.
        """
        ...

    async def aclose(self) -> None:
        """Lets go of its connections; idempotent."""
        ...
