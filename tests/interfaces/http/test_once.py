"""A request with an `Idempotency-Key` is done once, whatever happens on the way."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.interfaces.http.service import service

pytestmark = pytest.mark.anyio

TEA = {"user_id": "emma", "text": "green tea"}
ONCE = {"idempotency-key": "a1"}


async def count(client: httpx.AsyncClient, user: str = "emma") -> int:
    listed = await client.get("/v1/memories", params={"user_id": user, "include": "all"})
    return len(listed.json()["memories"])


async def test_a_repeated_request_is_answered_as_before_and_done_once(tmp_path: Path) -> None:
    async with service(tmp_path) as client:
        first = await client.post("/v1/memories", json=TEA, headers=ONCE)
        second = await client.post("/v1/memories", json=TEA, headers=ONCE)
        assert (second.status_code, second.content) == (200, first.content)
        assert second.headers["idempotency-replayed"] == "true"
        assert "idempotency-replayed" not in first.headers
    async with service(tmp_path) as client:
        assert (await client.post("/v1/memories", json=TEA, headers=ONCE)).content == first.content
        assert await count(client) == 1


async def test_the_same_key_for_another_request_is_refused() -> None:
    async with service() as client:
        await client.post("/v1/memories", json=TEA, headers=ONCE)
        for path, body in (
            ("/v1/memories", {**TEA, "text": "black tea"}),
            ("/v1/memories?user_id=x", TEA),
            ("/v1/memories/batch", TEA),
        ):
            answer = await client.post(path, json=body, headers=ONCE)
            assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_mismatch")
        assert await count(client) == 1


async def test_a_request_that_was_refused_may_be_mended_under_the_same_key() -> None:
    async with service() as client:
        assert (await client.post("/v1/memories", json={"text": "tea"}, headers=ONCE)).status_code == 400
        assert (await client.post("/v1/memories", json=TEA, headers=ONCE)).status_code == 200


async def test_keys_are_everyones_own() -> None:
    async with service(trusted_header="x-user-id") as client:
        for user in ("emma", "bob"):
            answer = await client.post("/v1/memories", json={"text": user}, headers={**ONCE, "x-user-id": user})
            assert (answer.status_code, answer.json()["results"][0]["text"]) == (200, user)


@pytest.mark.parametrize("key", ["", " ", "x" * 256, "a b"])
async def test_an_unusable_key_is_refused(key: str) -> None:
    async with service() as client:
        assert (await client.post("/v1/memories", json=TEA, headers={"idempotency-key": key})).status_code == 400


async def test_two_at_the_same_time_are_done_once() -> None:
    async with service() as client:
        answers = await asyncio.gather(*(client.post("/v1/memories", json=TEA, headers=ONCE) for _ in range(5)))
        codes = sorted(answer.status_code for answer in answers)
        assert codes[0] == 200
        assert set(codes) <= {200, 409}
        for answer in answers:
            if answer.status_code == 409:
                assert answer.json()["code"] == "idempotency_in_progress"
                assert int(answer.headers["retry-after"]) >= 1
        assert await count(client) == 1


async def test_what_was_done_before_the_service_died_is_not_done_again(tmp_path: Path) -> None:
    """The add is durable and the note of its answer is not: the worst moment to die."""
    said = {"user_id": "emma", "messages": ["I live in Leeds.", {"role": "user", "content": "I like tea."}]}
    async with service(tmp_path) as client:
        app: Any = client._transport.app  # type: ignore[attr-defined]
        store = app.state.memory.components.store
        await client.post("/v1/memories", json=said, headers=ONCE)
        before = await count(client)
        with store._connections.reading() as db:
            db.execute("PRAGMA query_only = OFF")
            db.execute("DELETE FROM request")
        again = await client.post("/v1/memories", json=said, headers=ONCE)
        assert [one["event"] for one in again.json()["results"]] == ["NONE", "NONE"]
        assert await count(client) == before


async def test_erasing_somebody_takes_the_kept_answers_along() -> None:
    async with service() as client:
        await client.post("/v1/memories", json=TEA, headers=ONCE)
        await client.delete("/v1/memories", params={"user_id": "emma"})
        again = await client.post("/v1/memories", json=TEA, headers=ONCE)
        assert "idempotency-replayed" not in again.headers
