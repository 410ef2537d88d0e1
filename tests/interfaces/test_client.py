"""The client against the real service, and against servers that are down, slow, or somebody else's."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from inspect import iscoroutinefunction, signature
from typing import Any

import httpx
import pytest

from ebbing import AsyncMemory
from ebbing.client import AsyncClient, Client, HostPolicy, MemoryService, Paths, ServerUnavailableError
from ebbing.domain.errors import (
    InvalidInputError,
    MemoryNotFoundError,
    MemoryServerError,
    NotFoundError,
    UnauthorizedError,
)
from ebbing.interfaces.http.app import create_app
from ebbing.resilience import retry as http_waits
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.wiring.build import build, load_settings

pytestmark = pytest.mark.anyio
Handler = Callable[[httpx.Request], httpx.Response]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def client() -> AsyncIterator[AsyncClient]:
    settings = load_settings({"store": "ephemeral", "embedder": "none"})
    async with AsyncMemory(components=build(settings, embedder=FakeEmbedder())) as memory:
        transport = httpx.ASGITransport(create_app(memory), raise_app_exceptions=False)
        async with AsyncClient("http://localhost:8830", transport=transport) as opened:
            yield opened


async def test_a_memory_lives_its_life_over_the_client(client: AsyncClient) -> None:
    assert await client.is_well()
    added = await client.add("I am allergic to peanuts.", user_id="emma", metadata={"chat": 1})
    assert added["id"]
    [first, *_] = await client.search("peanuts", user_id="emma", include="memories")
    assert "peanuts" in first.text
    assert first.raw["metadata"] == {"chat": 1}
    assert (await client.get(first.id, user_id="emma")).text == first.text
    changed = await client.update(first.id, "User is allergic to all nuts.", user_id="emma")
    assert changed.text == "User is allergic to all nuts."
    assert [entry["event"] for entry in await client.history(first.id)] == ["ADD", "UPDATE"]
    assert (await client.explain(first.id))["id"] == first.id
    await client.delete(first.id, reason="test")
    assert await client.search("nuts", user_id="emma", include="memories") == []
    assert (await client.restore(first.id)).id == first.id
    listed, after = await client.get_all(user_id="emma", limit=1)
    assert ([item.id for item in listed], after) == ([first.id], None)


async def test_a_chinese_conversation_is_remembered(client: AsyncClient) -> None:
    said = [{"role": "user", "content": "我对花生过敏。"}, {"role": "assistant", "content": "记住了。"}]
    assert await client.remember(said, user_id="小明", agent_id="助手")
    found = await client.recall("花生", user_id="小明")
    assert any("花生" in item.text for item in found)


async def test_refusals_are_the_errors_that_the_library_raises(client: AsyncClient) -> None:
    with pytest.raises(MemoryNotFoundError, match="no memory with this id"):
        await client.get("nothing", user_id="emma")
    with pytest.raises(InvalidInputError, match="query"):
        await client.search("  ", user_id="emma")
    with pytest.raises(NotFoundError):
        await client.delete("../keys", user_id="emma")


def test_the_twins_have_the_same_methods_with_the_same_signatures() -> None:
    for name, method in vars(AsyncClient).items():
        if iscoroutinefunction(method) and not name.startswith("_") and name != "aclose":
            assert signature(getattr(Client, name)) == signature(method), name
            assert getattr(Client, name).__doc__ == method.__doc__


def test_the_blocking_client_closes_twice() -> None:
    with Client(transport=httpx.MockTransport(lambda _: httpx.Response(200, json={"results": []}))) as client:
        assert client.search("tea", user_id="emma") == []
    client.close()


# ── servers that misbehave ───────────────────────────────────────────────────────────────────────────────────────────


def against(handler: Handler, **options: Any) -> AsyncClient:
    return AsyncClient("http://memory.test", transport=httpx.MockTransport(handler), **options)


async def test_a_read_is_repeated_and_so_is_an_add_under_one_key() -> None:
    seen: list[httpx.Request] = []

    def flaky(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(503) if len(seen) % 2 else httpx.Response(200, json={"id": "m1", "results": []})

    client = against(flaky)
    assert await client.search("tea", user_id="emma") == []
    assert (await client.add("I like tea", user_id="emma"))["id"] == "m1"
    assert len(seen) == 4
    keys = {request.headers["Idempotency-Key"] for request in seen[2:]}
    assert len(keys) == 1


@pytest.mark.parametrize("call", ["update", "delete", "foreign add"])
async def test_what_may_not_be_done_twice_is_sent_once(call: str) -> None:
    seen: list[str] = []

    def failing(request: httpx.Request) -> httpx.Response:
        seen.append(request.method)
        return httpx.Response(503, json={"detail": "busy"})

    client = against(failing, paths=Paths(add="/memories", search="/search") if call == "foreign add" else Paths())
    with pytest.raises(ServerUnavailableError, match="busy"):
        await {
            "update": lambda: client.update("m1", "x"),
            "delete": lambda: client.delete("m1"),
            "foreign add": lambda: client.add("I like tea", user_id="emma"),
        }[call]()
    assert len(seen) == 1


async def test_a_server_that_asks_for_longer_than_there_is_time_is_not_waited_for() -> None:
    client = against(lambda _: httpx.Response(429, headers={"Retry-After": "60"}), seconds=2)
    began = time.monotonic()
    with pytest.raises(ServerUnavailableError):
        await client.search("tea", user_id="emma")
    assert time.monotonic() - began < 1


async def test_after_five_failures_the_server_is_left_alone() -> None:
    seen: list[int] = []

    def down(request: httpx.Request) -> httpx.Response:
        seen.append(1)
        raise httpx.ConnectError("refused")

    client = against(down)
    for _ in range(8):
        with pytest.raises(ServerUnavailableError):
            await client.delete("m1")
    assert len(seen) == 5


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (401, {"detail": "no"}, UnauthorizedError),
        (404, "not json", MemoryNotFoundError),
        (422, {"detail": [{"loc": ["body"]}]}, InvalidInputError),
        (418, {"message": "teapot"}, MemoryServerError),
        (200, "<html>", ServerUnavailableError),
    ],
)
async def test_answers_of_other_servers_become_typed_errors(status: int, body: Any, error: type[Exception]) -> None:
    content = body if isinstance(body, str) else json.dumps(body)
    with pytest.raises(error):
        await against(lambda _: httpx.Response(status, text=content)).get("m1")


async def test_a_server_like_mem0_is_understood() -> None:
    def mem0(request: httpx.Request) -> httpx.Response:
        asked = json.loads(request.content)
        assert asked["user_id"] == "emma"
        if request.url.path == "/search":
            return httpx.Response(
                200, json=[{"id": "1", "memory": "likes tea", "score": 0.8, "categories": ["drinks"]}]
            )
        return httpx.Response(200, json={"results": [{"id": "2", "memory": "likes tea", "event": "ADD"}]})

    client = against(mem0, paths=Paths(add="/memories", search="/search"))
    [item] = await client.recall("tea", user_id="emma")
    assert (item.text, item.score, item.tags) == ("likes tea", 0.8, ("drinks",))
    assert await client.remember("I like tea", user_id="emma") == "2"


# ── a real socket, for what no transport can show ────────────────────────────────────────────────────────────────────


@pytest.fixture
async def socket_server() -> AsyncIterator[Callable[[bytes | None], Any]]:
    """Opens a port that answers every connection with bytes, or with nothing at all."""
    servers: list[asyncio.Server] = []
    held: list[asyncio.StreamWriter] = []

    async def opened(answer: bytes | None) -> str:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            held.append(writer)
            await reader.read(1)
            if answer is not None:
                writer.write(answer)
                await writer.drain()
                writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        servers.append(server)
        return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    yield opened
    for writer in held:
        writer.close()
    for server in servers:
        server.close()


@pytest.mark.parametrize("answer", [None, b"garbage\r\n\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{", b""])
async def test_a_hung_or_broken_service_holds_no_conversation_up(
    socket_server: Callable[[bytes | None], Any], answer: bytes | None
) -> None:
    client = AsyncClient(await socket_server(answer), seconds=5)
    service = MemoryService(client, HostPolicy(recall_seconds=0.3, write_seconds=0.3))
    began = time.monotonic()
    assert await service.recall_context("emma", "tea?") is None
    assert time.monotonic() - began < 0.45
    for _ in range(4):
        await service.recall_context("emma", "tea?")
    began = time.perf_counter()
    assert await service.recall_context("emma", "tea?") is None
    assert time.perf_counter() - began < 0.01
    await service.aclose()


async def test_a_closed_port_is_no_trouble() -> None:
    service = MemoryService(AsyncClient("http://127.0.0.1:9", seconds=5), HostPolicy(recall_seconds=0.5))
    assert await service.recall_context("emma", "tea?") is None
    await service.aclose()


@pytest.fixture(autouse=True)
def quick_and_direct(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(http_waits, "FIRST_WAIT_SECONDS", 0.01)
