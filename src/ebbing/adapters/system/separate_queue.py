"""Erasing and merging in a store whose jobs are in a queue on another server, with which it shares no transaction."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from ebbing.ports.job_queue import JobQueue
from ebbing.ports.stores.memory_store import Receipt


async def erase_with_jobs(
    queue: JobQueue | None,
    erase: Callable[[], Awaitable[Receipt]],
    *,
    forget: Callable[[JobQueue], Awaitable[int]],
) -> Receipt:
    """Erase from the store, and the jobs from a separate queue, if there is one.

    The jobs go first, so that nothing is erased where the queue does not answer; and once more in the end, for those
    that came in between.

    Raises:
        StoreError: the queue or the store could not do it; call it again.
    """
    if queue is None:
        return await erase()
    jobs = await forget(queue)
    receipt = await erase()
    jobs += await forget(queue)
    return receipt.plus(Receipt(jobs=jobs))
