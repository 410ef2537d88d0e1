"""The chat adapter against a real server on this machine that misbehaves in every way that it knows."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from ebbing.adapters.chat.openai_chat import OpenAIChatModel
from ebbing.domain.errors import (
    BadModelOutputError,
    ConfigurationError,
    ModelError,
    ModelRefusedError,
    ModelTimeoutError,
    ModelUnavailableError,
)
from ebbing.ports.models.chat_model import Turn
from ebbing.resilience import retry as http_waits
from ebbing.resilience.circuit_breaker import Breaker
from ebbing.testing.models.fake_llm import FakeLlm, Fault, Rule

pytestmark = pytest.mark.anyio

SECRET = "my sister is ill"
KEY = "sk-hidden"
PROMPT = [Turn("system", "Read."), Turn("user", SECRET)]
SCHEMA = {
    "title": "facts",
    "type": "object",
    "properties": {"facts": {"type": "array", "items": {"type": "string"}}},
    "required": ["facts"],
    "additionalProperties": False,
}
FACTS = {"facts": ["a", "b"]}


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_waits, "FIRST_WAIT_SECONDS", 0.01)


@pytest.fixture
def llm() -> Iterator[FakeLlm]:
    with FakeLlm([Rule(answer=FACTS)], retry_after=0) as server:
        yield server


@asynccontextmanager
async def model_of(llm: FakeLlm, **options: Any) -> AsyncIterator[OpenAIChatModel]:
    model = OpenAIChatModel(llm.url, "fake", api_key=KEY, **({"timeout_seconds": 5} | options))
    try:
        yield model
    finally:
        await model.aclose()


async def test_an_answer_comes_with_its_model_and_its_cost(llm: FakeLlm) -> None:
    async with model_of(llm) as model:
        answer = await model.complete(PROMPT, schema=SCHEMA, max_tokens=50)
    assert answer.parsed == FACTS
    assert answer.model == "fake"
    assert answer.usage.prompt_tokens > 0
    assert not answer.truncated
    assert llm.keys == [f"Bearer {KEY}"]
    assert llm.requests[0]["response_format"]["type"] == "json_schema"
    assert llm.requests[0]["response_format"]["json_schema"]["strict"] is True
    assert llm.requests[0]["max_tokens"] == 50


async def test_without_a_schema_the_text_is_the_answer(llm: FakeLlm) -> None:
    llm.add(Rule(answer="Where did Anna move?", fault=Fault.THINK))
    async with model_of(llm) as model:
        answer = await model.complete(PROMPT)
    assert (answer.text, answer.parsed) == ("Where did Anna move?", None)
    assert "response_format" not in llm.requests[0]


@pytest.mark.parametrize("fault", [Fault.THINK, Fault.FENCED, Fault.PROSE, Fault.SLOPPY])
async def test_json_is_found_in_whatever_surrounds_it(llm: FakeLlm, fault: Fault) -> None:
    llm.add(Rule(answer=FACTS, fault=fault))
    async with model_of(llm) as model:
        answer = await model.complete(PROMPT, schema=SCHEMA)
    assert answer.parsed == FACTS
    assert not answer.truncated
    assert len(llm.requests) == 1


async def test_a_cut_answer_is_closed_and_said_to_be_cut(llm: FakeLlm) -> None:
    llm.add(Rule(answer={"facts": ["User lives in Paris", "User has a dog"]}, fault=Fault.TRUNCATED))
    async with model_of(llm) as model:
        answer = await model.complete(PROMPT, schema=SCHEMA)
    assert answer.parsed["facts"][0] == "User lives in Paris"
    assert answer.truncated


async def test_an_answer_of_another_form_is_sent_back_once(llm: FakeLlm) -> None:
    llm.add(Rule(answer=FACTS, fault=Fault.WRONG_SCHEMA, times=1))
    async with model_of(llm) as model:
        answer = await model.complete(PROMPT, schema=SCHEMA)
    assert answer.parsed == FACTS
    assert [message["role"] for message in llm.requests[1]["messages"]] == ["system", "user", "assistant", "user"]


@pytest.mark.parametrize("fault", [Fault.WRONG_SCHEMA, Fault.EMPTY])
async def test_two_answers_of_another_form_are_an_error(llm: FakeLlm, fault: Fault) -> None:
    llm.add(Rule(answer=FACTS, fault=fault))
    async with model_of(llm) as model:
        with pytest.raises(BadModelOutputError):
            await model.complete(PROMPT, schema=SCHEMA)
    assert len(llm.requests) == 2


async def test_a_form_that_is_refused_is_not_asked_for_again(llm: FakeLlm) -> None:
    llm = FakeLlm([Rule(answer=FACTS)], refuses=["json_schema"])
    with llm:
        async with model_of(llm) as model:
            assert (await model.complete(PROMPT, schema=SCHEMA)).parsed == FACTS
            assert (await model.complete(PROMPT, schema=SCHEMA)).parsed == FACTS
    forms = [request["response_format"]["type"] for request in llm.requests]
    assert forms == ["json_schema", "json_object", "json_object"]
    assert "JSON Schema" in llm.requests[1]["messages"][0]["content"]


async def test_an_endpoint_without_any_form_is_asked_in_words() -> None:
    with FakeLlm([Rule(answer=FACTS)], refuses=["response_format"]) as llm:
        async with model_of(llm) as model:
            assert (await model.complete(PROMPT, schema=SCHEMA)).parsed == FACTS
            await model.complete(PROMPT, schema=SCHEMA)
    assert "response_format" not in llm.requests[-1]
    assert len(llm.requests) == 4


@pytest.mark.parametrize(("profile", "field"), [("glm", "thinking"), ("dashscope", "enable_thinking")])
async def test_a_refused_extra_is_left_out_and_the_form_kept(profile: str, field: str) -> None:
    with FakeLlm([Rule(answer=FACTS)], refuses=[field]) as llm:
        async with model_of(llm, profile=profile) as model:
            assert (await model.complete(PROMPT, schema=SCHEMA)).parsed == FACTS
    assert field in llm.requests[0]
    assert field not in llm.requests[1]
    assert llm.requests[1]["response_format"]["type"] == "json_object"


async def test_a_refused_temperature_is_left_out() -> None:
    with FakeLlm([Rule(answer=FACTS)], refuses=["temperature"]) as llm:
        async with model_of(llm) as model:
            assert (await model.complete(PROMPT, schema=SCHEMA)).parsed == FACTS
    assert llm.requests[1]["response_format"]["type"] == "json_schema"


async def test_a_prompt_that_is_always_refused_does_not_change_what_is_asked_next(llm: FakeLlm) -> None:
    with FakeLlm([Rule(answer=FACTS)], refuses=["messages"]) as llm:
        async with model_of(llm) as model:
            with pytest.raises(ModelRefusedError):
                await model.complete(PROMPT, schema=SCHEMA)
            with pytest.raises(ModelRefusedError):
                await model.complete(PROMPT, schema=SCHEMA)
    assert llm.requests[0] == llm.requests[len(llm.requests) // 2]


@pytest.mark.parametrize("fault", [Fault.ERROR, Fault.RATE_LIMIT, Fault.RESET])
async def test_a_passing_trouble_is_waited_out(llm: FakeLlm, fault: Fault) -> None:
    llm.add(Rule(fault=fault, times=1))
    async with model_of(llm) as model:
        assert (await model.complete(PROMPT, schema=SCHEMA)).parsed == FACTS
    assert len(llm.requests) == 2


@pytest.mark.parametrize("fault", [Fault.ERROR, Fault.RESET])
async def test_a_lasting_trouble_is_an_error_after_three_requests(llm: FakeLlm, fault: Fault) -> None:
    llm.add(Rule(fault=fault))
    async with model_of(llm) as model:
        with pytest.raises(ModelUnavailableError):
            await model.complete(PROMPT, schema=SCHEMA)
    assert len(llm.requests) == 3


async def test_a_wait_longer_than_the_time_left_is_not_begun() -> None:
    with FakeLlm([Rule(fault=Fault.RATE_LIMIT)], retry_after=60) as llm:
        async with model_of(llm) as model:
            began = time.monotonic()
            with pytest.raises(ModelUnavailableError) as failure:
                await model.complete(PROMPT)
    assert time.monotonic() - began < 2
    assert failure.value.retry_after_seconds == 60


async def test_a_silent_endpoint_is_given_up_in_time(llm: FakeLlm) -> None:
    llm.add(Rule(fault=Fault.HANG))
    async with model_of(llm) as model:
        began = time.monotonic()
        with pytest.raises(ModelTimeoutError):
            await model.complete(PROMPT, timeout_seconds=0.3)
    assert time.monotonic() - began < 2


async def test_a_web_page_is_no_answer(llm: FakeLlm) -> None:
    llm.add(Rule(fault=Fault.NOT_CHAT))
    async with model_of(llm) as model:
        with pytest.raises(ModelRefusedError, match="base URL"):
            await model.complete(PROMPT)


async def test_a_wrong_key_is_not_tried_again() -> None:
    with FakeLlm(api_key="another") as llm:
        async with model_of(llm) as model:
            with pytest.raises(ModelRefusedError, match="key"):
                await model.complete(PROMPT)
    assert len(llm.requests) == 1


async def test_after_five_failures_nobody_waits_until_the_pause_is_over(llm: FakeLlm) -> None:
    now = [0.0]
    llm.add(Rule(fault=Fault.RATE_LIMIT))
    async with model_of(llm, breaker=Breaker(monotonic=lambda: now[0])) as model:
        for _ in range(5):
            with pytest.raises(ModelUnavailableError, match="429"):
                await model.complete(PROMPT)
        asked = len(llm.requests)
        with pytest.raises(ModelUnavailableError, match="left alone"):
            await model.complete(PROMPT)
        assert len(llm.requests) == asked
        now[0] = 31.0
        llm.rules = [Rule(answer="back")]
        assert (await model.complete(PROMPT)).text == "back"


@pytest.mark.parametrize("fault", [fault for fault in Fault if fault is not Fault.HANG])
async def test_no_error_or_log_holds_the_prompt_or_the_key(
    llm: FakeLlm, fault: Fault, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="ebbing")
    llm.add(Rule(answer=SECRET, fault=fault))
    async with model_of(llm) as model:
        try:
            await model.complete(PROMPT, schema=SCHEMA)
        except ModelError as error:
            told = f"{error!r} {error.__cause__!r} {caplog.text}"
            assert SECRET not in told
            assert KEY not in told


@pytest.mark.parametrize(
    ("base_url", "options"),
    [("ftp://host", {}), ("http://host", {"api_key": "ключ"}), ("http://host", {"profile": "unheard-of"})],
)
async def test_what_cannot_be_right_is_refused_at_once(base_url: str, options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        OpenAIChatModel(base_url, "m", **options)
