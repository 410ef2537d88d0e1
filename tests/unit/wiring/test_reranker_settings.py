"""Which reranker a memory gets."""

from __future__ import annotations

from typing import Any

import pytest

from ebbing import AsyncMemory
from ebbing.adapters.rerankers.late_interaction import LateReranker
from ebbing.adapters.rerankers.rerank_endpoint import EndpointReranker
from ebbing.domain.errors import ConfigurationError
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.testing.models.reranker import FakeReranker
from ebbing.wiring.build import Components, build, load_settings, settings_from_config

pytestmark = pytest.mark.anyio


def components(**settings: Any) -> Components:
    return build(load_settings({"store": "ephemeral", "embedder": "none", **settings}))


async def test_no_reranker_serves_unless_it_is_asked_for() -> None:
    slot = components().reranker
    assert (await slot.get(), slot.notes) == (None, [])


async def test_late_interaction_uses_the_embedder_that_is_loaded() -> None:
    slot = components(embedder="e5", reranker="late").reranker
    reranker = await slot.get()
    assert isinstance(reranker, LateReranker)
    assert await slot.get() is reranker
    assert reranker.name == "late:multilingual-e5-small-q4/2"


async def test_an_embedder_without_token_vectors_means_no_late_interaction() -> None:
    made = build(load_settings({"store": "ephemeral", "reranker": "late"}), embedder=FakeEmbedder())
    assert await made.reranker.get() is None
    assert made.reranker.notes == ["late: the embedder has no token vectors"]


async def test_an_endpoint_is_asked_as_the_settings_say() -> None:
    slot = components(
        reranker="endpoint",
        reranker_base_url="http://127.0.0.1:9/v1",
        reranker_model="m",
        reranker_weight=0.5,
        reranker_depth=20,
        reranker_timeout_seconds=0.3,
    ).reranker
    assert isinstance(await slot.get(), EndpointReranker)
    assert (slot.options.weight, slot.options.depth, slot.options.timeout_seconds) == (0.5, 20, 0.3)
    await slot.aclose()


@pytest.mark.parametrize(
    "settings",
    [
        {"reranker": "late", "embedder": "none"},
        {"reranker": "endpoint"},
        {"reranker": "endpoint", "reranker_model": "m", "reranker_base_url": "127.0.0.1"},
        {"reranker": "endpoint", "reranker_model": "m"},
    ],
)
def test_settings_that_cannot_work_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=r"reranker|RERANKER"):
        components(**settings)


async def test_a_reranker_can_be_given_in_code() -> None:
    reranker = FakeReranker()
    made = build(load_settings({"store": "ephemeral", "embedder": "none"}), reranker=reranker)
    async with AsyncMemory(components=made) as memory:
        assert await memory.components.reranker.get() is reranker


async def test_a_mem0_config_may_name_its_reranker() -> None:
    section = {"provider": "cohere", "config": {"model": "rerank-v3.5", "api_key": "sk-test", "top_k": 5}}
    settings = settings_from_config({"reranker": section})
    assert settings.reranker == "endpoint"
    assert settings.reranker_base_url == "https://api.cohere.com/v2"
    assert settings.reranker_model == "rerank-v3.5"
    own = {"provider": "huggingface", "config": {"model": "m", "base_url": "http://127.0.0.1:9/v1"}}
    assert settings_from_config({"reranker": own}).reranker_base_url == "http://127.0.0.1:9/v1"
    assert settings_from_config({"reranker": "late"}).reranker == "late"
    other = settings_from_config({"reranker": {"provider": "sentence_transformer", "config": {"model": "m"}}})
    assert other.reranker == "none"
    assert "sentence_transformer" in other.replaced[0]


async def test_diagnose_tells_of_the_reranker() -> None:
    async def found(**settings: Any) -> tuple[str, str]:
        async with AsyncMemory(components=components(**settings)) as memory:
            [finding] = [one for one in (await memory.maintenance.diagnose())["findings"] if one["part"] == "reranker"]
            return finding["state"], finding["detail"]

    assert await found() == ("off", "none is set")
    endpoint = {"reranker_base_url": "http://127.0.0.1:9/v1", "reranker_model": "m", "reranker_api_key": "sk-secret"}
    assert await found(reranker="endpoint", **endpoint) == ("on", "endpoint:m")
    made = build(load_settings({"store": "ephemeral", "reranker": "late"}), embedder=FakeEmbedder())
    async with AsyncMemory(components=made) as memory:
        findings = (await memory.maintenance.diagnose())["findings"]
    assert {"part": "reranker", "state": "attention", "detail": "late: the embedder has no token vectors"} in findings
