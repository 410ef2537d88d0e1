"""`/mcp` over HTTP, when somebody tries to reach the memory of another, or to wear the service out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from ebbing.interfaces.http.mcp_path import PATH
from tests.interfaces.http.service import service

pytestmark = pytest.mark.anyio
ROOT = {"authorization": "Bearer root"}
REVISION = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}


@dataclass(frozen=True)
class Person:
    """Somebody with a key."""

    client: httpx.AsyncClient
    key_id: str
    headers: dict[str, str]

    async def call(self, tool: str, *, more: dict[str, str] | None = None, **arguments: Any) -> dict[str, Any]:
        """The answer of a tool, in the envelope of the protocol."""
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }
        answered = await self.client.post(PATH, headers={**self.headers, **REVISION, **(more or {})}, json=message)
        assert answered.status_code == 200, answered.text
        result: dict[str, Any] = answered.json()["result"]
        return result


@asynccontextmanager
async def two_people() -> AsyncIterator[tuple[Person, Person]]:
    async with service(service_api_key="root", mcp_tools="full") as client:
        people: list[Person] = []
        for user in ("emma", "liam"):
            key = (await client.post("/v1/keys", json={"user_id": user, "role": "write"}, headers=ROOT)).json()
            people.append(Person(client, key["id"], {"authorization": f"Bearer {key['key']}"}))
        yield people[0], people[1]


async def test_calls_at_the_same_time_stay_with_their_keys() -> None:
    async with two_people() as (emma, liam):
        words = {"tangerine": emma, "walnut": liam}
        for word, person in words.items():
            await person.call("memory_add", content=f"The code word is {word}")
        people = [*words.items()] * 20
        answers = await asyncio.gather(*(person.call("memory_search", query="code word") for _, person in people))
    for (own, _), answered in zip(people, answers, strict=True):
        text = json.dumps(answered)
        assert [word for word in words if word in text] == [own]


async def test_the_ids_of_another_open_nothing() -> None:
    async with two_people() as (emma, liam):
        added = (await emma.call("memory_add", content="I live in Porto"))["structuredContent"]
        [item] = added["memories"]
        for tool, arguments in {
            "memory_explain": {"memory_id": item["id"]},
            "memory_history": {"memory_id": item["id"]},
            "memory_feedback": {"memory_id": item["id"], "signal": "up"},
            "memory_forget": {"memory_id": item["id"]},
            "memory_update": {"memory_id": item["id"], "content": "Lives in Leeds"},
            "memory_undo": {"change_id": added["change_id"]},
            "fetch": {"id": item["id"]},
        }.items():
            refused = await liam.call(tool, **arguments)
            assert refused["isError"], tool
            assert "Porto" not in json.dumps(refused)
        [own] = (await emma.call("memory_list"))["structuredContent"]["memories"]
        assert "Porto" in own["memory"]


async def test_there_is_no_session_to_take_over_or_to_end() -> None:
    async with two_people() as (emma, liam):
        start = {
            "jsonrpc": "2.0",
            "id": 0,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "host", "version": "1"},
            },
        }
        begun = await emma.client.post(PATH, headers={**emma.headers, **REVISION}, json=start)
        assert "mcp-session-id" not in begun.headers
        await emma.call("memory_add", content="The code word is tangerine")
        stolen = {"mcp-session-id": "a session of somebody"}
        assert "tangerine" not in json.dumps(await liam.call("memory_search", more=stolen, query="code word"))
        assert (await emma.client.delete(PATH, headers={**liam.headers, **stolen})).status_code == 405


async def test_a_key_that_is_revoked_in_the_middle_is_refused_at_once() -> None:
    async with two_people() as (emma, _):
        await emma.call("memory_search", query="code word")
        await emma.client.delete(f"/v1/keys/{emma.key_id}", headers=ROOT)
        refused = await emma.client.post(PATH, headers={**emma.headers, **REVISION}, json={})
    assert refused.status_code == 401


async def test_a_name_that_leads_here_by_a_foreign_zone_is_refused_without_a_key() -> None:
    async with service(user="emma") as client:
        refused = await client.post(PATH, headers={**REVISION, "host": "rebound.example"}, json={})
    assert refused.status_code in {403, 421}


async def test_a_body_over_the_bound_is_refused_before_it_is_read() -> None:
    async with two_people() as (emma, _):
        headers = {**emma.headers, **REVISION, "content-type": "application/json"}

        async def parts() -> AsyncIterator[bytes]:
            for _ in range(64):
                yield b" " * 65_536

        for content in (b" " * 2_000_000, parts()):
            assert (await emma.client.post(PATH, headers=headers, content=content)).status_code == 413


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"[" * 100_000, b'{"id": "\\ud800"}', b"\xff"])
async def test_a_body_that_is_no_message_is_refused(body: bytes) -> None:
    async with two_people() as (emma, _):
        headers = {**emma.headers, **REVISION, "content-type": "application/json"}
        assert (await emma.client.post(PATH, headers=headers, content=body)).status_code == 400


async def test_requests_leave_no_task_behind() -> None:
    async with two_people() as (emma, _):
        await emma.call("memory_search", query="x")
        before = len(asyncio.all_tasks())
        for number in range(30):
            await emma.call("memory_search", more={"mcp-session-id": str(number)}, query="x")
        assert len(asyncio.all_tasks()) <= before
