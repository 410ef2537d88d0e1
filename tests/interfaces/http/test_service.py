"""The service as a newcomer meets it: what works, and what each refusal says."""

from __future__ import annotations

from typing import Any

import pytest

from ebbing.domain import errors as domain_errors
from ebbing.domain.errors import EbbingError
from ebbing.interfaces.http.errors import HINTS
from tests.docs.pages import REPOSITORY, mentions, rows
from tests.interfaces.http.service import service

pytestmark = pytest.mark.anyio

SAID = "I moved to Leeds, and I am allergic to peanuts."


async def test_what_was_said_is_found_listed_changed_and_brought_back() -> None:
    async with service() as client:
        added = (await client.post("/v1/memories", json={"user_id": "emma", "messages": SAID})).json()
        assert added["id"] == added["results"][0]["id"]
        asked = {"user_id": "emma", "query": "what is she allergic to?", "include": "memories"}
        [hit, *_] = (await client.post("/v1/memories/search", json=asked)).json()["memories"]
        assert "peanuts" in hit["text"]
        assert {"id", "text", "score", "tags", "created_at"} <= hit.keys()
        path = f"/v1/memories/{hit['id']}"
        assert (
            (await client.put(path, json={"text": "Allergic to peanuts and sesame"})).json()["text"].endswith("sesame")
        )
        listed = (await client.get("/v1/memories", params={"user_id": "emma"})).json()["memories"]
        assert hit["id"] in [item["id"] for item in listed]
        deleted = (await client.delete(path)).json()
        assert deleted == {"deleted": True, "id": hit["id"], "change_id": deleted["change_id"]}
        assert (await client.get(path)).status_code == 404
        assert (await client.post(f"{path}/restore")).json()["id"] == hit["id"]
        history = (await client.get(f"{path}/history")).json()["history"]
        assert [one["event"] for one in history] == ["ADD", "UPDATE", "DELETE", "RESTORE"]
        assert (await client.get(f"{path}/explain")).json()["provenance"]["source_text"]


async def test_a_text_is_one_memory_as_it_stands() -> None:
    async with service() as client:
        added = (await client.post("/v1/memories", json={"user_id": "emma", "text": "我喜欢科幻电影"})).json()
        assert (await client.get(f"/v1/memories/{added['id']}")).json()["text"] == "我喜欢科幻电影"


@pytest.mark.parametrize("media_type", ["application/json", "application/x-www-form-urlencoded", None])
async def test_a_body_is_read_as_json_whatever_curl_calls_it(media_type: str | None) -> None:
    async with service() as client:
        headers = {"content-type": media_type} if media_type else {}
        body = b'{"user_id": "emma", "text": "green tea"}'
        assert (await client.post("/v1/memories", content=body, headers=headers)).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code", "told"),
    [
        ("POST", "/v1/memories", {"messages": "hi"}, 400, "missing_owner", "user_id"),
        ("POST", "/v1/memories", {"user_id": "emma"}, 400, "invalid_input", "text or messages"),
        ("POST", "/v1/memories/search", {"user_id": "emma"}, 400, "invalid_input", "body.query"),
        ("POST", "/v1/memories/search", {"user_id": "emma", "query": ""}, 400, "invalid_input", "query"),
        ("GET", "/v1/memories?user_id=emma&limit=x", None, 400, "invalid_input", "query.limit"),
        ("GET", "/v1/memories/nothing", None, 404, "memory_not_found", "check the id"),
        ("GET", "/v1/nothing", None, 404, "not_found", "/docs"),
        ("PATCH", "/v1/memories", None, 405, "method_not_allowed", "/docs"),
    ],
)
async def test_a_refusal_says_what_to_do(method: str, path: str, body: Any, status: int, code: str, told: str) -> None:
    async with service() as client:
        answer = await client.request(method, path, json=body)
        assert answer.headers["content-type"] == "application/problem+json"
        problem = answer.json()
        assert (answer.status_code, problem["status"], problem["code"]) == (status, status, code)
        assert told in problem["detail"] + problem["hint"]


async def test_a_body_that_is_no_json_is_refused_without_repeating_it() -> None:
    async with service() as client:
        answer = await client.post("/v1/memories/search", content=b'{"query": "my secret')
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input")
        assert "secret" not in answer.text


async def test_a_huge_body_is_refused_before_it_is_read() -> None:
    async with service(http_max_body_kib=1) as client:
        answer = await client.post("/v1/memories", json={"user_id": "emma", "text": "x" * 2_000})
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


async def test_a_huge_body_of_unknown_length_is_refused_as_well() -> None:
    async def body() -> Any:
        for _ in range(8):
            yield b"x" * 512

    async with service(http_max_body_kib=1) as client:
        answer = await client.post("/v1/memories", content=body())
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


async def test_the_service_says_that_it_is_alive_and_ready() -> None:
    async with service() as client:
        assert (await client.get("/healthz")).json()["status"] == "ok"
        assert (await client.get("/readyz")).json()["store"] == "open"


async def test_a_request_id_is_given_back_or_made() -> None:
    async with service() as client:
        given = await client.get("/healthz", headers={"x-request-id": "abc-1"})
        assert given.headers["x-request-id"] == "abc-1"
        assert len((await client.get("/healthz", headers={"x-request-id": "a b"})).headers["x-request-id"]) == 36


async def test_an_open_service_answers_to_the_names_of_this_machine_only() -> None:
    async with service(base_url="http://memory.example") as client:
        answer = await client.get("/v1/memories", params={"user_id": "emma"})
        assert (answer.status_code, answer.json()["code"]) == (421, "unknown_host")
    async with service(base_url="http://memory.example", http_allowed_hosts="memory.example") as client:
        assert (await client.get("/v1/memories", params={"user_id": "emma"})).status_code == 200


async def test_a_page_of_another_origin_changes_nothing_in_an_open_service() -> None:
    body = {"user_id": "emma", "text": "tea"}
    async with service(http_cors_origins="http://chat.local") as client:
        for origin, status in (
            ("http://evil.example", 403),
            ("http://chat.local", 200),
            ("http://localhost:8830", 200),
        ):
            answer = await client.post("/v1/memories", json=body, headers={"origin": origin})
            assert answer.status_code == status, origin


async def test_a_browser_may_ask_from_the_origins_that_are_set() -> None:
    asking = {"origin": "http://chat.local", "access-control-request-method": "POST"}
    async with service(http_cors_origins="http://chat.local", auth_mode="required") as client:
        answer = await client.options("/v1/memories", headers=asking)
        assert answer.headers["access-control-allow-origin"] == "http://chat.local"
        refused = await client.options("/v1/memories", headers={**asking, "origin": "http://evil.example"})
        assert "access-control-allow-origin" not in refused.headers


async def test_every_code_of_an_error_has_a_status_and_stands_in_the_docs() -> None:
    kinds = [kind for kind in vars(domain_errors).values() if isinstance(kind, type) and issubclass(kind, EbbingError)]
    assert {kind.code for kind in kinds} <= HINTS.keys()
    pages = [(REPOSITORY / "docs" / name).read_text("utf-8") for name in ("errors.md", "http.md")]
    cells = " ".join(cell for page in pages for row in rows(page) for cell in row)
    assert [code for code in HINTS if not mentions(code, cells)] == []


async def test_every_route_stands_in_the_docs() -> None:
    pages = [(REPOSITORY / "docs" / name).read_text("utf-8") for name in ("http.md", "mem0.md")]
    told = [row for page in pages for row in rows(page)]
    documented = {(method, row[1]) for row in told for method in row[0].replace("`", "").split(", ")}
    async with service() as client:
        paths = (await client.get("/openapi.json")).json()["paths"]
    real = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    assert real - documented == set()
    assert {(method, path) for method, path in documented if path.startswith("/v1/")} - real == set()
