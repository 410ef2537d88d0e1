"""Jobs on a Redis that is full or refuses: an error says what to do, and no job is half written."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ebbing.adapters.redis.connection import RedisConnection
from ebbing.adapters.system.machine import SystemClock
from ebbing.domain.errors import StoreError
from ebbing.domain.memory.scope import Scope
from ebbing.ports.job_queue import Job, JobState, NewJob
from tests.bullmq_queue import NEEDS_PACKAGE, queue_at
from tests.redis_server import NEEDS_PROGRAM, own_server

if TYPE_CHECKING:
    from ebbing.adapters.bullmq import BullMqJobQueue

pytestmark = [pytest.mark.extended, NEEDS_PACKAGE, NEEDS_PROGRAM, pytest.mark.anyio]
MINUTE = timedelta(minutes=1)
ADA = Scope("ada")
FULL = ("--maxmemory", "8mb", "--maxmemory-policy", "noeviction")
Call = Callable[["BullMqJobQueue", Job, Job], Awaitable[Any]]

WRITES: dict[str, Call] = {
    "enqueue": lambda queue, _, __: queue.enqueue("decay", "new", payload={"text": "x" * 1_000}, belongs_to=ADA),
    "enqueue later": lambda queue, _, __: queue.enqueue("decay", "new", run_at=SystemClock().now() + MINUTE),
    "enqueue all": lambda queue, _, __: queue.enqueue_all([NewJob("write", f"new {n}", once=True) for n in range(5)]),
    "claim": lambda queue, _, __: queue.claim(["decay"], lease=MINUTE),
    "renew": lambda queue, running, _: queue.renew(running, lease=MINUTE, progress={"rows": 3}),
    "complete": lambda queue, running, _: queue.complete(running),
    "fail": lambda queue, running, _: queue.fail(running, "no model", retry_after=MINUTE),
    "release": lambda queue, running, _: queue.release(running),
    "hand over": lambda queue, _, __: queue.hand_over("default", "bob", gone="ada"),
}
MOVES: dict[str, Call] = {
    "requeue": lambda queue, _, dead: queue.requeue(dead.id),
    "forget": lambda queue, _, __: queue.forget(ADA),
    "forget a tenant": lambda queue, _, __: queue.forget_tenant("default"),
    "drop what is done": lambda queue, _, __: queue.drop_done(before=SystemClock().now() + MINUTE),
}


async def claimed(queue: BullMqJobQueue) -> Job:
    job = await queue.claim(["decay"], lease=MINUTE)
    assert job is not None
    return job


async def fill(connection: RedisConnection) -> None:
    for _ in range(100):
        await connection.call(lambda client: client.append("ballast", "x" * 100_000))


@asynccontextmanager
async def filled(address: str) -> AsyncIterator[tuple[BullMqJobQueue, Job, Job]]:
    """A queue with a job in each state, the running and the dead one of them, on a Redis that has no room for more."""
    queue = queue_at(address, SystemClock())
    await queue.enqueue("decay", "done", belongs_to=ADA)
    await queue.complete(await claimed(queue))
    await queue.enqueue("decay", "dead", max_attempts=1, belongs_to=ADA)
    await queue.fail(await claimed(queue), "no model", retry_after=MINUTE)
    await queue.enqueue("decay", "running", belongs_to=ADA)
    running = await claimed(queue)
    await queue.enqueue("decay", "waiting", belongs_to=ADA)
    await queue.enqueue("decay", "later", run_at=SystemClock().now() + MINUTE, belongs_to=ADA)
    [dead] = await queue.list(state=JobState.DEAD)
    with pytest.raises(StoreError, match="is full"):
        await fill(queue._connection)
    yield queue, running, dead
    await queue.aclose()


async def everything(connection: RedisConnection) -> dict[str, tuple[str, Any]]:
    """Each key with its kind and all that it holds."""
    readers: dict[str, Callable[[Any, str], Awaitable[Any]]] = {
        "string": lambda client, key: client.get(key),
        "hash": lambda client, key: client.hgetall(key),
        "list": lambda client, key: client.lrange(key, 0, -1),
        "set": lambda client, key: client.smembers(key),
        "zset": lambda client, key: client.zrange(key, 0, -1, withscores=True),
        "stream": lambda client, key: client.xrange(key),
    }

    async def read(client: Any) -> dict[str, tuple[str, Any]]:
        kinds = {key: await client.type(key) for key in sorted(await client.keys("*"))}
        return {key: (kind, await readers[kind](client, key)) for key, kind in kinds.items()}

    return await connection.call(read)


@pytest.mark.parametrize("call", WRITES.values(), ids=WRITES)
async def test_a_full_redis_does_nothing_by_half_and_all_of_it_once_there_is_room(tmp_path: Path, call: Call) -> None:
    with own_server(tmp_path, *FULL) as (address, _):
        async with filled(address) as (queue, running, dead):
            before = await everything(queue._connection)
            with pytest.raises(StoreError) as error:
                await call(queue, running, dead)
            assert "is full (maxmemory): nothing was written; give it more memory, then retry" in str(error.value)
            assert await everything(queue._connection) == before
            await queue._connection.call(lambda client: client.delete("ballast"))
            assert await call(queue, running, dead)


@pytest.mark.parametrize("call", MOVES.values(), ids=MOVES)
async def test_what_begins_with_a_removal_is_done_to_the_end_on_a_full_redis(tmp_path: Path, call: Call) -> None:
    with own_server(tmp_path, *FULL) as (address, _):
        async with filled(address) as (queue, running, dead):
            assert await call(queue, running, dead)
            jobs = await queue.list()
            states = Counter((job.kind, job.state) for job in jobs)
            assert await queue.counts() == await queue.counts(tenant="default") == states
            await queue._connection.call(lambda client: client.delete("ballast"))
            due = [job.id for job in jobs if job.state is JobState.WAITING and job.key != "later"]
            handed_out = [await queue.claim(["decay"], lease=MINUTE) for _ in range(4)]
            assert {job.id for job in handed_out if job} == set(due)


@pytest.mark.parametrize("credentials", ["", ":s3cret@", "nobody:s3cret@"])
async def test_a_wrong_password_is_refused_and_repeated_nowhere(tmp_path: Path, credentials: str) -> None:
    with own_server(tmp_path, "--requirepass", "right") as (address, _):
        queue = queue_at(address.replace("redis://", f"redis://{credentials}"), SystemClock())
        for _ in range(5):
            for call in (queue.enqueue("decay", "ada"), queue.claim(["decay"], lease=MINUTE), queue.standing()):
                with pytest.raises(StoreError) as error:
                    await call
                refused = "refused the user name or the password: check EBBING_REDIS_URL"
                assert refused in str(error.value)
                assert "s3cret" not in f"{error.value} {queue!r} {error.value.__cause__!r}"
                assert error.value.__suppress_context__  # theirs may hold the address
        await queue.aclose()
        queue = queue_at(address.replace("redis://", "redis://:right@"), SystemClock())
        assert await queue.list() == []
        await queue.aclose()
