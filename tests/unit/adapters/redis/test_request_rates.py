"""Rates of requests over replicas: one bucket for all of them, and one for each while Redis is away."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from pathlib import Path

import pytest

from ebbing.adapters.redis.connection import RedisConnection
from ebbing.adapters.redis.request_rates import RedisRequestRates
from ebbing.adapters.system.request_rates import InProcessRequestRates
from tests.redis_server import ADDRESS, NEEDS_PROGRAM, NEEDS_REDIS, connection_to, emptied, free_port, own_server

pytestmark = [pytest.mark.anyio, pytest.mark.extended]


class Outages:
    """Counts what the metric counts."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> None:
        self.count += 1


def rates(connection: RedisConnection, per_minute: int, outages: Outages | None = None) -> RedisRequestRates:
    return RedisRequestRates(
        connection, per_minute, fallback=InProcessRequestRates(per_minute), on_outage=outages or Outages()
    )


@NEEDS_REDIS
async def test_replicas_let_no_more_through_together_than_one_alone() -> None:
    async with emptied() as connection:
        replicas = [rates(connection, 60), rates(connection_to(ADDRESS), 60)]
        waits = await asyncio.gather(*(replicas[at % 2].take("default", "ada") for at in range(100)))
        passed = waits.count(0)
        assert 60 <= passed <= 62  # one a second comes back while they run
        assert set(waits) == {0, 1}
        assert await replicas[1].take("default", "bob") == 0
        assert await replicas[0].take("other", "ada") == 0
        await asyncio.sleep(1.05)
        assert await replicas[1].take("default", "ada") == 0
        await replicas[1].aclose()


@NEEDS_REDIS
async def test_a_bucket_names_nobody_and_is_gone_when_it_is_full() -> None:
    async with emptied() as connection:
        await rates(connection, 600).take("default", "ada")
        [key] = await connection.call(lambda client: client.keys("*"))
        assert key.startswith('ebbing:"default":rate:')
        assert "ada" not in key
        assert 1 <= await connection.call(lambda client: client.ttl(key)) <= 2


@NEEDS_PROGRAM
async def test_while_redis_is_away_each_counts_by_itself_and_says_so_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    port, outages = free_port(), Outages()
    with own_server(tmp_path, port=port) as (address, _):
        limited = rates(connection_to(address, 0.25), 3, outages)
        assert [await limited.take("default", "ada") for _ in range(4)] == [0, 0, 0, 20]
    with caplog.at_level(logging.WARNING):
        assert [await limited.take("default", "ada") for _ in range(4)] == [0, 0, 0, 20]
        assert outages.count == 1
        assert len(caplog.records) == 1
        assert str(port) not in caplog.text
        with own_server(tmp_path, port=port):
            await asyncio.sleep(2.1)  # as long as it is left alone
            assert await limited.take("default", "ada") == 0
        assert "again" in caplog.records[-1].message
    await limited.aclose()


@NEEDS_PROGRAM
async def test_a_slow_redis_holds_no_request_up_for_long(tmp_path: Path) -> None:
    with own_server(tmp_path) as (address, process):
        limited = rates(connection_to(address, 0.25), 10)
        assert await limited.take("default", "ada") == 0
        os.kill(process, signal.SIGSTOP)
        loop = asyncio.get_running_loop()
        began = loop.time()
        assert [await limited.take("default", "ada") for _ in range(10)] == [0] * 10
        assert loop.time() - began < 3
        os.kill(process, signal.SIGCONT)
        await limited.aclose()
