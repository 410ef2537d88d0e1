"""Profiles, the graph, names in channels, and forgetting by asking, over HTTP."""

from __future__ import annotations

import pytest

from tests.interfaces.http.service import service

pytestmark = pytest.mark.anyio

EMMA = {"user_id": "emma"}


async def test_a_profile_is_shown_and_set_right_by_its_user_alone() -> None:
    async with service(trusted_header="x-user-id") as client:
        emma, bob = {"x-user-id": "emma"}, {"x-user-id": "bob"}
        await client.post("/v1/memories", json={"messages": "I live in Leeds."}, headers=emma)
        shown = (await client.get("/v1/profiles/me", headers=emma)).json()
        assert "Leeds" in str(shown["facts"])
        edited = await client.put("/v1/profiles/emma", json={"set": {"home": "Berlin"}}, headers=emma)
        assert "Berlin" in str(edited.json()["facts"])
        assert (await client.get("/v1/profiles/emma", headers=bob)).status_code == 403
        assert "Berlin" not in (await client.get("/v1/profiles/me", headers=bob)).text
        assert (await client.get("/v1/profiles/me/questions", headers=bob)).json()["questions"]
        assert (await client.put("/v1/profiles/me", json={}, headers=emma)).status_code == 400


async def test_me_needs_a_credential_for_one_user() -> None:
    async with service() as client:
        answer = await client.get("/v1/profiles/me")
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input")


async def test_a_graph_tells_who_and_where() -> None:
    async with service() as client:
        await client.post("/v1/memories", json={**EMMA, "messages": "My sister Anna lives in Leeds."})
        found = (await client.get("/v1/graph", params=EMMA)).json()
        assert {"entities", "relations", "truncated"} <= found.keys()
        assert (await client.get("/v1/graph", params={**EMMA, "hops": 9})).status_code == 400


async def test_a_graph_of_limited_size_names_what_its_newest_relations_do() -> None:
    async with service() as client:
        for text in ("My sister Anna lives in Leeds.", "My brother Ben lives in York."):
            await client.post("/v1/memories", json={**EMMA, "messages": text})
        whole = (await client.get("/v1/graph", params=EMMA)).json()
        capped = (await client.get("/v1/graph", params={**EMMA, "limit": 1})).json()
        assert capped["relations"] == whole["relations"][:1]
        assert capped["truncated"]
        ends = {capped["relations"][0]["subject"], capped["relations"][0]["object"], "self"}
        assert {entity["id"] for entity in capped["entities"]} == ends
        assert (await client.get("/v1/graph", params={**EMMA, "limit": 0})).status_code == 400


async def test_names_in_channels_lead_to_one_person_and_back() -> None:
    async with service() as client:
        name = {"channel": "wechat", "channel_user_id": "e1"}
        linked = (await client.post("/v1/identities", json={**name, **EMMA})).json()
        assert linked["user_id"] == "emma"
        assert (await client.post("/v1/identities", json=name)).json()["user_id"] == "emma"
        [listed] = (await client.get("/v1/identities", params=EMMA)).json()["identities"]
        assert listed["channel"] == "wechat"
        await client.post("/v1/memories", json={"user_id": "em", "text": "green tea"})
        merged = (
            await client.post("/v1/identities/merges", json={"target_user_id": "emma", "source_user_id": "em"})
        ).json()
        assert len((await client.get("/v1/memories", params=EMMA)).json()["memories"]) == 1
        assert (await client.delete(f"/v1/identities/merges/{merged['id']}")).status_code == 200
        assert (await client.get("/v1/memories", params=EMMA)).json()["memories"] == []
        unknown = await client.delete("/v1/identities/merges/999")
        assert (unknown.status_code, unknown.json()["code"]) == (404, "identity_not_found")


async def test_what_was_said_about_something_is_forgotten_in_two_steps() -> None:
    async with service() as client:
        for text in ("I love horror movies.", "I live in Leeds."):
            await client.post("/v1/memories", json={**EMMA, "messages": text})
        asked = {**EMMA, "about": "forget what I said about horror movies"}
        shown = (await client.post("/v1/memories/forget", json=asked)).json()
        assert any("horror" in one["text"] for one in shown["candidates"])
        done = (await client.post("/v1/memories/forget", json={**EMMA, "confirm": shown["confirm"]})).json()
        assert done["forgotten"]
        left = await client.get("/v1/memories", params={**EMMA, "include": "all"})
        assert "horror" not in left.text
        assert "Leeds" in left.text
        wrong = await client.post("/v1/memories/forget", json={**EMMA, "confirm": "nothing"})
        assert wrong.status_code == 400


async def test_a_memory_that_tells_itself_expands_to_nothing() -> None:
    async with service() as client:
        added = (await client.post("/v1/memories", json={**EMMA, "text": "green tea"})).json()
        assert (await client.get(f"/v1/memories/{added['id']}/sources")).json()["sources"] == []
        assert (await client.get("/v1/memories/nothing/sources")).status_code == 404
