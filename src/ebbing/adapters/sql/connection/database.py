"""Connections to the server: a pool for single statements, one for transactions, for each event loop."""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
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


class Engines:
    """The pools of one event loop."""

    def __init__(self, reads: AsyncEngine, writes: AsyncEngine) -> None:
        self.reads, self.writes = reads, writes
        """In the first each statement is a transaction of its own."""
        self._in_use = 0
        self._is_idle = asyncio.Event()
        self._is_idle.set()

    @asynccontextmanager
    async def connected(self, engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
        """A connection that is given back at the end."""
        self._in_use += 1
        self._is_idle.clear()
        try:
            async with engine.connect() as db:
                yield db
        finally:
            self._in_use -= 1
            if not self._in_use:
                self._is_idle.set()

    async def until_closed(self) -> AsyncGenerator[None]:
        """Close every connection at the end, once what runs on them is done: at `aclose`, or when the loop ends.

        A loop that ends closes the generators that were begun in it, which nothing else of ours would notice.
        """
        try:
            yield
        finally:
            with suppress(TimeoutError):
                async with asyncio.timeout(_WAIT_SECONDS):
                    await self._is_idle.wait()
            await self.reads.dispose()
            await self.writes.dispose()


@dataclass(frozen=True, slots=True)
class _Open:
    """The pools of a loop, and what closes them."""

    engines: Engines
    end: AsyncGenerator[None]


class Database:
    """Runs statements, and pieces of work as transactions, from any number of event loops."""

    def __init__(self, address: URL, *, connections: int = DEFAULT_CONNECTIONS) -> None:
        self.address = address
        self._connections = connections
        self._process = os.getpid()
        self._closed = False
        self._open: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Open] = weakref.WeakKeyDictionary()

    async def rows(self, statement: Executable, values: Values | None = None) -> Sequence[Any]:
        """All rows of one statement, which sees whatever was committed before it."""

        async def work(db: AsyncConnection) -> Sequence[Any]:
            return (await db.execute(statement, values)).all()

        return await self._run(work, is_read=True)

    async def row(self, statement: Executable, values: Values | None = None) -> Any:
        """The first row of one statement, if there is any."""
        rows = await self.rows(statement, values)
        return rows[0] if rows else None

    async def read(self, work: Work[Result]) -> Result:
        """The result of work whose statements all see the same moment."""
        return await self._run(work, isolation="REPEATABLE READ")

    async def write(self, work: Work[Result]) -> Result:
        """The result of work once all of it is durable. It may be run several times, so it keeps nothing in between."""
        return await self._run(work, commits=True)

    async def outside_transactions(self, work: Work[Result]) -> Result:
        """The result of work with statements that no transaction can hold."""
        return await self._run(work, is_read=True)

    async def engines(self) -> Engines:
        """The pools of the running event loop."""
        self.check()
        loop = asyncio.get_running_loop()
        pools = self._open.get(loop)
        if pools is None:
            engines = Engines(self._engine("AUTOCOMMIT"), self._engine("READ COMMITTED"))
            pools = self._open[loop] = _Open(engines, engines.until_closed())
            await anext(pools.end)
        return pools.engines

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
        for loop, pools in list(self._open.items()):
            if loop is here:
                await pools.end.aclose()
            elif not loop.is_closed():
                await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(pools.end.aclose(), loop))
        self._open.clear()

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
        self, work: Work[Result], *, is_read: bool = False, commits: bool = False, isolation: str | None = None
    ) -> Result:
        engines = await self.engines()
        engine = engines.reads if is_read else engines.writes
        for attempt in range(1, _ATTEMPTS + 1):
            committing = False
            try:
                async with engines.connected(engine) as db:
                    if isolation is not None:
                        _ = await db.execution_options(isolation_level=isolation)
                    result = await work(db)
                    committing = commits
                    if commits:
                        await db.commit()
                    return result
            except EXPECTED as error:
                if attempt == _ATTEMPTS or not may_be_retried(error, committing=committing):
                    raise translated(error, self.address) from error
        raise AssertionError("the last attempt returns or raises")
