"""The store on a database server keeps the contracts of its ports, on each server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from ebbing.ports.clock import Clock
from ebbing.ports.job_queue import JobQueue
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.testing.job_queue_suite import JobQueueSuite
from ebbing.testing.store_suite import MemoryStoreSuite
from tests.servers import empty_store, needs

pytestmark = pytest.mark.extended


class OnServer:
    server: str


class StoreOnServer(OnServer, MemoryStoreSuite):
    @asynccontextmanager
    async def open_store(self, clock: Clock) -> AsyncIterator[MemoryStore]:
        async with empty_store(self.server, clock) as store:
            yield store


class QueueOnServer(OnServer, JobQueueSuite):
    @asynccontextmanager
    async def open_queue(self, clock: Clock) -> AsyncIterator[JobQueue]:
        async with empty_store(self.server, clock) as store:
            yield store.jobs


@needs("postgres")
class TestPostgresMemoryStore(StoreOnServer):
    server = "postgres"


@needs("postgres")
class TestPostgresJobQueue(QueueOnServer):
    server = "postgres"


@needs("mariadb")
class TestMariadbMemoryStore(StoreOnServer):
    server = "mariadb"


@needs("mariadb")
class TestMariadbJobQueue(QueueOnServer):
    server = "mariadb"
