"""Connections to the server: a pool for single statements, one for transactions, for each event loop."""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from sqlalchemy import URL, Executable
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from ebbing.adapters.sql.connection.addresses import CONNECT_SECONDS, with_driver
from ebbing.adapters.sql.connection.errors import EXPECTED, may_be_retried, translated
from ebbing.domain.errors import StoreClosedError, StoreError

Result = TypeVar("Result")
Work = Callable[[AsyncConnection], Awaitable[Result]]
Values = Mapping[str, Any]

DEFAULT_CONNECTIONS: Final = 10
_ATTEMPTS: Final = 8
"""Of a transaction that somebody else was in the way of."""
_WAIT_SECONDS: Final = 10.0
"""How long a call waits for a connection of the pool."""
_OLDEST_SECONDS: Final = 1_800
"""After so long a connection is made anew, before a firewall or a proxy forgets it."""


@dataclass(frozen=True, slots=True)
class Engines:
    """The pools of one event loop."""

    reads: AsyncEngine
    """Each statement is a transaction of its own."""
    writes: AsyncEngine

    async def close(self) -> None:
        """Close every connection."""
        await self.reads.dispose()
        await self.writes.dispose()


class Database:
    """Runs statements, and pieces of work as transactions, from any number of event loops."""

    def __init__(self, address: URL, *, connections: int = DEFAULT_CONNECTIONS) -> None:
        self.address = address
        self._connections = connections
        self._process = os.getpid()
        self._closed = False
        self._engines: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Engines] = weakref.WeakKeyDictionary()

    async def rows(self, statement: Executable, values: Values | None = None) -> Sequence[Any]:
        """All rows of one statement, which sees whatever was committed before it."""

        async def work(db: AsyncConnection) -> Sequence[Any]:
            return (await db.execute(statement, values)).all()

        return await self._run(self.engines.reads, work)

    async def row(self, statement: Executable, values: Values | None = None) -> Any:
        """The first row of one statement, if there is any."""
        rows = await self.rows(statement, values)
        return rows[0] if rows else None

    async def read(self, work: Work[Result]) -> Result:
        """The result of work whose statements all see the same moment."""
        return await self._run(self.engines.writes, work, isolation="REPEATABLE READ")

    async def write(self, work: Work[Result]) -> Result:
        """The result of work once all of it is durable. It may be run several times, so it keeps nothing in between."""
        return await self._run(self.engines.writes, work, commits=True)

    async def outside_transactions(self, work: Work[Result]) -> Result:
        """The result of work with statements that no transaction can hold."""
        return await self._run(self.engines.reads, work)

    @property
    def engines(self) -> Engines:
        """The pools of the running event loop."""
        self.check()
        loop = asyncio.get_running_loop()
        engines = self._engines.get(loop)
        if engines is None:
            engines = self._engines[loop] = Engines(self._engine("AUTOCOMMIT"), self._engine("READ COMMITTED"))
        return engines

    def check(self) -> None:
        """Raises if the store was closed, or opened by the parent of a forked process."""
        if self._closed:
            raise StoreClosedError("the store is closed: open it again")
        if os.getpid() != self._process:
            raise StoreError("the store was opened before this process forked: open it again in the child")

    async def aclose(self) -> None:
        """Close every connection; idempotent."""
        self._closed = True
        here = asyncio.get_running_loop()
        for loop, engines in list(self._engines.items()):
            if loop is here or loop.is_closed():
                await engines.close()
            else:
                await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(engines.close(), loop))
        self._engines.clear()

    def _engine(self, isolation: str) -> AsyncEngine:
        return create_async_engine(
            with_driver(self.address),
            isolation_level=isolation,
            pool_size=self._connections,
            max_overflow=0,
            pool_timeout=_WAIT_SECONDS,
            pool_recycle=_OLDEST_SECONDS,
            pool_reset_on_return=None if isolation == "AUTOCOMMIT" else "rollback",
            connect_args={"connect_timeout": CONNECT_SECONDS},
        )

    async def _run(
        self, engine: AsyncEngine, work: Work[Result], *, commits: bool = False, isolation: str | None = None
    ) -> Result:
        for attempt in range(1, _ATTEMPTS + 1):
            committing = False
            try:
                async with engine.connect() as connection:
                    db = connection
                    if isolation is not None:
                        db = await db.execution_options(isolation_level=isolation)
                    result = await work(db)
                    committing = commits
                    if commits:
                        await db.commit()
                    return result
            except EXPECTED as error:
                if attempt == _ATTEMPTS or not may_be_retried(error, committing=committing):
                    raise translated(error, self.address) from error
        raise AssertionError("the last attempt returns or raises")
