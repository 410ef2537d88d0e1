"""Every job queue keeps the contract of its port."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from tempfile import TemporaryDirectory

from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.ports.clock import Clock
from ebbing.ports.job_queue import JobQueue
from ebbing.testing.job_queue_suite import JobQueueSuite


class TestSqliteJobQueue(JobQueueSuite):
    @asynccontextmanager
    async def open_queue(self, clock: Clock) -> AsyncIterator[JobQueue]:
        with TemporaryDirectory() as directory:
            store = SqliteMemoryStore.open(directory, clock=clock)
            yield store.jobs
            await store.aclose()
