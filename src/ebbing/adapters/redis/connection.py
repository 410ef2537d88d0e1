"""Connections to a Redis server: a pool for each event loop."""

from __future__ import annotations

import asyncio
import hashlib
import re
import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as LostConnectionError
from redis.exceptions import NoScriptError

from ebbing.adapters.redis.errors import EXPECTED, is_out_of_reach, translated
from ebbing.domain.errors import StoreClosedError, StoreError
from ebbing.resilience.circuit_breaker import Breaker

Result = TypeVar("Result")
Argument = str | int | float

LOWEST_VERSION: Final = (6, 2)
"""Older ones are refused: they lack commands that are used here."""
MOST_CONNECTIONS: Final = 64
_CONNECT_SECONDS: Final = 2.0
_FAILURES: Final = 3
_PAUSE_SECONDS: Final = 2.0
"""After so many calls without an answer, the next ones are refused at once for so long."""


@dataclass(frozen=True, slots=True)
class Script:
    """A program in Lua that the server runs as a whole."""

    text: str

    @property
    def digest(self) -> str:
        """The name under which the server keeps it."""
        return hashlib.sha1(self.text.encode(), usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True)
class Standing:
    """What a server says of itself."""

    version: str
    eviction: str
    """What it drops when its memory is full; `noeviction` for nothing."""
    is_durable: bool
    """Whether it writes what it is told to a file, so that it survives a restart."""


@dataclass(slots=True)
class _Open:
    """The client of a loop, and what closes it."""

    client: Redis
    end: AsyncGenerator[None]
    is_checked: bool = False
    """Whether its server is known to be new enough."""


class RedisConnection:
    """Runs commands and scripts, from any number of event loops.

    Nothing is asked of the server before the first call, so that a memory opens while it is down.

    Args:
        url: with the password.
        place: the same for people, without it.
        timeout_seconds: how long one call may take.

    Raises:
        StoreError: from each call, where the server is down, slow, full, too old, or refuses; it says what to do.
        StoreClosedError: from each call after `aclose`.
    """

    def __init__(self, url: str, *, place: str, timeout_seconds: float = 2.0) -> None:
        self.place = place
        self._url, self._timeout_seconds = url, timeout_seconds
        self._breaker = Breaker(_FAILURES, pause_seconds=_PAUSE_SECONDS)
        self._open: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Open] = weakref.WeakKeyDictionary()
        self._closed = False

    async def call(self, work: Callable[[Any], Awaitable[Result]]) -> Result:
        """Return what the work brings. A command whose connection was lost is sent once more, so it must bear that."""
        if self._breaker.enter():
            raise StoreError(f"the Redis at {self.place} gave no answer lately and is left alone for a moment: retry")
        try:
            result = await work(await self._client())
        except EXPECTED as error:
            (self._breaker.failed if is_out_of_reach(error) else self._breaker.succeeded)()
            raise translated(error, self.place) from None  # theirs may hold the address
        except BaseException:
            self._breaker.abandoned()
            raise
        self._breaker.succeeded()
        return result

    async def run(self, script: Script, *, keys: Sequence[str], values: Sequence[Argument] = ()) -> Any:
        """Return what a script answers; all that it does is done at once, or not at all."""

        async def work(client: Any) -> Any:
            try:
                return await client.evalsha(script.digest, len(keys), *keys, *values)
            except NoScriptError:
                return await client.eval(script.text, len(keys), *keys, *values)

        return await self.call(work)

    async def standing(self) -> Standing:
        """Return what the server says of itself."""

        async def work(client: Any) -> Standing:
            server, memory, disk = [await client.info(section) for section in ("server", "memory", "persistence")]
            is_durable = bool(disk.get("aof_enabled"))
            return Standing(str(server["redis_version"]), str(memory.get("maxmemory_policy")), is_durable)

        return await self.call(work)

    async def aclose(self) -> None:
        """Close every connection; idempotent."""
        self._closed = True
        here = asyncio.get_running_loop()
        for loop, opened in list(self._open.items()):
            if loop is here:
                await opened.end.aclose()
            elif not loop.is_closed():
                await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(opened.end.aclose(), loop))
        self._open.clear()

    async def _client(self) -> Redis:
        if self._closed:
            raise StoreClosedError("this memory is closed: open a new one")
        loop = asyncio.get_running_loop()
        opened = self._open.get(loop)
        if opened is None:
            client = self._made()
            opened = _Open(client, _until_closed(client))
            await anext(opened.end)
            self._open[loop] = opened
        if not opened.is_checked:
            await self._refuse_old(opened.client)
            opened.is_checked = True
        return opened.client

    def _made(self) -> Redis:
        pool = BlockingConnectionPool.from_url(
            self._url,
            decode_responses=True,
            protocol=2,
            max_connections=MOST_CONNECTIONS,
            timeout=self._timeout_seconds,
            socket_timeout=self._timeout_seconds,
            socket_connect_timeout=min(_CONNECT_SECONDS, self._timeout_seconds),
            retry=Retry(NoBackoff(), 1, supported_errors=(LostConnectionError,)),
        )
        return Redis.from_pool(pool)

    async def _refuse_old(self, client: Redis) -> None:
        info = await client.info("server")
        numbers = tuple(int(number) for number in re.findall(r"\d+", str(info["redis_version"]))[:2])
        if numbers < LOWEST_VERSION:
            raise StoreError(
                f"the Redis at {self.place} has version {info['redis_version']}, and has to be 6.2 or newer: upgrade it"
            )


async def _until_closed(client: Redis) -> AsyncGenerator[None]:
    """Close the client at the end: at `aclose`, or when its loop ends, which closes the generators begun in it."""
    try:
        yield
    finally:
        await client.aclose()
