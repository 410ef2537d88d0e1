"""Reading again what could not be read when it came: because the model was down, slow, or answered nonsense."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from ebbing.domain.errors import EbbingError
from ebbing.domain.unread import EXTRACT, Failed, Unread
from ebbing.ports.job_queue import Job, JobQueue, JobState

Again = Callable[[Unread], Awaitable[Failed | None]]
"""Reads the messages, stores what they say, and returns why that failed, or None."""

_LEASE: Final = timedelta(minutes=10)
_FIRST_PAUSE: Final = timedelta(minutes=1)
_LONGEST_PAUSE: Final = timedelta(hours=6)
_DOWN: Final = frozenset({"model_unavailable", "model_timeout", "out_of_time"})
"""After these the model is left alone until the next round."""


@dataclass(frozen=True, slots=True)
class Retried:
    """What became of one round."""

    done: int = 0
    failed: int = 0
    """To be tried again later, or given up after the last attempt; `unread_counts` tells which."""


async def retry_extractions(queue: JobQueue, again: Again, *, limit: int = 20) -> Retried:
    """Takes up to `limit` due jobs, one after the other; stops when none is due or the model does not answer.

    A job is at-least-once work: `again` may be called for messages that were read already, and the decisions keep what
    is known. A job that fails waits longer each time (a minute, doubling to six hours) and is dead after its last
    attempt; dead jobs stay visible, and the messages stay searchable as episodes.

    Raises:
        StoreError: the queue could not do it.
    """
    done = failures = 0
    while done + failures < limit:
        job = await queue.claim([EXTRACT], lease=_LEASE)
        if job is None:
            break
        failed = await _outcome(job, again)
        if failed is None:
            await queue.complete(job)
            done += 1
            continue
        failures += 1
        await queue.fail(job, failed.reason, retry_after=pause(job.attempts, failed))
        if failed.reason in _DOWN:
            break
    return Retried(done, failures)


def pause(attempts: int, failed: Failed) -> timedelta:
    """How long a job waits after so many attempts (from 1): at least as long as the endpoint asked."""
    asked = timedelta(seconds=failed.retry_after_seconds or 0.0)
    doubled = _FIRST_PAUSE * (1 << min(max(attempts, 1) - 1, 16))
    return max(min(doubled, _LONGEST_PAUSE), asked)


async def unread_counts(queue: JobQueue, *, tenant: str | None = None) -> dict[str, int]:
    """How many batches of messages wait to be read again, and how many were given up: `{"waiting", "given_up"}`.

    Of all tenants, or of one.
    """
    counts = await queue.counts(tenant=tenant)
    waiting = (counts.get((EXTRACT, state), 0) for state in (JobState.WAITING, JobState.RUNNING))
    return {"waiting": sum(waiting), "given_up": counts.get((EXTRACT, JobState.DEAD), 0)}


async def _outcome(job: Job, again: Again) -> Failed | None:
    try:
        return await again(Unread.of(job.payload))
    except (KeyError, TypeError, ValueError) as error:
        return Failed(error.code if isinstance(error, EbbingError) else "unreadable_job")
    except EbbingError as error:
        return Failed(error.code)
