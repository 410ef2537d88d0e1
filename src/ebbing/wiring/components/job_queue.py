"""The queue of jobs that the settings name: the store's own, or BullMQ on Redis."""

from __future__ import annotations

from dataclasses import dataclass

from ebbing.domain.errors import ConfigurationError, MissingExtraError
from ebbing.ports.clock import Clock
from ebbing.ports.job_queue import JobQueue, SeparateJobQueue
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.wiring.components.replicas import redis_connection
from ebbing.wiring.config.settings import Settings


@dataclass(frozen=True, slots=True)
class SeparateJobs:
    """A queue that takes the place of the store's own."""

    queue: SeparateJobQueue
    former: JobQueue
    """The store's own: what waits there from before is still to be done."""


def separate_queue(settings: Settings, clock: Clock) -> SeparateJobQueue | None:
    """Return the queue that takes the place of the store's own; None for none. Redis is not asked anything yet.

    Raises:
        ConfigurationError: a setting is missing, or the store does not outlive the queue.
        MissingExtraError: its packages are not installed.
    """
    if settings.job_queue == "store":
        return None
    if settings.redis_url is None:
        raise ConfigurationError("EBBING_JOB_QUEUE=bullmq needs a Redis server: set EBBING_REDIS_URL")
    if settings.store == "ephemeral":
        raise ConfigurationError("EBBING_JOB_QUEUE=bullmq needs a store that lasts: set EBBING_JOB_QUEUE=store")
    try:
        from ebbing.adapters.bullmq import BullMqJobQueue
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "EBBING_JOB_QUEUE=bullmq needs packages that are not installed: pip install 'ebbing[bullmq]'"
        ) from error
    return BullMqJobQueue(redis_connection(settings.redis_url.get_secret_value()), clock=clock)


def use_queue(store: MemoryStore, queue: SeparateJobQueue) -> SeparateJobs:
    """Have the store use a queue from now on."""
    parts = SeparateJobs(queue, store.jobs)
    store.use_queue(queue)
    return parts
