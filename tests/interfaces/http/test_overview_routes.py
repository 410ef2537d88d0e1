"""The overview over HTTP: what a credential may do, who is there, and long texts cut."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from ebbing.interfaces.http.schema.cut_texts import with_cut_texts
from tests.interfaces.http.service import service

pytestmark = pytest.mark.anyio

EMMA = {"user_id": "emma"}
ROOT = {"Authorization": "Bearer root"}


async def key_for(client: httpx.AsyncClient, **body: Any) -> dict[str, str]:
    made = (await client.post("/v1/keys", json=body, headers=ROOT)).json()
    return {"Authorization": f"Bearer {made['key']}"}


async def test_a_credential_learns_what_it_may_do() -> None:
    async with service() as client:
        open_door = (await client.get("/v1/me")).json()
        assert (open_door["role"], open_door["user_id"], open_door["is_open"]) == ("admin", None, True)
        assert open_door["settings"]["forgetting_curve"] == "power"
    async with service(service_api_key="root") as client:
        assert (await client.get("/v1/me")).status_code == 401
        mine = (await client.get("/v1/me", headers=await key_for(client, role="read", user_id="emma"))).json()
        assert (mine["role"], mine["user_id"], mine["is_open"]) == ("read", "emma", False)


async def test_owners_are_for_credentials_of_the_whole_tenant() -> None:
    async with service(service_api_key="root") as client:
        await client.post("/v1/memories", json={**EMMA, "text": "Emma plays chess"}, headers=ROOT)
        page = (await client.get("/v1/owners", params={"query": "EM"}, headers=ROOT)).json()
        assert [owner["name"] for owner in page["owners"]] == ["emma"]
        reader = await key_for(client, role="read")
        assert (await client.get("/v1/owners", headers=reader)).status_code == 200
        mine = await key_for(client, role="write", user_id="emma")
        assert (await client.get("/v1/owners", headers=mine)).status_code == 403


@pytest.mark.parametrize(
    "path",
    ["/v1/facets", "/v1/content", "/v1/timeline", "/v1/differences?since=2020-01-01", "/v1/forecast?by=2090-01-01"],
)
async def test_a_credential_for_one_user_sees_that_user_and_no_other(path: str) -> None:
    async with service(service_api_key="root") as client:
        await client.post("/v1/memories", json={**EMMA, "text": "Emma plays chess"}, headers=ROOT)
        bob = await key_for(client, role="write", user_id="bob")
        mine = await client.get(path, headers=bob)
        assert mine.status_code == 200
        assert "chess" not in mine.text
        joint = "&" if "?" in path else "?"
        assert (await client.get(f"{path}{joint}user_id=emma", headers=bob)).status_code == 403


async def test_memories_are_listed_with_their_freshness_and_number() -> None:
    async with service() as client:
        for text in ("Emma plays chess", "Emma plays tennis"):
            added = (await client.post("/v1/memories", json={**EMMA, "text": text})).json()
        body = {**EMMA, "limit": 1, "order": "oldest", "max_text": 4}
        page = (await client.post("/v1/memories/list", json=body)).json()
        assert (page["total"], len(page["memories"])) == (2, 1)
        [item] = page["memories"]
        assert (item["text"], item["text_length"]) == ("Emma", len("Emma plays chess"))
        assert item["freshness"]["retention"] > 0.9
        one = f"/v1/memories/{added['id']}"
        assert (await client.get(f"{one}/retention")).json()["points"]
        assert (await client.get(f"{one}/neighbours")).json()["memories"] == []
        assert (await client.post("/v1/memories/list", json={**EMMA, "state": "x"})).status_code == 400
        assert (await client.get("/v1/memories/none/retention")).status_code == 404


async def test_a_question_is_asked_and_memories_deleted_together() -> None:
    async with service() as client:
        ids = []
        for text in ("Emma drinks green tea", "Emma drinks black tea"):
            ids.append((await client.post("/v1/memories", json={**EMMA, "text": text})).json()["id"])
        told = (await client.post("/v1/ask", json={**EMMA, "query": "tea", "top_k": 1, "max_text": 4})).json()
        assert [item["text"] for item in (*told["memories"], *told["left_out"])] == ["Emma", "Emma"]
        assert told["memories"][0]["why"]
        assert told["context"]["context"]
        gone = (await client.post("/v1/memories/delete", json={**EMMA, "ids": ids, "reason": "tidy"})).json()
        assert gone["deleted"] == ids
        await client.post(f"/v1/changes/{gone['change_id']}/undo")
        assert (await client.post("/v1/memories/list", json=EMMA)).json()["total"] == 2


@pytest.mark.parametrize("path", ["history", "explain", "sources"])
async def test_what_is_told_of_a_memory_is_cut_where_that_is_asked_for(path: str) -> None:
    async with service() as client:
        name = (await client.post("/v1/memories", json={**EMMA, "text": "Emma plays chess"})).json()["id"]
        answer = await client.get(f"/v1/memories/{name}/{path}", params={"max_text": 4})
        assert "plays" not in answer.text


def test_texts_are_cut_wherever_they_lie_and_nothing_else_is() -> None:
    body = {"memories": [{"id": "x" * 50, "text": "abcdef", "why": "because of this"}], "text": "abc"}
    assert with_cut_texts(body, None) is body
    assert with_cut_texts(body, 4) == {
        "memories": [{"id": "x" * 50, "text": "abcd", "text_length": 6, "why": "because of this"}],
        "text": "abc",
    }
