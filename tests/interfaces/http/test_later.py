"""What is accepted now and done later, and the worker beside the requests."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from tests.interfaces.http.service import service

pytestmark = pytest.mark.anyio

LATER = {"prefer": "respond-async, wait=10"}
SAID = {"user_id": "emma", "messages": "I live in Leeds."}


async def done(client: httpx.AsyncClient, path: str, headers: dict[str, str] | None = None) -> dict[str, Any]:
    """The job when it has ended."""
    for _ in range(200):
        job: dict[str, Any] = (await client.get(path, headers=headers)).json()
        if job.get("state") in {"done", "dead"}:
            return job
        await asyncio.sleep(0.05)
    raise AssertionError("the job did not end")


async def test_an_add_is_accepted_at_once_and_done_by_the_worker_of_the_service() -> None:
    async with service(worker=True) as client:
        answer = await client.post("/v1/memories", json=SAID, headers=LATER)
        assert answer.status_code == 202
        assert answer.headers["preference-applied"] == "respond-async"
        assert answer.json()["status_url"] == answer.headers["location"]
        job = await done(client, answer.headers["location"])
        assert job["result"]["results"][0]["text"]
        assert len((await client.get("/v1/memories", params={"user_id": "emma"})).json()["memories"]) == 1


async def test_without_a_worker_an_add_is_done_at_once() -> None:
    async with service(worker=False) as client:
        answer = await client.post("/v1/memories", json=SAID, headers=LATER)
        assert (answer.status_code, "preference-applied" in answer.headers) == (200, False)


async def test_a_wrong_add_is_refused_before_it_is_accepted() -> None:
    async with service(worker=True) as client:
        for body in ({"user_id": "emma"}, {"messages": "x"}, {"user_id": "emma", "messages": " "}):
            assert (await client.post("/v1/memories", json=body, headers=LATER)).status_code == 400


async def test_a_key_and_a_preference_together_accept_once() -> None:
    async with service(worker=True) as client:
        headers = {**LATER, "idempotency-key": "a1"}
        answers = [await client.post("/v1/memories", json=SAID, headers=headers) for _ in range(2)]
        assert answers[0].json() == answers[1].json()
        assert [answer.status_code for answer in answers] == [202, 202]
        assert answers[1].headers["location"]


async def test_a_job_is_shown_to_whose_it_is_alone() -> None:
    async with service(worker=True, trusted_header="x-user-id") as client:
        emma, bob = {"x-user-id": "emma"}, {"x-user-id": "bob"}
        said = await client.post("/v1/memories", json={"messages": "I live in Leeds."}, headers={**LATER, **emma})
        path = said.headers["location"]
        assert (await done(client, path, emma))["user_id"] == "emma"
        foreign, unknown = [await client.get(one, headers=bob) for one in (path, "/v1/jobs/999999")]
        assert (foreign.status_code, foreign.json()) == (404, unknown.json())
        for wrong in ("0", "-1", "99999999999999999999999"):
            assert (await client.get(f"/v1/jobs/{wrong}", headers=bob)).status_code == 404
        assert (await client.get("/v1/jobs/x", headers=bob)).status_code == 400
