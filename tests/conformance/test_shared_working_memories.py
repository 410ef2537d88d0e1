"""Working memory that replicas share keeps the contract of the port, on each server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from ebbing.adapters.redis.connection import RedisConnection
from ebbing.adapters.redis.working_memory import RedisWorkingMemory
from ebbing.adapters.sql.connection.addresses import address_of
from ebbing.adapters.sql.connection.database import Database
from ebbing.adapters.sql.sessions.working_memory import SqlWorkingMemory
from ebbing.adapters.system.machine import TimeOrderedIds
from ebbing.ports.clock import Clock
from ebbing.ports.working_memory import WorkingMemory
from ebbing.testing.working_memory_suite import SharedWorkingMemorySuite
from tests.redis_server import ADDRESS, NEEDS_REDIS, connection_to, emptied
from tests.servers import ADDRESSES, needs
from tests.servers import emptied as emptied_database

pytestmark = pytest.mark.extended


def opened(connection: RedisConnection, clock: Clock, **bounds: int) -> RedisWorkingMemory:
    return RedisWorkingMemory(connection, clock, ids=TimeOrderedIds(), **bounds)


@NEEDS_REDIS
class TestRedisWorkingMemory(SharedWorkingMemorySuite):
    @asynccontextmanager
    async def open_working_memory(
        self, clock: Clock, *, most_sessions: int, most_tokens: int
    ) -> AsyncIterator[WorkingMemory]:
        async with emptied() as connection:
            yield opened(connection, clock, most_sessions=most_sessions, most_tokens=most_tokens)

    @asynccontextmanager
    async def open_beside(self, clock: Clock, *, most_sessions: int, most_tokens: int) -> AsyncIterator[WorkingMemory]:
        other = opened(connection_to(ADDRESS), clock, most_sessions=most_sessions, most_tokens=most_tokens)
        yield other
        await other.aclose()


class SqlSuite(SharedWorkingMemorySuite):
    server: str

    @asynccontextmanager
    async def open_working_memory(
        self, clock: Clock, *, most_sessions: int, most_tokens: int
    ) -> AsyncIterator[WorkingMemory]:
        emptied_database(self.server)
        async with self.open_beside(clock, most_sessions=most_sessions, most_tokens=most_tokens) as working:
            yield working

    @asynccontextmanager
    async def open_beside(self, clock: Clock, *, most_sessions: int, most_tokens: int) -> AsyncIterator[WorkingMemory]:
        database = Database(address_of(ADDRESSES[self.server]))
        yield SqlWorkingMemory(
            database, clock, ids=TimeOrderedIds(), most_sessions=most_sessions, most_tokens=most_tokens
        )
        await database.aclose()


@needs("postgres")
class TestPostgresWorkingMemory(SqlSuite):
    server = "postgres"


@needs("mariadb")
class TestMariadbWorkingMemory(SqlSuite):
    server = "mariadb"
