"""What stands around the routes, the straight ones and FastAPI's: the same ids, the same errors, the same words."""

from __future__ import annotations

import json

import httpx
import pytest

from ebbing.interfaces.http.app import create_app
from ebbing.interfaces.http.schema.responses import encoded
from ebbing.memory import AsyncMemory
from ebbing.wiring.build import build, load_settings
from tests.interfaces.http.service import LOCAL, service

pytestmark = pytest.mark.anyio

STRAIGHT = ("POST", "/v1/memories/search", {"user_id": "emma", "query": "tea"})
ROUTED = ("POST", "/v1/context", {"user_id": "emma", "query": "tea"})


async def test_a_straight_route_and_another_refuse_a_body_in_the_same_words() -> None:
    async with service() as client:
        answers = [await client.post(path, content=b'{"query": 7}') for path in ("/v1/memories/search", "/v1/context")]
    straight, routed = (answer.json() for answer in answers)
    assert {answer.status_code for answer in answers} == {400}
    assert straight == routed
    assert straight["errors"][0]["where"] == "body.query"


async def test_a_method_that_a_straight_path_does_not_have_is_refused_with_those_that_it_has() -> None:
    async with service() as client:
        refused = await client.patch("/v1/memories", json={})
    assert (refused.status_code, refused.json()["code"]) == (405, "method_not_allowed")
    assert refused.headers["allow"]


@pytest.mark.parametrize(("method", "path", "body"), [STRAIGHT, ROUTED])
async def test_what_nobody_foresaw_is_a_problem_that_tells_nothing_but_its_request(
    method: str, path: str, body: dict[str, str]
) -> None:
    memory = AsyncMemory(components=build(load_settings({"store": "ephemeral", "embedder": "none", "worker": False})))

    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("emma's secret")

    app = create_app(memory)
    vars(memory).update(search=broken, get_context=broken)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=("127.0.0.1", 50_000))
    async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, base_url=LOCAL) as client:
        answer = await client.request(method, path, json=body, headers={"X-Request-ID": "mine-7"})
    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert (answer.json()["code"], answer.json()["request_id"]) == ("internal", "mine-7")
    assert answer.headers["x-request-id"] == "mine-7"
    assert "secret" not in answer.text


async def test_a_request_without_an_id_gets_one_that_no_other_has() -> None:
    async with service() as client:
        answers = [await client.post("/v1/memories/search", json=STRAIGHT[2]) for _ in range(2)]
    ids = {answer.headers["x-request-id"] for answer in answers}
    traces = {answer.headers["traceparent"] for answer in answers}
    assert (len(ids), len(traces)) == (2, 2)


def test_an_answer_is_json_whatever_a_memory_holds() -> None:
    assert json.loads(encoded({"text": "half \ud83d of a pair"}).body) == {"text": "half ? of a pair"}
    assert json.loads(encoded({"score": float("nan"), "text": "茶"}).body) == {"score": None, "text": "茶"}
