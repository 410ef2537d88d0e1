"""The job queue on Redis keeps the contract of its port, and a store beside it erases and merges jobs with memories."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from tempfile import TemporaryDirectory

import pytest

from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.ports.clock import Clock
from ebbing.ports.job_queue import JobQueue
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.testing.job_queue_suite import JobQueueSuite
from ebbing.testing.stores.identities import IdentitiesSuite
from ebbing.testing.stores.isolation import ErasureSuite
from tests.bullmq_queue import NEEDS_BULLMQ, empty_queue
from tests.servers import empty_store, needs

pytestmark = pytest.mark.extended


@NEEDS_BULLMQ
class TestBullMqJobQueue(JobQueueSuite):
    @asynccontextmanager
    async def open_queue(self, clock: Clock) -> AsyncIterator[JobQueue]:
        async with empty_queue(clock) as queue:
            yield queue


@NEEDS_BULLMQ
class TestStoreBesideBullMq(ErasureSuite, IdentitiesSuite):
    @asynccontextmanager
    async def open_store(self, clock: Clock) -> AsyncIterator[MemoryStore]:
        async with empty_queue(clock) as queue:
            with TemporaryDirectory() as directory:
                store = SqliteMemoryStore.open(directory, clock=clock)
                store.use_queue(queue)
                yield store
                await store.aclose()


@NEEDS_BULLMQ
@needs("postgres")
class TestPostgresBesideBullMq(ErasureSuite, IdentitiesSuite):
    @asynccontextmanager
    async def open_store(self, clock: Clock) -> AsyncIterator[MemoryStore]:
        async with empty_queue(clock) as queue, empty_store("postgres", clock) as store:
            store.use_queue(queue)
            yield store
