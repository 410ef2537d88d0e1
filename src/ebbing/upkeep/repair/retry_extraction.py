"""Reading again what could not be read when it came: because the model was down, slow, or answered nonsense."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from ebbing.domain.errors import EbbingError
from ebbing.domain.memory.pending_extraction import EXTRACTION_JOB, ExtractionFailure, PendingExtraction
from ebbing.ports.job_queue import Job, JobQueue, JobState
from ebbing.upkeep.worker.worker import JobContext, JobFailure, JobHandler, Worker, WorkerDeps

Again = Callable[[PendingExtraction], Awaitable[ExtractionFailure | None]]
"""Reads the messages, stores what they say, and returns why that failed, or None."""

_DOWN: Final = frozenset({"model_unavailable", "model_timeout", "out_of_time"})
"""After these the model is left alone for a while."""


@dataclass(frozen=True, slots=True)
class Retried:
    """What became of one round."""

    done: int = 0
    failed: int = 0
    """To be tried again later, or given up after the last attempt; `unread_counts` tells which."""


async def retry_extractions(deps: WorkerDeps, *, limit: int = 20) -> Retried:
    """Takes up to `limit` due jobs, one after the other; stops when none is due or the model does not answer.

    A job is at-least-once work: messages may be read that were read already, and the decisions keep what is known. A
    job that fails waits longer each time (about a minute, doubling to six hours) and is dead after its last attempt;
    dead jobs stay visible, and the messages stay searchable as episodes.

    Args:
        deps: with a duty for `EXTRACT`, made by `extraction`, and no other.

    Raises:
        StoreError: the queue could not do it.
    """
    worker = Worker(deps)
    for _ in range(limit):
        if not await worker.do_next():
            break
    return Retried(worker.worked.done, worker.worked.failed)


def extraction(again: Again) -> JobHandler:
    """The duty that reads again."""

    async def duty(job: Job, at_work: JobContext) -> JobFailure | None:
        del at_work  # one batch is one piece
        failed = await _outcome(job, again)
        if failed is None:
            return None
        retry_after = timedelta(seconds=failed.retry_after_seconds or 0.0)
        return JobFailure(failed.reason, retry_after, rests=failed.reason in _DOWN)

    return duty


async def unread_counts(queue: JobQueue, *, tenant: str | None = None) -> dict[str, int]:
    """How many batches of messages wait to be read again, and how many were given up: `{"waiting", "given_up"}`.

    Of all tenants, or of one.
    """
    counts = await queue.counts(tenant=tenant)
    waiting = (counts.get((EXTRACTION_JOB, state), 0) for state in (JobState.WAITING, JobState.RUNNING))
    return {"waiting": sum(waiting), "given_up": counts.get((EXTRACTION_JOB, JobState.DEAD), 0)}


async def _outcome(job: Job, again: Again) -> ExtractionFailure | None:
    try:
        return await again(PendingExtraction.of(job.payload))
    except (KeyError, TypeError, ValueError) as error:
        return ExtractionFailure(error.code if isinstance(error, EbbingError) else "unreadable_job")
    except EbbingError as error:
        return ExtractionFailure(error.code)
