"""The Redis that tests use, and servers of their own for tests that break one."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

import pytest

from ebbing.adapters.redis.connection import RedisConnection
from tests.server_addresses import address_for_tests

ADDRESS: Final = address_for_tests("redis")
"""Read when this is imported: a fixture takes every `EBBING_*` variable of the developer away."""
NEEDS_REDIS: Final = pytest.mark.skipif(
    not ADDRESS,
    reason="no Redis: name a database of its own, which is emptied, in EBBING_TEST_REDIS, or run `make test-stores`",
)
PROGRAM: Final = shutil.which("redis-server")
NEEDS_PROGRAM: Final = pytest.mark.skipif(PROGRAM is None, reason="no redis-server is installed")


def connection_to(address: str, timeout_seconds: float = 2.0) -> RedisConnection:
    """A connection to a server of tests."""
    return RedisConnection(address, place="redis://test", timeout_seconds=timeout_seconds)


@asynccontextmanager
async def emptied() -> AsyncIterator[RedisConnection]:
    """A connection to the database of the tests, which is empty before and after."""
    connection = connection_to(ADDRESS)
    await connection.call(lambda client: client.flushdb())
    yield connection
    await connection.call(lambda client: client.flushdb())
    await connection.aclose()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@contextmanager
def own_server(directory: os.PathLike[str], *options: str, port: int | None = None) -> Iterator[tuple[str, int]]:
    """A server of its own without anything on disk; its address, and its process."""
    assert PROGRAM is not None
    port = port or free_port()
    command = [PROGRAM, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(directory), "--save", "", *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        _until_it_listens(port)
        yield f"redis://127.0.0.1:{port}/0", process.pid
    finally:
        process.kill()
        process.wait()


def _until_it_listens(port: int) -> None:
    for _ in range(1_200):
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"redis-server did not listen on port {port}")
