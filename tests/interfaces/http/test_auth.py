"""Who may do what: credentials decide it, bodies and queries never widen it."""

from __future__ import annotations

import pytest

from tests.interfaces.http.service import service

pytestmark = pytest.mark.anyio


async def test_no_credential_and_a_wrong_one_are_refused_alike() -> None:
    async with service(api_key="right") as client:
        for headers in ({}, {"authorization": "Bearer wrong"}, {"x-api-key": "wrong"}, {"authorization": "Basic cjpx"}):
            answer = await client.get("/v1/memories", params={"user_id": "emma"}, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
            assert "ebbing keys create" in answer.json()["hint"]
            assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_a_key_is_taken_from_each_header_that_clients_use() -> None:
    async with service(api_key="right") as client:
        for headers in (
            {"authorization": "Bearer right"},
            {"authorization": "Token right"},
            {"authorization": "token right"},
            {"x-api-key": "right"},
        ):
            answer = await client.get("/v1/memories", params={"user_id": "emma"}, headers=headers)
            assert answer.status_code == 200, headers


async def test_a_trusted_header_names_the_user_for_good() -> None:
    async with service(trusted_header="x-user-id") as client:
        emma = {"x-user-id": "emma"}
        added = await client.post("/v1/memories", json={"text": "green tea"}, headers=emma)
        assert added.status_code == 200
        path = f"/v1/memories/{added.json()['id']}"
        assert (await client.get(path, headers=emma)).json()["user_id"] == "emma"
        assert (await client.get(path, headers={"x-user-id": "bob"})).status_code == 404
        widened = await client.post("/v1/memories", json={"text": "x", "user_id": "bob"}, headers=emma)
        assert (widened.status_code, widened.json()["code"]) == (403, "forbidden")
        assert (await client.get(path)).status_code == 401


async def test_paths_that_tell_nothing_ask_for_nothing() -> None:
    async with service(auth="required") as client:
        for path in ("/healthz", "/health", "/readyz", "/openapi.json"):
            assert (await client.get(path)).status_code in {200, 503}
        assert (await client.get("/v1/memories")).status_code == 401
