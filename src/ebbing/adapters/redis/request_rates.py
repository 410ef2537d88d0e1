"""Rates of requests, counted in Redis for all replicas together."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from typing import Final

from ebbing.adapters.redis.connection import RedisConnection, Script
from ebbing.adapters.redis.keys import tenant_key
from ebbing.domain.errors import StoreError
from ebbing.ports.stores.request_log import RequestRates

_log: Final = logging.getLogger("ebbing.http")

# A bucket that is full again says nothing, so its key ends then. The clock is the server's.
_TAKE: Final = Script("""
local most = tonumber(ARGV[1])
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
local bucket = redis.call('HMGET', KEYS[1], 'left', 'at')
local left, at = tonumber(bucket[1] or most), tonumber(bucket[2] or now)
left = math.min(most, left + math.max(now - at, 0) * most / 60)
local wait = 0
if left < 1 then
  wait = math.ceil((1 - left) * 60 / most)
else
  left = left - 1
end
redis.call('HSET', KEYS[1], 'left', string.format('%.6f', left), 'at', string.format('%.6f', now))
redis.call('EXPIRE', KEYS[1], math.ceil((most - left) * 60 / most) + 1)
return wait
""")


class RedisRequestRates:
    """A `RequestRates` in Redis. While that does not answer, another one counts; the log says so once.

    Args:
        connection: closed with it.
        per_minute: at least 1.
        beside: counts in the meantime.
        on_outage: called each time when the server ceases to answer.
    """

    def __init__(
        self,
        connection: RedisConnection,
        per_minute: int,
        *,
        fallback: RequestRates,
        on_outage: Callable[[], None],
    ) -> None:
        self._connection, self._per_minute = connection, per_minute
        self._fallback, self._on_outage = fallback, on_outage
        self._is_out = False

    async def take(self, tenant: str, caller: str) -> int:
        digest = hashlib.blake2b(caller.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        try:
            wait = await self._connection.run(
                _TAKE, keys=[tenant_key(tenant, "rate", digest)], values=[self._per_minute]
            )
        except StoreError as error:
            if not self._is_out:
                self._is_out = True
                self._on_outage()
                _log.warning("rate limits are counted in this process alone: Redis does not serve (%s)", error.code)
            return await self._fallback.take(tenant, caller)
        if self._is_out:
            self._is_out = False
            _log.warning("rate limits are counted in Redis again")
        return int(wait)

    async def aclose(self) -> None:
        await self._connection.aclose()
