"""The rerank endpoint against a real server on this machine that misbehaves in every known way."""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterator
from typing import Any

import anyio
import pytest

from ebbing.adapters.rerankers.rerank_endpoint import (
    FAILURES_BEFORE_REST,
    MAX_CHARACTERS,
    REST_SECONDS,
    EndpointReranker,
)
from ebbing.domain.errors import ConfigurationError, RerankError
from tests.rerank_server import RerankServer, answering

pytestmark = pytest.mark.anyio

KEY = "sk-very-secret-key"
TEXT = "Lin told me about her divorce"
TWO = ["tea", "coffee"]


@pytest.fixture
def server() -> Iterator[RerankServer]:
    with RerankServer() as running:
        yield running


def reranker_for(server: RerankServer, **settings: Any) -> EndpointReranker:
    return EndpointReranker(server.url, KEY, **{"model": "fake", **settings})


async def failure_of(reranker: EndpointReranker) -> str:
    """The message of the error, whose whole traceback holds neither the key nor the texts."""
    with pytest.raises(RerankError) as caught:
        await reranker.rerank(TEXT, [TEXT, "tea"])
    await reranker.aclose()
    told = "".join(traceback.format_exception(caught.value))
    assert KEY not in told
    assert TEXT not in told
    return str(caught.value)


async def test_the_question_the_candidates_and_the_key_are_sent(server: RerankServer) -> None:
    reranker = reranker_for(server)
    assert await reranker.rerank("green tea", ["coffee", "green tea", "tea"]) == [0.0, 1.0, 0.5]
    assert server.requests == [{"model": "fake", "query": "green tea", "documents": ["coffee", "green tea", "tea"]}]
    assert server.keys == [f"Bearer {KEY}"]
    assert reranker.name == "endpoint:fake"
    await reranker.aclose()


async def test_no_key_means_no_authorisation_header(server: RerankServer) -> None:
    reranker = EndpointReranker(server.url + "/", "", model="fake")
    await reranker.rerank("tea", TWO)
    assert server.keys == [None]
    await reranker.aclose()


async def test_blank_candidates_are_not_sent_and_come_last(server: RerankServer) -> None:
    reranker = reranker_for(server)
    assert await reranker.rerank("tea", ["", "tea", " ", "coffee"]) == [0.0, 1.0, 0.0, 0.0]
    assert server.requests[0]["documents"] == ["tea", "coffee"]
    assert await reranker.rerank(" ", TWO) == [0.0, 0.0]
    assert await reranker.rerank("tea", ["", ""]) == [0.0, 0.0]
    assert len(server.requests) == 1
    await reranker.aclose()


async def test_long_texts_are_cut(server: RerankServer) -> None:
    reranker = reranker_for(server)
    await reranker.rerank("长" * 9_000, ["茶" * 9_000])
    assert len(server.requests[0]["query"]) == len(server.requests[0]["documents"][0]) == MAX_CHARACTERS
    await reranker.aclose()


@pytest.mark.parametrize(
    "answer",
    [
        {"results": [{"index": 1, "relevance_score": 0.1}, {"index": 0, "relevance_score": 0.9}]},
        {"data": [{"index": 0, "relevance_score": 0.9}, {"index": 1, "relevance_score": 0.1}]},
        [{"index": 1, "score": 0.1}, {"index": 0, "score": 0.9}],
    ],
    ids=["cohere and jina", "voyage", "text-embeddings-inference"],
)
async def test_the_usual_forms_of_an_answer_are_understood(server: RerankServer, answer: object) -> None:
    server.faults = [answering(200, json.dumps(answer))]
    reranker = reranker_for(server)
    assert await reranker.rerank("tea", TWO) == [0.9, 0.1]
    await reranker.aclose()


@pytest.mark.parametrize(
    "body",
    [
        "",
        "not json",
        "null",
        "7",
        "{}",
        '{"results": 7}',
        '{"results": [7, 8]}',
        '{"results": [{"index": "x", "relevance_score": 1}]}',
        '{"results": [{"index": 0, "relevance_score": null}, {"index": 1, "relevance_score": 1}]}',
        '{"results": [{"index": 0, "relevance_score": NaN}, {"index": 1, "relevance_score": 1}]}',
        '{"results": [{"index": 0, "relevance_score": 1}]}',
        '{"results": [{"index": 0, "relevance_score": 1}, {"index": 2, "relevance_score": 1}]}',
    ],
)
async def test_an_answer_that_is_none_is_an_error(server: RerankServer, body: str) -> None:
    server.faults = [answering(200, body or " ")]
    assert "reranker" in await failure_of(reranker_for(server))


@pytest.mark.parametrize(
    ("status", "advice"), [(401, "check the key"), (404, "base URL"), (429, "429"), (500, "500"), (503, "503")]
)
async def test_a_refusal_says_what_to_do_and_is_not_repeated(server: RerankServer, status: int, advice: str) -> None:
    server.faults = [answering(status)]
    assert advice in await failure_of(reranker_for(server))
    assert len(server.requests) == 1


async def test_an_answer_that_does_not_come_is_not_waited_for(server: RerankServer) -> None:
    server.faults = [server.hang]
    assert "within 0.05 s" in await failure_of(reranker_for(server, timeout_seconds=0.05))


async def test_a_server_that_is_not_there_is_an_error() -> None:
    assert "cannot be reached" in await failure_of(EndpointReranker("http://127.0.0.1:9/v1", KEY, model="fake"))


async def test_an_endpoint_that_keeps_failing_is_left_alone_for_a_while(server: RerankServer) -> None:
    now = [1_000.0]
    server.faults = [answering(500)] * (FAILURES_BEFORE_REST + 1)
    reranker = reranker_for(server, monotonic=lambda: now[0])
    for _ in range(FAILURES_BEFORE_REST):
        await failure_of(reranker)
    assert "left alone" in await failure_of(reranker)
    assert len(server.requests) == FAILURES_BEFORE_REST
    now[0] += REST_SECONDS
    assert "500" in await failure_of(reranker)  # one may try, in vain
    assert "left alone" in await failure_of(reranker)
    now[0] += REST_SECONDS
    assert await reranker.rerank("tea", TWO) == [1.0, 0.0]
    assert await reranker.rerank("tea", TWO) == [1.0, 0.0]
    await reranker.aclose()


async def test_while_one_tries_after_the_rest_the_others_do_not(server: RerankServer) -> None:
    now = [1_000.0]
    server.faults = [answering(500)] * FAILURES_BEFORE_REST + [server.hang]
    reranker = reranker_for(server, monotonic=lambda: now[0])
    for _ in range(FAILURES_BEFORE_REST):
        await failure_of(reranker)
    now[0] += REST_SECONDS
    async with anyio.create_task_group() as group:
        group.start_soon(reranker.rerank, "tea", TWO)
        await anyio.sleep(0.05)
        with pytest.raises(RerankError, match="left alone"):
            await reranker.rerank("tea", TWO)
        server.released.set()
    assert await reranker.rerank("tea", TWO) == [1.0, 0.0]
    await reranker.aclose()


async def test_being_given_up_again_and_again_counts_as_failing(server: RerankServer) -> None:
    server.faults = [server.hang] * FAILURES_BEFORE_REST
    reranker = reranker_for(server)
    for _ in range(FAILURES_BEFORE_REST):
        with anyio.move_on_after(0.05):
            await reranker.rerank("tea", TWO)
    assert "left alone" in await failure_of(reranker)


@pytest.mark.parametrize(("url", "key"), [("127.0.0.1/v1", "k"), ("https://x", "k\n"), ("https://x", "钥匙")])
def test_settings_that_cannot_be_right_are_refused(url: str, key: str) -> None:
    with pytest.raises(ConfigurationError):
        EndpointReranker(url, key, model="m")
