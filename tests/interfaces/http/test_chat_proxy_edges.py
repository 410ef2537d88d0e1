"""What a proxy meets beside ordinary chats: tenants side by side, endpoints that fail halfway, odd requests."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from ebbing.interfaces.http.chat_proxy.chat_sessions import MAX_KEYS
from tests.interfaces.http.running_proxy import CHAT, chat, proxy, settled, stored
from tests.interfaces.http.scripted_endpoint import REFUSAL, Endpoint, completion_of, scripted_endpoint

pytestmark = pytest.mark.anyio


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with scripted_endpoint() as running:
        yield running


# ── conversations ────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_the_same_words_in_two_conversations_are_remembered_in_both(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, app):
        for session in ("first", "second"):
            await client.post(CHAT, json=chat("Good morning."), headers={"x-ebbing-session": session})
            await settled(app)
        for session in ("first", "second"):
            answer = await app.state.memory.get_all(user_id="emma", run_id=session, include="episodes")
            assert sorted(item["memory"] for item in answer["results"]) == ["Good morning.", "Noted."], session


async def test_what_is_taken_back_in_a_conversation_stays_in_the_other_that_holds_the_same_words(
    endpoint: Endpoint,
) -> None:
    said = "I have a job interview on Monday."
    async with proxy(endpoint) as (client, app):
        for session in ("first", "second"):
            await client.post(CHAT, json=chat(said), headers={"x-ebbing-session": session})
            await settled(app)
        taken_back = chat(said, "Noted.", "Don't remember what I just said.")
        await client.post(CHAT, json=taken_back, headers={"x-ebbing-session": "second"})
        await settled(app)
        kept = {
            session: await app.state.memory.get_all(user_id="emma", run_id=session, include="episodes")
            for session in ("first", "second")
        }
    assert said in [item["memory"] for item in kept["first"]["results"]]
    assert said not in [item["memory"] for item in kept["second"]["results"]]


async def test_another_answer_in_a_conversation_ends_nothing_that_another_conversation_said(
    endpoint: Endpoint,
) -> None:
    async with proxy(endpoint) as (client, app):
        for session, answer in (("first", "Your sister Ada lives in Leeds."), ("second", "Good night.")):
            endpoint.answers = {"What do you know?": answer}
            await client.post(CHAT, json=chat("What do you know?"), headers={"x-ebbing-session": session})
            await settled(app)
            after = await stored(app)
            if session == "first":
                before = after
    assert after == before


@pytest.mark.extended
async def test_two_conversations_without_a_name_that_begin_alike_are_both_remembered(
    endpoint: Endpoint, tmp_path: Any
) -> None:
    answers = ("How are you?", "Did you sleep well?")
    for answer in answers:
        endpoint.answers = {"Good morning.": answer}
        async with proxy(endpoint, store="sqlite", path=tmp_path) as (client, app):
            for said in (["Good morning."], ["Good morning.", answer, "Fine."]):
                await client.post(CHAT, json=chat(*said))
                await settled(app)
            episodes = await stored(app, include="episodes")
    assert sorted(episodes) == sorted([*answers, *["Good morning.", "Fine.", "Noted."] * 2])


# ── tenants ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def keys_of_tenants(app: Any, *tenants: str) -> list[dict[str, str]]:
    views = [app.state.memories.of(tenant) for tenant in tenants]
    keys = [await view.api_keys.create("write", user_id="emma") for view in views]
    return [{"authorization": f"Bearer {key['key']}"} for key in keys]


async def test_a_memory_that_fails_for_a_tenant_stays_at_hand_for_the_others(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with proxy(endpoint) as (client, app):
        north, south = await keys_of_tenants(app, "north", "south")
        await app.state.memories.of("south").add("I'm allergic to peanuts.", user_id="emma")

        async def fail(*_: Any, **__: Any) -> None:
            raise RuntimeError("the disk is gone")

        monkeypatch.setattr(app.state.memories.of("north"), "get_context", fail)
        for number in range(8):
            await client.post(CHAT, json=chat(f"Question {number}?"), headers=north)
        answer = await client.post(CHAT, json=chat("What am I allergic to?"), headers=south)
    assert answer.headers["x-ebbing-memory"] == "used"
    assert "peanuts" in endpoint.calls[-1].body.decode()


async def test_a_tenant_with_very_many_chats_makes_nobody_else_forget_theirs(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, app):
        north, south = await keys_of_tenants(app, "north", "south")
        first = await client.post(CHAT, json=chat("Off we go."), headers={**south, "x-ebbing-memory": "read"})
        sessions = app.state.chat_proxy.sessions
        for number in range(MAX_KEYS + 10):
            sessions.find(("north", "emma", ""), f"chat {number}", turns=[])
        await client.post(CHAT, json=chat("Off we go.", "Noted.", "Where to?"), headers=south)
        await settled(app)
        answer = await app.state.memories.of("south").get_all(user_id="emma", include="episodes")
        assert "Off we go." not in [item["memory"] for item in answer["results"]]
    assert first.status_code == 200
    assert north


# ── what goes to the endpoint ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("query", ["api-version=2024-10-21", "a=b%20c&a=%E4%BD%A0&=", "x=1?y=/../z"])
async def test_a_query_goes_to_the_endpoint_as_it_came(endpoint: Endpoint, query: str) -> None:
    async with proxy(endpoint) as (client, _):
        await client.post(f"{CHAT}?{query}", json=chat("Hello."))
        await client.post(f"{CHAT}?{query}", content=b"no chat")
        await client.get(f"/v1/models?{query}")
    assert [call.path.partition("?")[2] for call in endpoint.calls] == [query] * 3


async def test_the_query_of_the_endpoints_address_stands_before_that_of_the_host(endpoint: Endpoint) -> None:
    url = f"{endpoint.url}?api-version=2024-10-21"
    async with proxy(None, proxy_url=url) as (client, _):
        await client.post(CHAT, json=chat("Hello."))
        await client.post(f"{CHAT}?x=1", json=chat("Hello."))
    wanted = ["/v1/chat/completions?api-version=2024-10-21", "/v1/chat/completions?api-version=2024-10-21&x=1"]
    assert [call.path for call in endpoint.calls] == wanted


async def test_a_query_that_is_none_is_refused_before_anybody_is_asked(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, app):
        at = str(client.base_url).removeprefix("http://").rstrip("/")
        reader, writer = await asyncio.open_connection(*at.split(":"))
        body = json.dumps(chat("Hello.")).encode()
        head = f"POST {CHAT}?x={'a' * 65_600} HTTP/1.1\r\nhost: {at}\r\nconnection: close\r\n"
        writer.write(head.encode() + f"content-length: {len(body)}\r\n\r\n".encode() + body)
        status = (await reader.readline()).decode()
        writer.close()
        await settled(app)
    assert status.split()[1] == "400"
    assert endpoint.calls == []


async def test_what_belongs_to_one_connection_goes_no_further(endpoint: Endpoint) -> None:
    headers = {"connection": "keep-alive, X-Hop", "x-hop": "1", "te": "trailers", "keep-alive": "timeout=9"}
    async with proxy(endpoint) as (client, _):
        answer = await client.post(CHAT, json=chat("Hello.", model="odd_headers"), headers=headers)
    sent = endpoint.calls[0].headers
    assert not {"x-hop", "te"} & sent.keys()
    assert sent.get("keep-alive") is None
    assert "x-hop" not in answer.headers


async def test_an_endpoint_cannot_speak_for_the_memory(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, _):
        answer = await client.post(CHAT, json=chat("Hello.", model="odd_headers"))
    assert answer.headers.get_list("x-ebbing-memory") == ["nothing"]
    assert "x-ebbing-user" not in answer.headers


async def test_where_a_caller_came_from_is_not_passed_on(endpoint: Endpoint) -> None:
    names = ("cf-connecting-ip", "true-client-ip", "x-client-ip", "x-cluster-client-ip", "x-original-forwarded-for")
    async with proxy(endpoint) as (client, _):
        await client.post(CHAT, json=chat("Hello."), headers=dict.fromkeys(names, "192.0.2.7"))
    assert "192.0.2.7" not in str(endpoint.calls[0].headers)


async def test_a_key_in_the_way_of_azure_is_the_endpoints(endpoint: Endpoint) -> None:
    async with proxy(endpoint, proxy_api_key="sk-endpoint") as (client, _):
        await client.post(CHAT, json=chat("Hello."), headers={"api-key": "any"})
    assert endpoint.calls[0].headers["api-key"] == "sk-endpoint"


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("model", ["fails_midway", "ends_early"])
async def test_an_answer_that_failed_on_its_way_is_not_remembered(endpoint: Endpoint, model: str) -> None:
    async with proxy(endpoint) as (client, app):
        answer = await client.post(CHAT, json=chat("I live in Leeds.", model=model, stream=True))
        await settled(app)
        assert "I was about to" in answer.text
        assert await stored(app, include="episodes") == ["I live in Leeds."]


@pytest.mark.parametrize("stream", [True, False])
async def test_a_refusal_that_looks_like_an_answer_leaves_nothing(endpoint: Endpoint, stream: bool) -> None:
    async with proxy(endpoint) as (client, app):
        answer = await client.post(CHAT, json=chat("I live in Leeds.", model="fails_at_once", stream=stream))
        await settled(app)
        assert REFUSAL in answer.content
        assert await stored(app, include="all") == []


async def test_a_long_stream_is_remembered_by_what_it_says(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, app), httpx.AsyncClient(timeout=20) as direct:
        asked = chat("I live in Leeds.", model="long", stream=True)
        through = await client.post(CHAT, json=asked, headers={"x-ebbing-user": "stranger"})
        beside = await direct.post(f"{endpoint.url}/chat/completions", json=asked)
        await settled(app)
        assert through.content == beside.content
        assert await stored(app, "stranger", "episodes") == ["I live in Leeds.", "Noted."]


async def test_a_compressed_answer_is_passed_on_as_it_is(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, app):
        async with client.stream("POST", CHAT, json=chat("I live in Leeds.", model="gzipped")) as answer:
            raw = b"".join([chunk async for chunk in answer.aiter_raw()])
        await settled(app)
        assert await stored(app, include="episodes") == ["I live in Leeds."]
    assert answer.headers["content-encoding"] == "gzip"
    assert gzip.decompress(raw) == completion_of({"content": "Noted."})


async def test_of_several_choices_the_first_is_remembered(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, app):
        asked = chat("I live in Leeds.", model="two_choices", stream=True, n=2, stream_options={"include_usage": True})
        await client.post(CHAT, json=asked)
        await settled(app)
        assert await stored(app, include="episodes") == ["I live in Leeds.", "Noted."]
    assert json.loads(endpoint.calls[0].body)["stream_options"] == {"include_usage": True}


# ── requests that are no chats ───────────────────────────────────────────────────────────────────────────────────────


async def test_a_proxy_that_is_off_is_idle_whatever_it_was_asked() -> None:
    async with proxy(None) as (client, app):
        await client.post(CHAT, json=chat("Hello."))
        await client.get("/v1/models")
        async with asyncio.timeout(2):
            await settled(app)


@pytest.mark.parametrize(
    "path",
    [
        "/v1/responses",
        "/v1/responses/resp_1",
        "/v1/embeddings",
        "/v1/completions",
        "/v1/images/generations",
        "/chat/completions",
        "/v1/v1/models",
    ],
)
@pytest.mark.parametrize("method", ["POST", "GET"])
async def test_other_endpoints_are_refused_in_words_that_a_host_can_show(
    endpoint: Endpoint, path: str, method: str
) -> None:
    async with proxy(endpoint) as (client, _):
        answer = await client.request(method, path, content=b"{}" if method == "POST" else None)
    assert answer.status_code == 404
    error = answer.json()["error"]
    assert error["code"] == "not_proxied"
    assert "/v1/chat/completions" in error["message"]
    assert endpoint.calls == []


@pytest.mark.parametrize(("method", "path"), [("HEAD", "/v1/models"), ("DELETE", CHAT), ("GET", CHAT)])
async def test_another_method_is_refused_in_the_words_of_openai(endpoint: Endpoint, method: str, path: str) -> None:
    async with proxy(endpoint) as (client, _):
        answer = await client.request(method, path)
    assert answer.status_code == 405
    assert method == "HEAD" or answer.json()["error"]["code"] == "method_not_allowed"
    assert endpoint.calls == []


async def test_a_client_that_leaves_while_it_sends_is_no_error_of_the_service(
    endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    async with proxy(endpoint) as (client, app):
        _, writer = await asyncio.open_connection(*str(client.base_url).removeprefix("http://").rstrip("/").split(":"))
        writer.write(f"POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n{{".encode())
        await writer.drain()
        writer.close()
        await client.post(CHAT, json=chat("Hello."))
        await settled(app)
    assert "unexpected" not in caplog.text
    assert len(endpoint.calls) == 1


async def test_a_question_that_cannot_be_asked_makes_nobody_else_go_without(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, app):
        await app.state.memory.add("I'm allergic to peanuts.", user_id="emma")
        for _ in range(8):
            await client.post(CHAT, json=chat("\0"), headers={"x-ebbing-user": "stranger"})
        answer = await client.post(CHAT, json=chat("What am I allergic to?"))
    assert answer.headers["x-ebbing-memory"] == "used"
