"""A Redis that is down, slow, full, too old or refuses: an error says what to do, and nothing is half written."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from ebbing.adapters.redis.connection import RedisConnection
from ebbing.adapters.redis.working_memory import RedisWorkingMemory
from ebbing.adapters.system.machine import TimeOrderedIds
from ebbing.domain.errors import StoreClosedError, StoreError
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.scope import Scope
from ebbing.ports.working_memory import Turn
from ebbing.testing.clock import ManualClock
from tests.redis_server import NEEDS_PROGRAM, free_port, own_server

pytestmark = [pytest.mark.anyio, pytest.mark.extended, NEEDS_PROGRAM]
ADA = Scope(user_id="ada", run_id="monday")


def said(text: str) -> Turn:
    return Turn(Message(text, id=text), 1)


@asynccontextmanager
async def working_memory(address: str, *, timeout_seconds: float = 2.0) -> AsyncIterator[RedisWorkingMemory]:
    connection = RedisConnection(address, place="redis://redis.internal:6379/0", timeout_seconds=timeout_seconds)
    working = RedisWorkingMemory(connection, ManualClock(), ids=TimeOrderedIds())
    yield working
    await working.aclose()


async def texts(working: RedisWorkingMemory) -> list[str]:
    return [turn.message.content for turn in await working.read(ADA)]


async def fill(connection: RedisConnection) -> None:
    for _ in range(100):
        await connection.call(lambda client: client.append("ballast", "x" * 100_000))


async def refusal(working: RedisWorkingMemory, turn: Turn | None = None) -> str:
    with pytest.raises(StoreError) as error:
        await working.append(ADA, turn or said("tea"))
    context = error.value.__context__
    assert context is None or error.value.__suppress_context__  # theirs may hold the address
    text = str(error.value)
    assert "redis://redis.internal:6379/0" in text
    assert "s3cret" not in text
    return text


async def test_a_server_that_is_down_is_told_and_what_it_held_is_there_again_with_it(tmp_path: Path) -> None:
    port, durable = free_port(), ("--appendonly", "yes", "--appendfsync", "always")
    async with working_memory(f"redis://:s3cret@127.0.0.1:{port}/0") as working:
        assert "cannot be reached: check that the server runs" in await refusal(working)
    async with working_memory(f"redis://127.0.0.1:{port}/0") as working:
        with own_server(tmp_path, *durable, port=port):
            assert await working.append(ADA, said("tea"))
        refusals = [await refusal(working, said("cake")) for _ in range(6)]
        assert "left alone for a moment" in refusals[-1]
        with own_server(tmp_path, *durable, port=port):
            await asyncio.sleep(2.1)
            assert await working.append(ADA, said("rain"))
            assert await texts(working) == ["tea", "rain"]
            assert await working.sessions() == [ADA]
    with pytest.raises(StoreClosedError):
        await working.read(ADA)


async def test_a_connection_that_was_cut_is_made_again_unnoticed(tmp_path: Path) -> None:
    with own_server(tmp_path) as (address, _):
        async with working_memory(address) as working:
            await working.append(ADA, said("tea"))
            async with working_memory(address) as other:
                await other._shared._connection.call(lambda client: client.client_kill_filter(_type="normal"))
            await working.append(ADA, said("rain"))
            assert await texts(working) == ["tea", "rain"]


async def test_a_slow_server_is_not_waited_for(tmp_path: Path) -> None:
    with own_server(tmp_path) as (address, process):
        async with working_memory(address, timeout_seconds=1.0) as working:
            await working.append(ADA, said("tea"))
            os.kill(process, signal.SIGSTOP)
            assert "did not answer in time" in await refusal(working)
            os.kill(process, signal.SIGCONT)
            assert await texts(working) == ["tea"]


async def test_a_full_server_keeps_what_it_has_and_takes_more_once_there_is_room(tmp_path: Path) -> None:
    with own_server(tmp_path, "--maxmemory", "8mb", "--maxmemory-policy", "noeviction") as (address, _):
        async with working_memory(address) as working:
            connection: RedisConnection = working._shared._connection
            await working.append(ADA, said("tea"))
            with pytest.raises(StoreError, match="is full"):
                await fill(connection)
            keys = await connection.call(lambda client: client.keys("*"))
            assert "is full (maxmemory): nothing was written" in await refusal(working, said("cake"))
            other = Scope(user_id="ada", run_id="tuesday")
            with pytest.raises(StoreError, match="is full"):
                await working.append(other, said("cake"))
            with pytest.raises(StoreError, match="is full"):
                await working.begin_storing(ADA)
            assert await connection.call(lambda client: client.keys("*")) == keys
            assert await texts(working) == ["tea"]
            await working.drop(ADA, [said("tea")])
            assert await working.sessions() == []
            await connection.call(lambda client: client.delete("ballast"))
            assert await working.append(ADA, said("rain"))
            assert await texts(working) == ["rain"]


async def test_a_wrong_password_is_refused_and_repeated_nowhere(tmp_path: Path) -> None:
    with own_server(tmp_path, "--requirepass", "right") as (address, _):
        for credentials in ("", ":s3cret@", "nobody:s3cret@"):
            async with working_memory(address.replace("redis://", f"redis://{credentials}")) as working:
                for _ in range(5):
                    refused = "refused the user name or the password: check EBBING_REDIS_URL"
                    assert refused in await refusal(working)
        async with working_memory(address.replace("redis://", "redis://:right@")) as working:
            assert await working.append(ADA, said("tea"))


async def test_a_user_without_the_right_to_our_keys_is_told_which_they_are(tmp_path: Path) -> None:
    with own_server(tmp_path) as (address, _):
        async with working_memory(address) as working:
            connection: RedisConnection = working._shared._connection
            rights = ("on", ">s3cret", "~others:*", "+@all")
            await connection.call(lambda client: client.execute_command("ACL", "SETUSER", "ada", *rights))
        async with working_memory(address.replace("redis://", "redis://ada:s3cret@")) as working:
            assert "grant it all commands on the keys ebbing:*" in await refusal(working)


async def test_a_replica_that_takes_no_writes_is_told(tmp_path: Path) -> None:
    with (
        own_server(tmp_path) as (primary, _),
        own_server(tmp_path, "--replicaof", "127.0.0.1", primary.split(":")[-1].removesuffix("/0")) as (address, _),
    ):
        async with working_memory(address) as working:
            assert "point EBBING_REDIS_URL at the primary" in await refusal(working)


async def test_a_cluster_is_refused(tmp_path: Path) -> None:
    with own_server(tmp_path, "--cluster-enabled", "yes") as (address, _):
        async with working_memory(address) as working:
            assert "is a cluster, which cannot be used" in await refusal(working)


async def test_a_database_that_is_not_there_is_told(tmp_path: Path) -> None:
    with own_server(tmp_path) as (address, _):
        async with working_memory(address.removesuffix("0") + "99") as working:
            assert "has no database of this number" in await refusal(working)


async def test_a_server_of_an_old_version_is_refused() -> None:
    """No old server is to be had for tests: this one answers as Redis 5 does to the little that it is asked."""
    answer = "# Server\r\nredis_version:5.0.14\r\n"

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while command := await reader.read(4_096):
            reply = f"${len(answer)}\r\n{answer}\r\n" if b"\r\nINFO\r\n" in command else "+OK\r\n" * command.count(b"*")
            writer.write(reply.encode())
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with working_memory(f"redis://127.0.0.1:{port}/0") as working:
            for _ in range(2):
                assert "has version 5.0.14, and has to be 6.2 or newer: upgrade it" in await refusal(working)
