"""Connections to the server: a pool for single statements, one for transactions, for each event loop."""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final, TypeVar

from sqlalchemy import URL, Connection, Executable, event
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from ebbing.adapters.sql.connection.addresses import CONNECT_SECONDS, with_driver
from ebbing.adapters.sql.connection.errors import EXPECTED, may_be_retried, translated
from ebbing.adapters.sql.connection.row_security import guard
from ebbing.domain.errors import StoreClosedError, StoreError

Result = TypeVar("Result")
Work = Callable[[AsyncConnection], Awaitable[Result]]
Values = Mapping[str, Any]

DEFAULT_CONNECTIONS: Final = 10
DEFAULT_SECONDS: Final = 30.0
"""How long the server may take for one statement, and other transactions may be in the way of one."""
_ATTEMPTS: Final = 8
"""Of a transaction that somebody else was in the way of."""
_WAIT_SECONDS: Final = 10.0
"""How long a call waits for a connection of the pool."""
_OLDEST_SECONDS: Final = 1_800
"""After so long a connection is made anew, before a firewall or a proxy forgets it."""
_LONG: Final = 20
"""Times as long as other statements those may take that are about everything of an owner or a tenant."""
_LIMIT: Final = "ebbing_limit"
"""The execution option with the time limit of the running statement."""


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
class _Limit:
    """How long the statements of a transaction may take, each."""

    timeout: asyncio.Timeout
    seconds: float | None


def _begin_statement(db: Connection, *_: Any) -> None:
    limit: _Limit | None = db.get_execution_options().get(_LIMIT)
    if limit is not None and limit.seconds is not None and not limit.timeout.expired():
        limit.timeout.reschedule(asyncio.get_running_loop().time() + limit.seconds)


@dataclass(frozen=True, slots=True)
class _Open:
    """The pools of a loop, and what closes them."""

    engines: Engines
    end: AsyncGenerator[None]


class Database:
    """Runs statements, and pieces of work as transactions, from any number of event loops."""

    def __init__(
        self,
        address: URL,
        *,
        connections: int = DEFAULT_CONNECTIONS,
        seconds: float = DEFAULT_SECONDS,
        row_security: bool = False,
    ) -> None:
        """`row_security` if the tables have policies, to which every statement says whose rows it is about."""
        self.address, self._row_security = address, row_security
        self._connections, self._seconds = connections, seconds
        self._process = os.getpid()
        self._closed = False
        self._open: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Open] = weakref.WeakKeyDictionary()

    async def rows(self, statement: Executable, values: Values | None = None) -> Sequence[Any]:
        """All rows of one statement, which sees whatever was committed before it."""

        async def work(db: AsyncConnection) -> Sequence[Any]:
            return (await db.execute(statement, values)).all()

        return await self._run(work, is_read=True, seconds=self._seconds)

    async def row(self, statement: Executable, values: Values | None = None) -> Any:
        """The first row of one statement, if there is any."""
        rows = await self.rows(statement, values)
        return rows[0] if rows else None

    async def read(self, work: Work[Result], *, is_long: bool = False) -> Result:
        """The result of work whose statements all see the same moment."""
        return await self._run(work, isolation="REPEATABLE READ", seconds=self._bound(is_long))

    async def write(self, work: Work[Result], *, is_long: bool = False) -> Result:
        """The result of work once all of it is durable. It may be run several times, so it keeps nothing in between."""
        return await self._run(work, commits=True, seconds=self._bound(is_long))

    async def outside_transactions(self, work: Work[Result]) -> Result:
        """The result of work with statements that no transaction can hold, however long they take."""
        return await self._run(work, is_read=True, seconds=None, isolation="AUTOCOMMIT")

    async def engines(self) -> Engines:
        """The pools of the running event loop."""
        self.check()
        loop = asyncio.get_running_loop()
        pools = self._open.get(loop)
        if pools is None:
            engines = Engines(
                # What a statement says of its rows holds for its transaction: so it needs one.
                self._engine("READ COMMITTED" if self._row_security else "AUTOCOMMIT"),
                self._engine("READ COMMITTED"),
            )
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
        engine = create_async_engine(
            with_driver(self.address),
            isolation_level=isolation,
            pool_size=self._connections,
            max_overflow=0,
            pool_timeout=_WAIT_SECONDS,
            pool_recycle=_OLDEST_SECONDS,
            pool_reset_on_return=None if isolation == "AUTOCOMMIT" else "rollback",
            connect_args={"connect_timeout": CONNECT_SECONDS},
        )
        event.listen(engine.sync_engine, "before_cursor_execute", _begin_statement)
        if self._row_security:
            guard(engine)
        return engine

    def _bound(self, is_long: bool) -> float:
        return self._seconds * (_LONG if is_long else 1)

    async def _run(
        self,
        work: Work[Result],
        *,
        is_read: bool = False,
        commits: bool = False,
        isolation: str | None = None,
        seconds: float | None,
    ) -> Result:
        engines = await self.engines()
        engine = engines.reads if is_read else engines.writes
        options = {} if isolation is None else {"isolation_level": isolation}
        last = monotonic() + self._seconds
        for attempt in range(1, _ATTEMPTS + 1):
            committing = False
            try:
                async with asyncio.timeout(self._seconds) as limit, engines.connected(engine) as db:
                    _ = await db.execution_options(**options, **{_LIMIT: _Limit(limit, seconds)})
                    if seconds is None:
                        limit.reschedule(None)
                    result = await work(db)
                    committing = commits
                    if commits:
                        await db.commit()
                    return result
            except EXPECTED as error:
                is_last = attempt == _ATTEMPTS or monotonic() > last
                if is_last or not may_be_retried(error, committing=committing):
                    raise translated(error, self.address, committing=committing) from error
        raise AssertionError("the last attempt returns or raises")
