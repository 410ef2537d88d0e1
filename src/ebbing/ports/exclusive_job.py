"""Work that one process does at a time: the right to it is a job of the queue, held by whoever has it in hand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final

import anyio

from ebbing.ports.job_queue import Job, JobQueue, NewJob

LEASE: Final = timedelta(minutes=5)
"""How long the right lasts unless it is renewed: a process that dies loses it after that."""
_LOOK_SECONDS: Final = 0.05
_MAX_ATTEMPTS: Final = 1_000_000
"""The right is given back after every use, however that ends."""


@asynccontextmanager
async def exclusive_job(
    queue: JobQueue, kind: str, *, key: str, lease: timedelta = LEASE, wait_seconds: float = 0.0
) -> AsyncIterator[Job | None]:
    """Hold the right to one kind of work; None where another process or thread has it.

    Args:
        queue: where the right is.
        kind: the kind of work. There is one right for each, so a job of another key is done with.
        key: what the work is done with at present.
        lease: how long the right lasts; renew the job before it ends.
        wait_seconds: how long to wait for whoever has it.
    """
    await queue.enqueue_all([NewJob(kind, key, once=True, max_attempts=_MAX_ATTEMPTS)])
    job = await _claim(queue, kind, key=key, lease=lease)
    while job is None and wait_seconds > 0:
        wait_seconds -= _LOOK_SECONDS
        await anyio.sleep(_LOOK_SECONDS)
        job = await _claim(queue, kind, key=key, lease=lease)
    try:
        yield job
    finally:
        if job is not None:
            with anyio.CancelScope(shield=True):
                await queue.release(job)


async def _claim(queue: JobQueue, kind: str, *, key: str, lease: timedelta) -> Job | None:
    while (job := await queue.claim([kind], lease=lease)) is not None and job.key != key:
        await queue.complete(job)
    return job
