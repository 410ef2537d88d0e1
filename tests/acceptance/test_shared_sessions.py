"""A conversation over two replicas: one session in its order, erased and off the record wherever it was heard."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ebbing import AsyncMemory
from ebbing.domain.errors import StoreError
from ebbing.ports.models.embedder import Vectors
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.wiring.build import build, load_settings
from tests.redis_server import ADDRESS, NEEDS_PROGRAM, NEEDS_REDIS, emptied, free_port, own_server
from tests.servers import emptied as emptied_database
from tests.servers import needs

pytestmark = [pytest.mark.anyio, pytest.mark.extended]
WHO: dict[str, Any] = {"user_id": "ada", "run_id": "monday"}


class Gate(FakeEmbedder):
    """Embeds nothing until it is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.is_reached, self.is_open = asyncio.Event(), asyncio.Event()

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.is_reached.set()
        await self.is_open.wait()
        return await super().embed_passages(texts)


def replica(settings: dict[str, Any], embedder: FakeEmbedder | None = None) -> AsyncMemory:
    return AsyncMemory(components=build(load_settings(settings), embedder=embedder or FakeEmbedder()))


@pytest.fixture(params=[pytest.param("redis", marks=NEEDS_REDIS), pytest.param("postgres", marks=needs("postgres"))])
async def settings(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[dict[str, Any]]:
    """What two replicas have in common: Redis beside an embedded store, or a database alone."""
    if request.param == "postgres":
        yield {"store": emptied_database("postgres")}
    else:
        async with emptied():
            yield {"path": tmp_path, "redis_url": ADDRESS}


@asynccontextmanager
async def two_replicas(settings: dict[str, Any], embedder: Gate | None = None) -> AsyncIterator[list[AsyncMemory]]:
    async with AsyncExitStack() as stack:
        opened = [replica(settings), replica(settings, embedder)]
        yield [await stack.enter_async_context(memory) for memory in opened]


async def stored(memory: AsyncMemory) -> list[str]:
    found = await memory.get_all(user_id="ada", include="episodes", limit=1_000)
    return [item["memory"] for item in reversed(found["results"])]


async def test_messages_that_arrive_at_two_replicas_are_one_conversation(settings: dict[str, Any]) -> None:
    async with two_replicas(settings) as (one, two):
        texts = [f"I have {number} cats" for number in range(12)]
        for at, text in enumerate(texts):
            await (one, two)[at % 2].session(**WHO).add(text)
        for memory in (one, two):
            assert [item["content"] for item in await memory.session(**WHO).messages()] == texts
        first = (await two.session(**WHO).search("How many cats?"))["results"][0]
        assert first["kind"] == "working"
        assert await one.session(**WHO).end()
        assert await two.session(**WHO).messages() == []
        assert await stored(two) == texts


async def test_a_replica_that_stops_leaves_the_conversation_to_the_others(settings: dict[str, Any]) -> None:
    async with replica(settings) as one:
        await one.session(**WHO, infer=False).add("I live in Berlin")
    async with replica(settings) as two:
        assert await stored(two) == []
        session = two.session(**WHO)
        await session.add("I like tea")
        assert [item["content"] for item in await session.messages()] == ["I live in Berlin", "I like tea"]
        assert await session.end()
        facts = [item["memory"] for item in (await two.get_all(user_id="ada"))["results"]]
        assert "I live in Berlin" in facts  # as it was said, since it was not to be inferred from


async def test_two_replicas_that_end_a_session_at_once_store_it_once(settings: dict[str, Any]) -> None:
    async with two_replicas(settings) as (one, two):
        for number in range(5):
            await one.session(**WHO).add(f"My house has the number {number}")
        assert await asyncio.gather(one.session(**WHO).end(), two.session(**WHO).end()) == [True, True]
        assert await stored(one) == [f"My house has the number {number}" for number in range(5)]


async def test_erasing_through_one_replica_erases_what_another_hears_or_is_about_to_store(
    settings: dict[str, Any],
) -> None:
    gate = Gate()
    async with two_replicas(settings, gate) as (one, two):
        await two.session(**WHO).add("I live in Berlin")
        await two.session(user_id="ada", run_id="tuesday").add("I like tea")
        await two.session(user_id="bob", run_id="monday").add("I like cake")
        ending = asyncio.create_task(two.session(**WHO).end())
        await gate.is_reached.wait()
        erasing = asyncio.create_task(one.delete_all(user_id="ada"))
        await asyncio.sleep(0.3)
        assert not erasing.done()
        gate.is_open.set()
        await ending
        receipt = await erasing
        assert receipt["deleted"]["turns"] == 2
        assert await stored(two) == []
        assert await two.session(user_id="ada", run_id="tuesday").messages() == []
        assert len(await one.session(user_id="bob", run_id="monday").messages()) == 1
        await one.reset()
        assert await two.session(user_id="bob", run_id="monday").messages() == []


async def test_a_conversation_off_the_record_is_so_at_every_replica(settings: dict[str, Any]) -> None:
    async with two_replicas(settings) as (one, two):
        here, elsewhere = one.session(**WHO), two.session(**WHO)
        here.private = True
        assert await here.holds_private()
        await elsewhere.add("I have a job interview on Monday")
        await here.add("It is at nine")
        assert elsewhere.private
        assert [item["content"] for item in await here.messages()] == ["It is at nine"]
        assert await elsewhere.end()
        await here.end()
        assert await stored(one) == []
        await elsewhere.add("I like tea")
        assert await elsewhere.end()
        assert await stored(one) == ["I like tea"]


@NEEDS_PROGRAM
async def test_while_redis_is_away_sessions_say_so_and_everything_else_goes_on(tmp_path: Path) -> None:
    address = f"redis://:s3cret@127.0.0.1:{free_port()}/0"
    async with replica({"path": tmp_path, "redis_url": address}) as memory:
        await memory.add("I live in Berlin", user_id="ada")
        with pytest.raises(StoreError, match="cannot be reached: check that the server runs"):
            await memory.session(**WHO).add("I like tea")
        with pytest.raises(StoreError):  # what is in Redis of her could not be erased
            await memory.delete_all(user_id="ada")
        assert (await memory.search("Where do I live?", user_id="ada"))["results"]
        found = await memory.session(**WHO).search("Where do I live?")
        assert found["results"][0]["memory"] == "I live in Berlin"
        assert found["failed_retrievers"] == {"working": "store"}
        block = await memory.session(**WHO).get_context("Where do I live?")
        assert (block["messages"], "Berlin" in block["context"]) == ([], True)
        with pytest.raises(StoreError):
            await memory.session(**WHO).get_context()
        assert not any("tea" in text for text in await stored(memory))
        [finding] = [item for item in (await memory.maintenance.diagnose())["findings"] if item["part"] == "redis"]
        assert finding["state"] == "attention"
        assert "cannot be reached" in finding["detail"]
        assert "s3cret" not in finding["detail"]


@NEEDS_PROGRAM
async def test_the_doctor_says_how_redis_ought_to_be_set_up(tmp_path: Path) -> None:
    details = []
    for options in ([], ["--appendonly", "yes"], ["--maxmemory-policy", "allkeys-lru"]):
        with own_server(tmp_path, *options) as (address, _):
            async with replica({"path": tmp_path, "redis_url": address}) as memory:
                findings = (await memory.maintenance.diagnose())["findings"]
                details += [item for item in findings if item["part"] == "redis"]
    assert [item["state"] for item in details] == ["attention", "on", "attention"]
    assert "set its appendonly to yes" in details[0]["detail"]
    assert "set its maxmemory-policy to noeviction" in details[2]["detail"]
