"""A chat goes through the proxy unchanged but for what is remembered, and is remembered once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import httpx
import pytest

from ebbing.memory import AsyncMemory
from ebbing.wiring.build import build, load_settings
from tests.interfaces.http.running_proxy import CHAT, chat, proxy, settled, stored
from tests.interfaces.http.scripted_endpoint import REFUSAL, Endpoint, scripted_endpoint

pytestmark = pytest.mark.anyio

NOBODY = {"x-ebbing-user": "stranger"}


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with scripted_endpoint() as running:
        yield running


def without_date(headers: httpx.Headers) -> dict[str, str]:
    ours = {"traceparent", "date", "server", "connection", "x-request-id"}
    return {name: value for name, value in headers.items() if name not in ours and not name.startswith("x-ebbing-")}


# ── passed through ───────────────────────────────────────────────────────────────────────────────────────────────────

ODD = (
    '{ "model":"%s","stream":%s,\t"messages" : [ {"role":"user","content":"caf\\u00e9 \\ud83d\\ude00 你好"} ],'
    '"temperature":0.10,"seed":12345678901234567890,"x_unknown":{"b":1.0,"a":[1e3, null]},"stream":%s }'
)


@pytest.mark.parametrize("model", ["echo", "tools", "refuse"])
@pytest.mark.parametrize("stream", ["true", "false"])
async def test_without_a_memory_every_byte_is_as_it_would_be_without_the_proxy(
    endpoint: Endpoint, model: str, stream: str
) -> None:
    body = (ODD % (model, stream, stream)).encode()
    headers = {"content-type": "application/json", "openai-organization": "org", "user-agent": "a/1", **NOBODY}
    async with proxy(endpoint) as (client, _), httpx.AsyncClient(timeout=20) as direct:
        through = await client.post(CHAT, content=body, headers=headers)
        beside = await direct.post(f"{endpoint.url}/chat/completions", content=body, headers=headers)
    assert (through.status_code, through.content) == (beside.status_code, beside.content)
    assert without_date(through.headers) == without_date(beside.headers)
    relayed, asked = endpoint.calls
    assert relayed.body == body
    for name in ("content-type", "openai-organization", "user-agent", "content-length"):
        assert relayed.headers[name] == asked.headers[name]
    assert not [name for name in relayed.headers if name.startswith("x-ebbing-")]


async def test_a_refusal_keeps_its_status_its_words_and_its_headers(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, app):
        answer = await client.post(CHAT, json=chat("My name is Emma.", model="refuse"))
        await settled(app)
        assert await stored(app, include="all") == []
    assert (answer.status_code, answer.content) == (429, REFUSAL)
    assert answer.headers["x-ratelimit-remaining-requests"] == "0"
    assert answer.headers["x-request-id"] == "req_of_endpoint"


@pytest.mark.parametrize(
    "body",
    [
        b"no json",
        b"[]",
        b'{"messages": 1}',
        b'{"messages": []}',
        b"",
        b'{"messages": ["a"',
        b'{"messages": [{"role": []}]}',
    ],
)
async def test_what_is_no_chat_is_left_to_the_endpoint_to_refuse(endpoint: Endpoint, body: bytes) -> None:
    async with proxy(endpoint) as (client, _):
        answer = await client.post(CHAT, content=body)
    assert (answer.status_code, answer.content) == (429, REFUSAL)
    assert endpoint.calls[0].body == body


async def test_the_models_are_those_of_the_endpoint(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, _), httpx.AsyncClient() as direct:
        through, beside = await client.get("/v1/models"), await direct.get(f"{endpoint.url}/models")
    assert (through.status_code, through.content) == (beside.status_code, beside.content)


async def test_a_stream_arrives_while_it_is_made(endpoint: Endpoint) -> None:
    asked = chat("Go on.", model="endless", stream=True)
    async with proxy(endpoint) as (client, _), client.stream("POST", CHAT, json=asked) as answer:
        first = await anext(answer.aiter_raw())
        assert first.startswith(b"data: ")
        assert not endpoint.abandoned.is_set()


async def test_an_endpoint_that_breaks_off_breaks_off(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, app):
        with pytest.raises(httpx.RemoteProtocolError):
            await client.post(CHAT, json=chat("My name is Emma.", model="breaks", stream=True))
        await settled(app)
        assert "I was about to" not in await stored(app, include="all")


async def test_an_endpoint_that_is_not_there_is_told_in_the_words_of_openai() -> None:
    async with proxy(None, proxy_url="http://127.0.0.1:9/v1") as (client, _):
        answer = await client.post(CHAT, json=chat("Hello."))
    assert answer.status_code == 502
    assert answer.json()["error"]["code"] == answer.json()["code"] == "endpoint_unavailable"
    assert "EBBING_PROXY_URL" in answer.json()["error"]["message"]


async def test_a_proxy_that_is_off_says_how_to_switch_it_on() -> None:
    async with proxy(None) as (client, _):
        answers = [await client.post(CHAT, json=chat("Hello.")), await client.get("/v1/models")]
    for answer in answers:
        assert answer.status_code == 404
        assert "EBBING_PROXY_URL" in answer.json()["error"]["message"]


async def test_images_pass_through_untouched(endpoint: Endpoint) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}}
    content = [image, {"type": "text", "text": "What am I allergic to on this plate?"}, image]
    async with proxy(endpoint) as (client, app):
        await app.state.memory.add("I'm allergic to peanuts.", user_id="emma")
        await client.post(CHAT, json={"model": "echo", "messages": [{"role": "user", "content": content}]})
    sent = endpoint.calls[0].messages[-1]["content"]
    assert sent[:3] == content
    assert all(part["type"] == "text" for part in sent[3:])


# ── given to the model ───────────────────────────────────────────────────────────────────────────────────────────────


async def test_who_the_person_is_stands_in_the_system_message_and_what_answers_behind_the_question(
    endpoint: Endpoint,
) -> None:
    async with proxy(endpoint) as (client, app):
        await app.state.memory.add("I'm allergic to peanuts.", user_id="emma")
        await app.state.memory.add("The train to Munich leaves at ten past nine.", user_id="emma", infer=False)
        system = {"role": "system", "content": "You are a travel agent."}
        question = chat("When does my train to Munich leave?")
        answer = await client.post(CHAT, json={**question, "messages": [system, *question["messages"]]})
    first, last = endpoint.calls[0].messages
    assert first["content"].startswith("You are a travel agent.\n\n<recalled-memory>")
    assert "peanuts" in first["content"]
    assert "Munich" not in first["content"]
    assert last["content"].startswith("When does my train to Munich leave?\n\n<recalled-memory>")
    assert "ten past nine" in last["content"]
    assert answer.headers["x-ebbing-memory"] == "used"
    assert answer.headers["x-ebbing-memories"] == "2"


async def test_every_memory_that_is_counted_stands_in_the_prompt(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, app):
        for number in range(14):
            rule = (
                f"Always answer questions about subject {number} with many examples from chapter {number} of the book."
            )
            await app.state.memory.add(f"{rule[:-1]} that the library of the city of Leeds lends out.", user_id="emma")
        answer = await client.post(CHAT, json=chat("What should I read today?"))
    sent = "".join(message["content"] for message in endpoint.calls[0].messages)
    assert len(sent) > 1_600
    assert sent.count("\n- ") == int(answer.headers["x-ebbing-memories"])


async def test_a_preview_shows_the_prompt_and_asks_nobody(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, app):
        await app.state.memory.add("我对花生过敏。", user_id="emma")
        shown = await client.post(CHAT, json=chat("我能吃什么？"), headers={"x-ebbing-preview": "true"})
        await settled(app)
        assert await stored(app, include="episodes") == ["我对花生过敏。"]
    assert endpoint.calls == []
    assert "花生" in shown.json()["messages"][0]["content"]


async def test_a_preview_of_a_chat_without_memory_asks_nobody_either(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, _):
        headers = {"x-ebbing-preview": "true", "x-ebbing-memory": "off"}
        shown = await client.post(CHAT, json=chat("Hello."), headers=headers)
    assert shown.json() == chat("Hello.")
    assert shown.headers["x-ebbing-memory"] == "off"
    assert endpoint.calls == []


async def test_memory_is_off_for_a_chat_that_says_so(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, app):
        await app.state.memory.add("I'm allergic to peanuts.", user_id="emma")
        body = json.dumps(chat("I live in Leeds. What am I allergic to?")).encode()
        answer = await client.post(CHAT, content=body, headers={"x-ebbing-memory": "off"})
        await settled(app)
        assert await stored(app) == ["User is allergic to peanuts"]
    assert endpoint.calls[0].body == body
    assert answer.headers["x-ebbing-memory"] == "off"


async def test_a_chat_that_only_reads_is_not_remembered_when_it_is_sent_again(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, app):
        await client.post(CHAT, json=chat("I live in Leeds."), headers={"x-ebbing-memory": "read"})
        await client.post(CHAT, json=chat("I live in Leeds.", "Noted.", "My sister is called Ada."))
        await settled(app)
        assert "Leeds" not in str(await stored(app, include="all"))
        assert "Ada" in str(await stored(app))


async def test_a_general_agent_gets_only_what_surely_answers(endpoint: Endpoint) -> None:
    for agent, count in (("general", 0), ("personal", 1), ("tool", 0)):
        endpoint.calls.clear()
        async with proxy(endpoint, proxy_agent=agent) as (client, app):
            await app.state.memory.add("The garden needs water in July.", user_id="emma", infer=False)
            await client.post(CHAT, json=chat("Does the new office have a garden or a roof?"))
        assert endpoint.calls[0].body.count(b"<recalled-memory>") == count, agent


async def test_what_a_host_asks_for_itself_is_neither_answered_from_memory_nor_remembered(endpoint: Endpoint) -> None:
    body = json.dumps(chat("### Task:\nGenerate a concise title.\nUSER: I live in Leeds.")).encode()
    async with proxy(endpoint) as (client, app):
        await app.state.memory.add("I'm allergic to peanuts.", user_id="emma")
        await client.post(CHAT, content=body)
        await settled(app)
        assert "Leeds" not in str(await stored(app, include="all"))
    assert endpoint.calls[0].body == body


# ── remembered ───────────────────────────────────────────────────────────────────────────────────────────────────────

TALKS = {
    "en": [
        ("I live in Leeds, and I'm allergic to peanuts.", "Noted, no peanuts."),
        ("My sister is called Ada.", "A lovely name. Do you have any pets?"),
        ("Two cats.", "Sweet."),
    ],
    "zh": [
        ("我住在杭州，对花生过敏。", "好的，记住了。"),
        ("我妹妹叫小雨。", "真好听。你养宠物吗？"),
        ("养了两只猫。", "真可爱。"),
    ],
}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("stream", [True, False])
async def test_what_is_remembered_is_what_add_would_keep(endpoint: Endpoint, language: str, stream: bool) -> None:
    talk = TALKS[language]
    endpoint.answers = dict(talk)
    said: list[str] = []
    async with proxy(endpoint) as (client, app):
        for question, answer in talk:
            said.append(question)
            await client.post(CHAT, json=chat(*said, stream=stream))
            said.append(answer)
            await settled(app)
        kept = {include: await stored(app, include=include) for include in ("memories", "episodes")}
        await app.state.memory.add(chat(*said)["messages"], user_id="beside")
        beside = {include: await stored(app, "beside", include) for include in ("memories", "episodes")}
    assert kept == beside
    assert len(kept["memories"]) >= 3
    assert len(kept["episodes"]) == len(said)


async def test_a_conversation_from_elsewhere_is_remembered_whole(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, app):
        await client.post(CHAT, json=chat("I live in Leeds.", "Nice.", "My sister is called Ada."))
        await settled(app)
        assert sorted(await stored(app, include="episodes")) == [
            "I live in Leeds.",
            "My sister is called Ada.",
            "Nice.",
            "Noted.",
        ]


@pytest.mark.extended
async def test_a_service_that_was_restarted_remembers_a_conversation_once(endpoint: Endpoint, tmp_path: Any) -> None:
    said = ["I live in Leeds.", "Noted.", "My sister is called Ada.", "Noted.", "I like jazz."]
    for turns in (1, 3, 5):
        async with proxy(endpoint, store="sqlite", path=tmp_path) as (client, app):
            await client.post(CHAT, json=chat(*said[:turns]))
            await settled(app)
            episodes = await stored(app, include="episodes")
    assert sorted(episodes) == sorted([*said, "Noted."])


async def test_another_answer_takes_the_place_of_the_first(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, app):
        for answer in ("Leeds is rainy.", "Leeds is lovely."):
            endpoint.answers = {"I live in Leeds.": answer}
            await client.post(CHAT, json=chat("I live in Leeds."))
            await settled(app)
        assert await stored(app, include="episodes") == ["I live in Leeds.", "Leeds is lovely."]


async def test_a_host_that_leaves_out_the_oldest_messages_tells_nothing_twice(endpoint: Endpoint) -> None:
    said = [text for round_ in TALKS["en"] for text in round_]
    endpoint.answers = dict(TALKS["en"])
    async with proxy(endpoint) as (client, app):
        for end in (1, 3, 5):
            await client.post(CHAT, json=chat(*said[max(0, end - 3) : end]))
            await settled(app)
        assert sorted(await stored(app, include="episodes")) == sorted(said)


async def test_what_is_put_off_the_record_later_is_taken_back(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, app):
        await client.post(CHAT, json=chat("I have a job interview on Monday."))
        await settled(app)
        assert "interview" in str(await stored(app, include="all"))
        await client.post(
            CHAT, json=chat("I have a job interview on Monday.", "Noted.", "Don't remember what I just said.")
        )
        await settled(app)
        assert "interview" not in str(await stored(app, include="all"))


async def test_a_secret_that_was_announced_stays_off_the_record_in_every_later_round(endpoint: Endpoint) -> None:
    asked, secret = "Can I tell you a secret? Please don't write it down.", "I owe my landlord 900 quid."
    endpoint.answers = {asked: "Go on.", secret: "900 quid to a landlord is a lot."}
    said = [asked, "Go on.", secret, "900 quid to a landlord is a lot.", "I like jazz.", "Noted.", "I ski."]
    async with proxy(endpoint) as (client, app):
        for end in (1, 3, 5, 7):
            await client.post(CHAT, json=chat(*said[:end]))
            await settled(app)
        everything = await stored(app, include="all")
        assert "landlord" not in str(everything)
        assert {"I like jazz.", "I ski."} <= {*everything}


async def test_what_was_put_into_the_prompt_is_never_remembered_as_said(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, app):
        await app.state.memory.add("I'm allergic to peanuts.", user_id="emma")
        await client.post(CHAT, json=chat("What am I allergic to?"))
        await settled(app)
        assert "recalled-memory" in endpoint.calls[0].body.decode()
        assert "recalled-memory" not in str(await stored(app, include="all"))
        assert await stored(app) == ["User is allergic to peanuts"]


async def test_thoughts_before_an_answer_are_not_remembered(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, app):
        await client.post(CHAT, json=chat("I live in Leeds.", model="thinks"))
        await settled(app)
        assert await stored(app, include="episodes") == ["Hello!", "I live in Leeds."]


@pytest.mark.parametrize("thought", ["<think>They like me.</think>\n\n", "They like me.\n</think>\n\n"])
async def test_thoughts_that_a_host_sends_again_are_not_remembered(endpoint: Endpoint, thought: str) -> None:
    endpoint.answers = {"I live in Leeds.": f"{thought}Hello!"}
    async with proxy(endpoint) as (client, app):
        await client.post(CHAT, json=chat("I live in Leeds."))
        await settled(app)
        await client.post(CHAT, json=chat("I live in Leeds.", f"{thought}Hello!", "And I like jazz."))
        await settled(app)
        assert await stored(app, include="episodes") == ["And I like jazz.", "Hello!", "I live in Leeds.", "Noted."]


async def test_thoughts_that_were_cut_off_are_no_answer(endpoint: Endpoint) -> None:
    endpoint.answers = {"I live": "<think>They live in"}
    async with proxy(endpoint) as (client, app):
        await client.post(CHAT, json=chat("I live in Leeds."))
        await settled(app)
        assert await stored(app, include="episodes") == ["I live in Leeds."]


async def test_an_answer_is_remembered_when_the_client_leaves_at_its_last_event(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, app):
        asked = chat("I live in Leeds.", model="lingers", stream=True)
        async with client.stream("POST", CHAT, json=asked) as answer:
            async for chunk in answer.aiter_raw():
                if b"[DONE]" in chunk:
                    break
        await settled(app)
        assert await stored(app, include="episodes") == ["I live in Leeds.", "Noted."]


async def test_calls_of_tools_get_one_block_and_are_remembered_as_one_round(endpoint: Endpoint) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    messages: list[dict[str, Any]] = [{"role": "user", "content": "How is the weather where I live?"}]
    endpoint.answers = {"How is the weather": "It rains."}
    async with proxy(endpoint) as (client, app):
        await app.state.memory.add("I live in Leeds.", user_id="emma")
        await client.post(CHAT, json={"model": "tools", "messages": messages})
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": "rain in Leeds"},
        ]
        await client.post(CHAT, json={"model": "tools", "messages": messages})
        await settled(app)
        assert "It rains." in await stored(app, include="episodes")
        assert "rain in Leeds" not in await stored(app, include="episodes")
    before, after = (call.messages for call in endpoint.calls)
    assert after[: len(before)] == before
    assert after[len(before) :] == messages[1:]


# ── whose ────────────────────────────────────────────────────────────────────────────────────────────────────────────


async def keys_of(app: Any, *users: str | None, role: str = "write") -> list[dict[str, str]]:
    """Headers of a key for each user."""
    keys = [await app.state.memory.api_keys.create(role, user_id=user) for user in users]
    return [{"authorization": f"Bearer {key['key']}"} for key in keys]


async def test_two_keys_never_share_a_memory(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, app):
        emma, bob = await keys_of(app, "emma", "bob")
        await client.post(CHAT, json=chat("I'm allergic to peanuts."), headers=emma)
        await settled(app)
        question = {**chat("What am I allergic to?"), "user": "emma"}
        answer = await client.post(CHAT, json=question, headers={**bob, "x-openwebui-user-id": "emma"})
        assert answer.headers["x-ebbing-memory"] == "nothing"
        forbidden = await client.post(CHAT, json=question, headers={**bob, "x-ebbing-user": "emma"})
        assert forbidden.status_code == 403
        await settled(app)
        assert await stored(app, "bob", "episodes") == ["Noted.", "What am I allergic to?"]
    assert "peanuts" not in endpoint.calls[1].body.decode()
    assert all("authorization" not in call.headers for call in endpoint.calls)


@pytest.mark.parametrize("named", [{"x-ebbing-user": "emma"}, {"x-openwebui-user-id": "emma"}, {}])
async def test_a_key_for_the_tenant_names_its_user(endpoint: Endpoint, named: dict[str, str]) -> None:
    async with proxy(endpoint) as (client, app):
        [key] = await keys_of(app, None)
        more = {} if named else {"user": "emma"}
        await client.post(CHAT, json=chat("I live in Leeds.", **more), headers={**key, **named})
        await settled(app)
        assert await stored(app) == ["User lives in Leeds"]


async def test_a_key_for_the_tenant_that_names_nobody_is_refused(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, app):
        [key] = await keys_of(app, None)
        answer = await client.post(CHAT, json=chat("I live in Leeds."), headers=key)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "missing_owner"
    assert "X-Ebbing-User" in answer.json()["error"]["message"]
    assert endpoint.calls == []


@pytest.mark.parametrize(
    ("name", "other_name"), [(b"Ren\xe9", b"Ren\xe8"), (b"a" * 256 + b"1", b"a" * 256 + b"2")], ids=["latin-1", "long"]
)
async def test_two_names_of_users_never_become_the_same(endpoint: Endpoint, name: bytes, other_name: bytes) -> None:
    async with proxy(endpoint) as (client, app):
        answers = [
            await client.post(CHAT, json=chat("My dog is called Rex."), headers={b"x-ebbing-user": user})
            for user in (name, other_name)
        ]
        await settled(app)
    assert [answer.status_code for answer in answers] == [400, 400]
    assert endpoint.calls == []


@pytest.mark.parametrize("name", [b"Gespr\xe4ch", b"c" * 300], ids=["latin-1", "long"])
async def test_any_name_of_a_conversation_will_do(endpoint: Endpoint, name: bytes) -> None:
    async with proxy(endpoint) as (client, app):
        answer = await client.post(CHAT, json=chat("I live in Leeds."), headers={b"x-ebbing-session": name})
        await settled(app)
        assert answer.status_code == 200
        assert await stored(app) == ["User lives in Leeds"]


async def test_a_key_that_only_reads_changes_nothing(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, app):
        await app.state.memory.add("I'm allergic to peanuts.", user_id="emma")
        [key] = await keys_of(app, "emma", role="read")
        await client.post(CHAT, json=chat("I live in Leeds. What am I allergic to?"), headers=key)
        await settled(app)
        assert "Leeds" not in str(await stored(app, include="all"))
    assert "peanuts" in endpoint.calls[0].body.decode()


WHERE_FROM = dict.fromkeys(("cookie", "forwarded", "referer", "via", "x-forwarded-for", "x-real-ip"), "ours=1")


async def test_the_endpoint_gets_its_own_key_and_never_ours(endpoint: Endpoint) -> None:
    async with proxy(endpoint, proxy_api_key="sk-endpoint") as (client, app):
        [key] = await keys_of(app, "emma")
        await client.post(CHAT, json=chat("Hello."), headers={**key, **WHERE_FROM, "x-api-key": "ours"})
    headers = endpoint.calls[0].headers
    assert headers["authorization"] == "Bearer sk-endpoint"
    assert "ours" not in str(headers)


async def test_an_open_service_passes_on_the_key_that_the_host_has(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, _):
        await client.post(CHAT, json=chat("Hello."), headers={"authorization": "Bearer sk-of-the-host"})
    assert endpoint.calls[0].headers["authorization"] == "Bearer sk-of-the-host"


async def test_the_same_words_to_two_characters_are_remembered_for_both(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, app):
        for agent in ("mira", "luna"):
            await client.post(CHAT, json=chat("I live in Leeds."), headers={"x-ebbing-agent": agent})
            await settled(app)
        for agent in ("mira", "luna"):
            answer = await app.state.memory.get_all(user_id="emma", agent_id=agent, include="episodes")
            assert sorted(item["memory"] for item in answer["results"]) == ["I live in Leeds.", "Noted."], agent


async def test_a_characters_memory_is_its_own(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, app):
        await client.post(CHAT, json=chat("My cat is called Momo."), headers={"x-ebbing-agent": "luna"})
        await settled(app)
        for agent in ("luna", "rex"):
            await client.post(CHAT, json=chat("What is my cat called?"), headers={"x-ebbing-agent": agent})
            await settled(app)
    _, luna, rex = (call.body.decode() for call in endpoint.calls)
    assert "Momo" in luna
    assert "Momo" not in rex


# ── a memory that fails ──────────────────────────────────────────────────────────────────────────────────────────────


class BadMemory:
    """A memory that hangs, fails or talks nonsense, by name."""

    def __init__(self, way: str) -> None:
        self.way = way
        self.asked = 0

    async def get_context(self, *_: Any, **__: Any) -> Any:
        self.asked += 1
        if self.way == "hangs":
            await asyncio.sleep(60)
        if self.way == "ignores its cancellation":
            for _ in range(2):
                try:
                    await asyncio.sleep(0.5)
                except asyncio.CancelledError:
                    continue
        if self.way == "fails":
            raise RuntimeError("the disk is gone")
        return {"talks nonsense": None, "garbage": {"context": 7, "memories": "x"}}.get(self.way, {"context": "x"})

    async def add(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("the disk is gone")


@pytest.mark.extended
@pytest.mark.parametrize("way", ["hangs", "ignores its cancellation", "fails", "talks nonsense", "garbage"])
async def test_a_memory_that_fails_costs_its_budget_at_most(
    endpoint: Endpoint, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    budget = 0.15
    async with proxy(endpoint, proxy_recall_timeout_ms=150) as (client, app):
        await client.post(CHAT, json=chat("Hello."))
        await settled(app)
        bad = BadMemory(way)
        monkeypatch.setattr(app.state.memories, "of", lambda _: bad)
        bad.components = app.state.memory.components  # type: ignore[attr-defined]
        took = []
        for number in range(8):
            body = json.dumps(chat(f"Question {number}?")).encode()
            began = asyncio.get_running_loop().time()
            answer = await client.post(CHAT, content=body)
            took.append(asyncio.get_running_loop().time() - began)
            assert answer.status_code == 200
            assert answer.headers["x-ebbing-memory"] in {"late", "failed"}
            assert endpoint.calls[-1].body == body
        assert max(took) < budget + 0.5
        assert bad.asked == 5  # then it is left alone, and nobody waits for it


# ── many turns, and clients that leave ───────────────────────────────────────────────────────────────────────────────

PROFILES = {
    "en": (
        "I live in Leeds, and I'm allergic to peanuts. I like jazz.",
        "Question {} about Leeds and jazz?",
        "Answer {}.",
    ),
    "zh": ("我住在杭州，对花生过敏。我喜欢爵士乐。", "第{}个问题：杭州有什么爵士乐？", "第{}个回答。"),
}


@pytest.mark.extended
@pytest.mark.parametrize("language", ["en", "zh"])
async def test_the_prompt_before_its_last_message_stays_the_same_over_twenty_turns(
    endpoint: Endpoint, language: str
) -> None:
    profile, question, answer = PROFILES[language]
    said: list[str] = []
    shares: list[float] = []
    async with proxy(endpoint) as (client, app):
        await app.state.memory.add(profile, user_id="emma")
        for turn in range(20):
            asked = question.format(turn)
            endpoint.answers = {asked: answer.format(turn)}
            said.append(asked)
            told = await client.post(CHAT, json=chat(*said), headers={"x-ebbing-session": "s1"})
            if turn:
                shares.append(float(told.headers["x-ebbing-stable-share"]))
            said.append(answer.format(turn))
            await settled(app)
        metrics = (await client.get("/metrics")).text
    prompts = [[json.dumps(message) for message in call.messages] for call in endpoint.calls]
    for earlier, later in pairwise(prompts):
        before, after = "".join(earlier[:-1]).encode(), "".join(later[:-1]).encode()
        assert after.startswith(before)
    assert min(shares) == 1
    assert all("recalled-memory" in prompt[0] for prompt in prompts)
    assert any("recalled-memory" in prompt[-1] for prompt in prompts)
    assert "ebbing_proxy_stable_share_count 19.0" in metrics
    assert 'ebbing_proxy_chats_total{memory="used"} 20.0' in metrics


async def test_a_deleted_memory_leaves_a_running_conversation_at_once(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, app):
        await app.state.memory.add("I'm allergic to peanuts.", user_id="emma")
        await client.post(CHAT, json=chat("Hello."))
        await settled(app)
        await app.state.memory.delete_all(user_id="emma")
        await client.post(CHAT, json=chat("Hello.", "Noted.", "What now?"))
        await settled(app)
        assert "Hello." not in await stored(app, include="all")
    first, second = (call.body.decode() for call in endpoint.calls)
    assert "peanuts" in first
    assert "peanuts" not in second


async def test_what_another_process_deleted_leaves_a_conversation_too(endpoint: Endpoint, tmp_path: Any) -> None:
    async with proxy(endpoint, store="sqlite", path=tmp_path) as (client, app):
        added = await app.state.memory.add("I'm allergic to peanuts.", user_id="emma")
        await app.state.memory.add("I like jazz.", user_id="emma")
        await client.post(CHAT, json=chat("Hello."))
        await settled(app)
        other = AsyncMemory(components=build(load_settings({"embedder": "none", "path": tmp_path})))
        async with other:
            for memory_id in (added["results"][0]["id"], added["episode_ids"][0]):
                await other.delete(memory_id, user_id="emma")
        await client.post(CHAT, json=chat("Hello.", "Noted.", "What now?"))
        await settled(app)
    first, second = (call.messages[0]["content"] for call in endpoint.calls)
    assert "peanuts" in first
    assert "peanuts" not in second
    assert "jazz" in second


async def test_a_client_that_leaves_in_the_middle_of_a_stream_leaves_nothing_behind(endpoint: Endpoint) -> None:
    async with proxy(endpoint) as (client, app):
        before = {task for task in asyncio.all_tasks() if not task.done()}
        for number in range(5):
            asked = chat(f"My friend {number} lives in Leeds.", model="endless", stream=True)
            async with client.stream("POST", CHAT, json=asked) as answer:
                await anext(answer.aiter_raw())
        await settled(app)
        assert endpoint.abandoned.wait(5)
        assert "My friend 4 lives in Leeds." in await stored(app, include="episodes")
        assert "and and" not in str(await stored(app, include="episodes"))
        pool = app.state.chat_proxy.endpoint._client._transport._pool
        assert pool.connections == []
        assert app.state.chat_proxy.is_idle
        left = {task for task in asyncio.all_tasks() if not task.done()} - before
        assert not [task for task in left if "relay" in str(task.get_coro()) or "_until_gone" in str(task.get_coro())]
