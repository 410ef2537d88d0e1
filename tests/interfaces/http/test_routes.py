"""The routes under `/v1`, one by one."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.interfaces.http.service import service

pytestmark = pytest.mark.anyio

EMMA = {"user_id": "emma"}


async def added(client: httpx.AsyncClient, text: str, **more: Any) -> str:
    """The id of a text that is now a memory of emma's."""
    answer = await client.post("/v1/memories", json={**EMMA, "text": text, **more})
    assert answer.status_code == 200, answer.text
    found: str = answer.json()["id"]
    return found


async def test_tags_go_in_come_back_and_choose_what_is_listed() -> None:
    async with service() as client:
        tea = await added(client, "green tea", tags=["preference", "drinks"])
        await added(client, "sesame", tags=["constraint"])
        listed = (await client.get("/v1/memories", params={**EMMA, "tags": "drinks,snacks"})).json()["memories"]
        assert [(item["id"], item["tags"], item["type"]) for item in listed] == [
            (tea, ["preference", "drinks"], "preference")
        ]
        changed = (await client.put(f"/v1/memories/{tea}", json={"tags": ["evening"]})).json()
        assert changed["tags"] == ["evening"]
        refused = await client.put(f"/v1/memories/{tea}", json={"tags": ["pending_deletion"]})
        assert refused.status_code == 400


async def test_pages_follow_each_other_by_cursor_and_by_offset() -> None:
    async with service() as client:
        ids = [await added(client, f"fact number {number}") for number in range(7)][::-1]
        seen: list[str] = []
        cursor: str | None = None
        while True:
            asked = {**EMMA, "limit": 3, **({"cursor": cursor} if cursor else {})}
            page = (await client.get("/v1/memories", params=asked)).json()
            seen += [item["id"] for item in page["memories"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert seen == ids
        for offset in (0, 2, 6, 7, 9_999):
            page = (await client.get("/v1/memories", params={**EMMA, "limit": 2, "offset": offset})).json()
            assert [item["id"] for item in page["memories"]] == ids[offset : offset + 2]
        for wrong in ({"offset": 10_001}, {"offset": -1}, {"limit": 0}, {"limit": 1_001}, {"cursor": "x"}):
            assert (await client.get("/v1/memories", params={**EMMA, **wrong})).status_code == 400


async def test_an_unknown_owner_is_told_from_one_with_nothing_that_fits() -> None:
    async with service() as client:
        await added(client, "fact number 1")
        for user, told in (("emma", {}), ("emmma", {"owner_known": False})):
            asked = {"user_id": user, "run_id": "none of theirs"}
            found = (await client.post("/v1/memories/search", json={**asked, "query": "tea"})).json()
            explained = await client.post("/v1/memories/search", json={**asked, "query": "tea", "explain": True})
            listed = (await client.get("/v1/memories", params=asked)).json()
            for answer in (found, explained.json(), listed):
                assert answer["memories"] == []
                assert {name: answer[name] for name in ("owner_known",) if name in answer} == told


async def test_a_batch_keeps_what_it_can_and_says_what_it_could_not() -> None:
    async with service() as client:
        body = {
            **EMMA,
            "memories": [
                {"text": "green tea"},
                {"text": " "},
                {"messages": "I live in Leeds."},
                {"text": "x", "user_id": "bob"},
            ],
        }
        results = (await client.post("/v1/memories/batch", json=body)).json()["results"]
        assert [bool(one["id"]) for one in results] == [True, False, True, True]
        assert results[1]["error"]["code"] == "invalid_input"
        assert (await client.get(f"/v1/memories/{results[3]['id']}")).json()["user_id"] == "bob"
        assert (await client.post("/v1/memories/batch", json={"memories": []})).status_code == 400


async def test_a_memory_is_changed_only_as_it_was_read() -> None:
    async with service() as client:
        path = f"/v1/memories/{await added(client, 'green tea')}"
        tag = (await client.get(path)).headers["etag"]
        first = await client.put(path, json={"text": "black tea"}, headers={"if-match": tag})
        assert (first.status_code, first.json()["text"]) == (200, "black tea")
        late = await client.put(path, json={"text": "white tea"}, headers={"if-match": tag})
        assert (late.status_code, late.json()["code"]) == (412, "precondition_failed")
        assert (await client.get(path)).json()["text"] == "black tea"
        again = await client.put(path, json={"text": "white tea"}, headers={"if-match": first.headers["etag"]})
        assert again.status_code == 200
        assert (await client.put(path, json={"text": "tea"}, headers={"if-match": "*"})).status_code == 200
        assert (await client.put(path, json={"text": "tea"}, headers={"if-match": "w/3"})).status_code == 400
        assert (await client.put(path, json={})).status_code == 400


async def test_feedback_counts_once_for_an_answer() -> None:
    async with service() as client:
        path = f"/v1/memories/{await added(client, 'green tea')}/feedback"
        told = {"signal": "used", "recall_id": "r1"}
        assert [(await client.post(path, json=told)).json()["counted"] for _ in range(2)] == [True, False]
        assert (await client.post(path, json={"signal": "loved"})).status_code == 400


async def test_everything_of_a_user_is_erased_and_nobody_elses() -> None:
    async with service() as client:
        await added(client, "green tea")
        await client.post("/v1/memories", json={"user_id": "bob", "text": "black tea"})
        assert (await client.delete("/v1/memories")).status_code == 400
        gone = (await client.delete("/v1/memories", params=EMMA)).json()["deleted"]
        assert gone["memories"] == 1
        assert (await client.get("/v1/memories", params=EMMA)).json()["memories"] == []
        assert len((await client.get("/v1/memories", params={"user_id": "bob"})).json()["memories"]) == 1


async def test_one_message_can_be_taken_back() -> None:
    async with service() as client:
        said = {**EMMA, "messages": [{"role": "user", "content": "I live in Leeds.", "id": "m1"}]}
        await client.post("/v1/memories", json=said)
        gone = await client.delete("/v1/memories", params={**EMMA, "source_id": "m1"})
        assert gone.json()["deleted"] >= 1
        assert (await client.get("/v1/memories", params={**EMMA, "include": "all"})).json()["memories"] == []


async def test_a_context_holds_what_should_be_known() -> None:
    async with service() as client:
        await client.post("/v1/memories", json={**EMMA, "messages": "I am allergic to peanuts."})
        body = {**EMMA, "query": "what am I allergic to?", "max_tokens": 300}
        made = (await client.post("/v1/context", json=body)).json()
        assert "peanuts" in made["context"]
        assert made["memories"][0]["text"]
        assert (await client.post("/v1/context", json={**EMMA, "max_tokens": 0})).status_code == 400


async def test_a_session_is_at_hand_while_it_runs_and_remembered_at_its_end() -> None:
    async with service() as client:
        path = "/v1/sessions/monday"
        said = {**EMMA, "messages": "My train to Munich leaves at ten."}
        assert (await client.post(f"{path}/messages", json=said)).json()["session_id"] == "monday"
        [message] = (await client.get(f"{path}/messages", params=EMMA)).json()["messages"]
        assert message["content"].startswith("My train")
        asked = {**EMMA, "query": "When does my train leave?"}
        assert (await client.post(f"{path}/search", json=asked)).json()["memories"][0]["kind"] == "working"
        assert (await client.post(f"{path}/context", json=EMMA)).json()["messages"]
        assert (await client.get(f"{path}/messages", params={"user_id": "bob"})).json()["messages"] == []
        assert (await client.post(f"{path}/end", json=EMMA)).json() == {"session_id": "monday", "remembered": True}
        assert (await client.get(f"{path}/messages", params=EMMA)).json()["messages"] == []
        kept = (await client.get("/v1/memories", params={**EMMA, "include": "episodes"})).json()["memories"]
        assert [item["run_id"] for item in kept] == ["monday"]


async def test_what_was_exported_comes_back_elsewhere_as_it_was() -> None:
    async with service() as client:
        for number in range(5):
            await added(client, f"fact number {number}")
        exported = await client.get("/v1/export", params=EMMA)
        assert exported.headers["content-type"].startswith("application/x-ndjson")
        lines = exported.content.splitlines()
        assert len(lines) == 5
    async with service() as client:
        body = b"\n".join([*lines, b"{broken", b'{"ebbing": 1}', b""])
        done = (await client.post("/v1/import", content=body)).json()
        assert (done["imported"], done["already_stored"], done["refused_count"]) == (5, 0, 2)
        assert [one["line"] for one in done["refused"]] == [6, 7]
        assert (await client.post("/v1/import", content=body)).json()["already_stored"] == 5
        listed = (await client.get("/v1/memories", params=EMMA)).json()["memories"]
        assert {item["id"] for item in listed} == {json.loads(line)["id"] for line in lines}


async def test_an_import_may_be_larger_than_other_bodies_and_comes_in_pieces() -> None:
    async def pieces(lines: list[bytes]) -> Any:
        text = b"\n".join(lines)
        for start in range(0, len(text), 777):
            yield text[start : start + 777]

    async with service(http_max_body_kib=1) as client:
        record = {"ebbing": 1, "created_at": "2026-01-01T00:00:00+00:00", "recorded_at": "2026-01-01T00:00:00+00:00"}
        lines = [
            json.dumps({**record, "id": f"00000000-0000-7000-8000-{n:012}", "content": f"fact {n}", **EMMA}).encode()
            for n in range(1_200)
        ]
        done = (await client.post("/v1/import", content=pieces(lines))).json()
        assert (done["imported"], done["refused"]) == (1_200, [])
        assert (await client.post("/v1/import", content=b"")).status_code == 400
        assert (await client.post("/v1/import", content=b"x" * 2**21)).status_code == 413


async def test_an_import_becomes_the_users_whose_credential_it_is() -> None:
    async with service() as client:
        await added(client, "green tea")
        lines = (await client.get("/v1/export", params=EMMA)).content
    async with service(trusted_header="x-user-id") as client:
        bob = {"x-user-id": "bob"}
        assert (await client.post("/v1/import", content=lines, headers=bob)).json()["imported"] == 1
        [item] = (await client.get("/v1/memories", headers=bob)).json()["memories"]
        assert item["user_id"] == "bob"


async def test_the_tenant_is_counted_looked_after_and_cleared() -> None:
    async with service() as client:
        await added(client, "green tea")
        counts = (await client.get("/v1/stats")).json()
        assert (counts["memories"], counts["owners"]) == (1, 1)
        done = (await client.post("/v1/maintenance/runs", json={"dry_run": True})).json()
        assert (done["owners"], done["dry_run"]) == (1, True)
        assert "counts" in (await client.get("/v1/jobs")).json()
        assert (await client.post("/v1/jobs/7/retry")).json()["code"] == "job_not_found"
        assert (await client.delete("/v1/tenant", params={"confirm": "everything"})).status_code == 400
        assert (await client.delete("/v1/tenant", params={"confirm": "default"})).status_code == 200
        assert (await client.get("/v1/stats")).json()["memories"] == 0


async def test_a_search_answers_with_what_a_memory_says_now() -> None:
    async with service() as client:
        tea = await added(client, "green tea every morning", tags=["drinks"])

        async def asked(**more: Any) -> dict[str, Any]:
            answer = await client.post("/v1/memories/search", json={**EMMA, "query": "tea", **more})
            assert answer.status_code == 200
            [found] = answer.json()["memories"]
            whole: dict[str, Any] = found
            return whole

        first, again = await asked(), await asked()
        kept = (await client.get(f"/v1/memories/{tea}")).json()
        assert {name: value for name, value in first.items() if name not in {"score", "retriever_scores"}} == kept
        assert again == first
        assert 0 < first["score"] <= 1
        assert first["retriever_scores"]["keyword"] > 0
        explained = await asked(explain=True)
        assert {name: explained[name] for name in first} == first
        assert {"why", "score_details"} <= explained.keys()
        await client.put(f"/v1/memories/{tea}", json={"text": "black tea every evening", "tags": ["evening"]})
        changed = await asked()
        assert (changed["text"], changed["tags"]) == ("black tea every evening", ["evening"])
        await client.delete(f"/v1/memories/{tea}")
        assert (await client.post("/v1/memories/search", json={**EMMA, "query": "tea"})).json()["memories"] == []


@pytest.mark.parametrize("user", ["a/b", "/", "a%2Fb", "//", "a/../b", "é/你好", "?#/", "."])
async def test_a_user_with_any_characters_is_reached_by_the_encoded_id(user: str) -> None:
    async with service() as client:
        await client.post("/v1/memories", json={"user_id": user, "text": "User plays the cello"})
        name = quote(user, safe="").replace(".", "%2E")
        shown = await client.get(f"/v1/profiles/{name}")
        assert shown.status_code == 200, shown.text
        ended = await client.post(f"/v1/sessions/{name}/end", json={"user_id": user})
        assert ended.json()["session_id"] == user
        erased = await client.delete(f"/v2/entities/user/{name}/")
        assert erased.status_code == 200, erased.text
        assert erased.json()["deleted"]["memories"] == 1
