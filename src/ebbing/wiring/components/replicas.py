"""What replicas share beside the memories, in Redis or in the store's database; else it is in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ebbing.adapters.system.request_rates import InProcessRequestRates
from ebbing.adapters.system.working_memory import InProcessWorkingMemory
from ebbing.domain.errors import MissingExtraError
from ebbing.ports.clock import Clock
from ebbing.ports.ids import Ids
from ebbing.ports.meter import Meter
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.ports.stores.request_log import RequestRates
from ebbing.ports.working_memory import WorkingMemory
from ebbing.wiring.config.settings import Settings
from ebbing.wiring.config.store_place import redis_place

if TYPE_CHECKING:
    from ebbing.adapters.redis.connection import RedisConnection

_HELD_BACK: Final = 8
"""Times the tokens of the last rounds: what a session may hold while the store does not take what leaves them."""

_RATE_SECONDS: Final = 0.25
"""How long a request may wait until it is counted."""


def working_memory(settings: Settings, clock: Clock, *, ids: Ids, store: MemoryStore) -> WorkingMemory:
    """Return what holds the running conversations.

    Raises:
        MissingExtraError: they are to be in Redis, and its client is not installed.
    """
    most_tokens = _HELD_BACK * settings.session_tokens
    if settings.redis_url is not None:
        connection = redis_connection(settings.redis_url.get_secret_value())
        from ebbing.adapters.redis.working_memory import RedisWorkingMemory

        return RedisWorkingMemory(connection, clock, ids=ids, most_tokens=most_tokens)
    if settings.address is not None:
        from ebbing.adapters.sql import SqlMemoryStore

        if isinstance(store, SqlMemoryStore):
            return store.working_memory(ids, most_tokens=most_tokens)
    return InProcessWorkingMemory(clock, most_tokens=most_tokens)


def request_rates(settings: Settings, meter: Meter) -> RequestRates:
    """Return what counts the requests of a credential.

    Raises:
        MissingExtraError: they are to be counted in Redis, and its client is not installed.
    """
    per_minute = settings.http_rate_per_minute
    here = InProcessRequestRates(per_minute)
    if settings.redis_url is None or not per_minute:
        return here
    connection = redis_connection(settings.redis_url.get_secret_value(), timeout_seconds=_RATE_SECONDS)
    from ebbing.adapters.redis.request_rates import RedisRequestRates

    counted = getattr(getattr(meter, "inner", meter), "rates_unshared", lambda: None)
    return RedisRequestRates(connection, per_minute, fallback=here, on_outage=counted)


def redis_connection(url: str, *, timeout_seconds: float = 2.0) -> RedisConnection:
    """Return a connection to a Redis; it asks the server for nothing yet.

    Raises:
        MissingExtraError: its client is not installed.
    """
    try:
        from ebbing.adapters.redis.connection import RedisConnection
    except ModuleNotFoundError as error:
        raise MissingExtraError("EBBING_REDIS_URL needs a package: pip install 'ebbing[redis]'") from error
    return RedisConnection(url, place=redis_place(url) or "", timeout_seconds=timeout_seconds)


async def redis_standing(url: str) -> tuple[bool, str]:
    """Return whether a Redis is as it should be, and where it is with what is to be said of it.

    Raises:
        MissingExtraError: its client is not installed.
        StoreError: it does not serve; the error says what to do.
    """
    connection = redis_connection(url)
    try:
        standing = await connection.standing()
    finally:
        await connection.aclose()
    detail = f"{connection.place}, version {standing.version}"
    if standing.eviction != "noeviction":
        return False, f"{detail}: it drops sessions when it is full; set its maxmemory-policy to noeviction"
    if not standing.is_durable:
        return False, f"{detail}: it forgets sessions when it restarts; set its appendonly to yes"
    return True, detail
