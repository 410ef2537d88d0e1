"""The endpoint adapter against a real server on this machine that misbehaves in every known way."""

from __future__ import annotations

import json
import logging
import time
import traceback
from collections.abc import Iterator
from typing import Any

import anyio
import numpy as np
import pytest

from ebbing.adapters.embedders import openai_embeddings
from ebbing.adapters.embedders.openai_embeddings import OpenAIEmbedder
from ebbing.domain.errors import ConfigurationError, EmbeddingError
from ebbing.resilience import retry as http_waits
from tests.embeddings_endpoint import EmbeddingsEndpoint, refusal

pytestmark = pytest.mark.anyio

KEY = "sk-very-secret-key"
TEXT = "Lin told me about her divorce"


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingsEndpoint]:
    monkeypatch.setattr(http_waits, "FIRST_WAIT_SECONDS", 0.001)
    with EmbeddingsEndpoint() as server:
        yield server


def embedder_for(endpoint: EmbeddingsEndpoint, **settings: Any) -> OpenAIEmbedder:
    return OpenAIEmbedder(endpoint.url, KEY, **{"model": "fake", **settings})


async def failure_of(embedder: OpenAIEmbedder, text: str = TEXT) -> str:
    """The whole traceback of the error, which holds neither the key nor the text."""
    with pytest.raises(EmbeddingError) as caught:
        await embedder.embed_passages([text])
    await embedder.aclose()
    told = "".join(traceback.format_exception(caught.value))
    assert KEY not in told
    assert text not in told
    return str(caught.value)


async def test_the_key_and_the_model_are_sent(endpoint: EmbeddingsEndpoint) -> None:
    embedder = embedder_for(endpoint)
    await embedder.embed_passages(["tea"])
    assert endpoint.keys == [f"Bearer {KEY}"]
    assert endpoint.requests == [{"model": "fake", "input": ["tea"]}]
    await embedder.aclose()


async def test_no_key_means_no_authorisation_header(endpoint: EmbeddingsEndpoint) -> None:
    embedder = OpenAIEmbedder(endpoint.url + "/", "", model="fake")
    await embedder.embed_queries(["tea"])
    assert endpoint.keys == [None]
    await embedder.aclose()


async def test_prefixes_tell_questions_from_passages(endpoint: EmbeddingsEndpoint) -> None:
    embedder = embedder_for(endpoint, query_prefix="query: ", passage_prefix="passage: ")
    await embedder.embed_queries(["tea"])
    await embedder.embed_passages(["tea"])
    assert [request["input"] for request in endpoint.requests] == [["query: tea"], ["passage: tea"]]
    assert embedder.model_id != embedder_for(endpoint).model_id
    await embedder.aclose()


async def test_many_texts_go_out_in_batches_and_come_back_in_order(endpoint: EmbeddingsEndpoint) -> None:
    embedder = embedder_for(endpoint)
    texts = [f"text {number}" for number in range(150)] + ["长" * 8000] * 10
    vectors = await embedder.embed_passages(texts)
    assert max(len(request["input"]) for request in endpoint.requests) == openai_embeddings.BATCH_TEXTS
    assert max(len("".join(request["input"])) for request in endpoint.requests) <= openai_embeddings.BATCH_CHARACTERS
    for place in (0, 63, 64, 149, 159):
        np.testing.assert_allclose(vectors[place], (await embedder.embed_passages([texts[place]]))[0], atol=1e-6)
    await embedder.aclose()


async def test_blank_text_is_not_sent(endpoint: EmbeddingsEndpoint) -> None:
    embedder = embedder_for(endpoint)
    await embedder.embed_passages(["", "tea", " \n"])
    assert [request["input"] for request in endpoint.requests] == [["tea"]]
    await embedder.aclose()


async def test_the_dimension_is_learned_from_the_first_answer(endpoint: EmbeddingsEndpoint) -> None:
    embedder = embedder_for(endpoint)
    with pytest.raises(EmbeddingError, match="dimension is not known"):
        _ = embedder.dim
    assert await embedder.learn_dim() == 16
    assert embedder.dim == 16
    await embedder.aclose()


async def test_another_dimension_than_the_given_one_is_an_error(endpoint: EmbeddingsEndpoint) -> None:
    assert "16 numbers a text, not 1536" in await failure_of(embedder_for(endpoint, dim=1536))


async def test_a_given_dimension_is_asked_for(endpoint: EmbeddingsEndpoint) -> None:
    embedder = embedder_for(endpoint, dim=16)
    await embedder.embed_passages(["tea"])
    assert endpoint.requests[0]["dimensions"] == 16
    await embedder.aclose()


async def test_an_endpoint_that_refuses_to_be_asked_for_a_dimension_is_not_asked_again(
    endpoint: EmbeddingsEndpoint,
) -> None:
    endpoint.faults = [refusal(400)]
    embedder = embedder_for(endpoint, dim=16)
    await embedder.embed_passages(["tea"])
    await embedder.embed_passages(["coffee"])
    assert ["dimensions" in request for request in endpoint.requests] == [True, False, False]
    await embedder.aclose()


@pytest.mark.parametrize("status", [408, 429, 500, 503])
async def test_a_passing_failure_is_tried_again(endpoint: EmbeddingsEndpoint, status: int) -> None:
    endpoint.faults = [refusal(status), refusal(status)]
    embedder = embedder_for(endpoint)
    assert (await embedder.embed_passages(["tea"])).any()
    assert len(endpoint.requests) == 3
    await embedder.aclose()


async def test_a_failure_that_stays_ends_in_a_typed_error(endpoint: EmbeddingsEndpoint) -> None:
    endpoint.faults = [refusal(500)] * 10
    assert "status 500" in await failure_of(embedder_for(endpoint))
    assert len(endpoint.requests) == openai_embeddings.ATTEMPTS


async def test_retry_after_is_heeded_within_a_bound(
    endpoint: EmbeddingsEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_waits, "LONGEST_WAIT_SECONDS", 0.2)
    endpoint.faults = [refusal(429, {"Retry-After": "3600"})]
    embedder = embedder_for(endpoint)
    begun = time.monotonic()
    await embedder.embed_passages(["tea"])
    assert 0.2 <= time.monotonic() - begun < 5
    await embedder.aclose()


async def test_a_retry_after_that_is_no_number_is_ignored(endpoint: EmbeddingsEndpoint) -> None:
    endpoint.faults = [refusal(429, {"Retry-After": "Fri, 31 Dec 2100 23:59:59 GMT"})]
    embedder = embedder_for(endpoint)
    with anyio.fail_after(5):
        await embedder.embed_passages(["tea"])
    await embedder.aclose()


@pytest.mark.parametrize(("status", "advice"), [(401, "key"), (403, "key"), (404, "base URL"), (400, "settings")])
async def test_a_refusal_is_not_tried_again_and_says_what_to_check(
    endpoint: EmbeddingsEndpoint, status: int, advice: str
) -> None:
    endpoint.faults = [refusal(status)]
    assert advice in await failure_of(embedder_for(endpoint))
    assert len(endpoint.requests) == 1


async def test_an_endpoint_that_hangs_is_left_after_the_timeout(endpoint: EmbeddingsEndpoint) -> None:
    endpoint.faults = [endpoint.hang] * 10
    embedder = embedder_for(endpoint, timeout_seconds=0.1)
    with anyio.fail_after(5):
        assert "no answer within 0.1 s" in await failure_of(embedder)


async def test_a_caller_with_a_deadline_is_not_held_by_a_hanging_endpoint(endpoint: EmbeddingsEndpoint) -> None:
    endpoint.faults = [endpoint.hang]
    embedder = embedder_for(endpoint)
    begun = time.monotonic()
    with anyio.move_on_after(0.1):
        await embedder.embed_passages(["tea"])
    assert time.monotonic() - begun < 3
    await embedder.aclose()


async def test_nobody_listening_ends_in_a_typed_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_waits, "FIRST_WAIT_SECONDS", 0.001)
    with EmbeddingsEndpoint() as gone:
        embedder = embedder_for(gone)
    assert "ConnectError" in await failure_of(embedder)


@pytest.mark.parametrize(
    "body",
    [
        "<html>gateway</html>",
        "",
        "null",
        "[]",
        '{"data": null}',
        '{"data": [{"embedding": [1.0, 2.0]}]}',
        '{"data": [{"index": 0}]}',
        '{"data": [{"index": 0, "embedding": "AAAA"}]}',
        '{"data": [{"index": 0, "embedding": [[1.0]]}]}',
        '{"data": [{"index": 0, "embedding": [1.0, null]}]}',
        '{"data": [{"index": 0, "embedding": [1.0, NaN]}]}',
        '{"data": [{"index": 0, "embedding": [1e300, 1.0]}]}',
        '{"data": [{"index": 0, "embedding": []}]}',
        '{"data": []}',
        '{"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}]}',
        '{"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}]}',
        "\xff\xfe",
    ],
)
async def test_an_answer_that_is_none_ends_in_a_typed_error(endpoint: EmbeddingsEndpoint, body: str) -> None:
    endpoint.faults = [refusal(200, body=body or " ")]
    assert "embeddings endpoint" in await failure_of(embedder_for(endpoint))


async def test_an_answer_that_quotes_the_text_does_not_carry_it_into_the_error(endpoint: EmbeddingsEndpoint) -> None:
    endpoint.faults = [refusal(200, body=json.dumps({"data": TEXT, "key": KEY}))]
    await failure_of(embedder_for(endpoint))


async def test_neither_key_nor_text_is_logged(endpoint: EmbeddingsEndpoint, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    endpoint.faults = [refusal(500), refusal(401)]
    await failure_of(embedder_for(endpoint))
    assert KEY not in caplog.text
    assert TEXT not in caplog.text


async def test_vectors_of_one_direction_come_back_with_length_one(endpoint: EmbeddingsEndpoint) -> None:
    endpoint.faults = [refusal(200, body='{"data": [{"index": 0, "embedding": [3.0, 4.0]}]}')]
    embedder = embedder_for(endpoint)
    np.testing.assert_allclose(await embedder.embed_passages(["tea"]), [[0.6, 0.8]], atol=1e-6)
    await embedder.aclose()


def test_one_embedder_serves_one_event_loop_after_another(endpoint: EmbeddingsEndpoint) -> None:
    embedder = embedder_for(endpoint)

    async def ask_and_close() -> bool:
        vectors = await embedder.embed_passages(["tea"])
        await embedder.aclose()
        return bool(vectors.any())

    assert anyio.run(ask_and_close)
    assert anyio.run(ask_and_close)


@pytest.mark.parametrize("url", ["api.openai.com/v1", "", "ftp://example.org"])
def test_a_base_url_that_is_none_is_refused_at_once(url: str) -> None:
    with pytest.raises(ConfigurationError, match="http"):
        OpenAIEmbedder(url, KEY, model="fake")


@pytest.mark.parametrize("key", ["sk-1\n", "sk-ключ"])
def test_a_key_that_no_header_can_carry_is_refused_without_repeating_it(key: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        OpenAIEmbedder("http://localhost/v1", key, model="fake")
    assert "sk-" not in str(caught.value)
