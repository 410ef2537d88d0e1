"""The job queue on the Redis of the tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

import pytest

from ebbing.ports.clock import Clock
from tests.redis_server import ADDRESS, connection_to, emptied

if TYPE_CHECKING:
    from ebbing.adapters.bullmq import BullMqJobQueue

NEEDS_PACKAGE: Final = pytest.mark.skipif(find_spec("bullmq") is None, reason="the package `bullmq` is not installed")
NEEDS_BULLMQ: Final = pytest.mark.skipif(
    not ADDRESS or find_spec("bullmq") is None,
    reason="no Redis, or no package `bullmq`: run `make test-stores`",
)


@asynccontextmanager
async def empty_queue(clock: Clock) -> AsyncIterator[BullMqJobQueue]:
    """A queue without any job, in a database that is empty in the end."""
    async with emptied():
        queue = queue_at(ADDRESS, clock)
        yield queue
        await queue.aclose()


def queue_at(address: str, clock: Clock) -> BullMqJobQueue:
    """The queue in a Redis, which may have jobs."""
    from ebbing.adapters.bullmq import BullMqJobQueue

    return BullMqJobQueue(connection_to(address), clock=clock)
