"""Answers from any endpoint that speaks OpenAI's `/chat/completions` (GLM, Qwen, OpenAI, Ollama, vLLM …)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
import httpx

from ebbing.adapters.chat.chat_profiles import Dialect, Form, profile_for
from ebbing.adapters.chat.json_answers import JsonObject, found_in, without_thoughts
from ebbing.adapters.http.endpoint import Endpoint
from ebbing.domain.errors import (
    BadModelOutputError,
    ModelRefusedError,
    ModelTimeoutError,
    ModelUnavailableError,
)
from ebbing.ports.models.chat_model import Completion, Schema, Turn, Usage
from ebbing.resilience.circuit_breaker import Breaker
from ebbing.resilience.retry import asked_wait, is_passing, wait_seconds

ATTEMPTS = 3
"""Requests of one call that may fail for a passing reason."""
LONGEST_SECONDS = 600.0
"""No request takes longer, whatever a call allows."""
_MALFORMED = frozenset({400, 415, 422, 501})
_DECLINED = frozenset({"content_filter", "sensitive"})
_QUOTED = 4_000
"""Characters of a bad answer that are shown to the model when it is asked again."""


@dataclass(frozen=True, slots=True)
class _CallOptions:
    """What stays the same for all requests of one call."""

    schema: Schema | None
    max_tokens: int | None
    temperature: float


@dataclass(frozen=True, slots=True)
class _Reply:
    """What an endpoint answered."""

    text: str
    model: str
    usage: Usage
    cut: bool


class OpenAIChatModel:
    """A chat endpoint, bound to JSON as tightly as it allows, with retries, a time limit and a circuit breaker.

    Where a schema is given it is asked for as `json_schema`, else `json_object`, else in words: the first that the
    endpoint takes is remembered. An answer that does not fit is sent back once with the request to mend it.

    Args:
        base_url: up to the version, such as `https://open.bigmodel.cn/api/paas/v4`.
        model: its name at the endpoint.
        api_key: sent as a bearer token; None or empty for local servers.
        profile: a name of `chat_profiles`, or `auto` to tell it by the address.
        timeout_seconds: bound of a call with everything in it, where the call gives none.
        breaker: shared where several models stand behind one endpoint; its own by default.

    Raises:
        ConfigurationError: base URL, key or profile cannot be right.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        profile: str = "auto",
        timeout_seconds: float = 30.0,
        breaker: Breaker | None = None,
    ) -> None:
        self._endpoint = Endpoint(
            base_url,
            "/chat/completions",
            api_key=api_key,
            owner="the language model's",
            timeout_seconds=LONGEST_SECONDS,  # `complete` bounds the whole
        )
        self.model_id = model
        self._dialect = Dialect.of(profile_for(base_url, profile))
        self._timeout_seconds = timeout_seconds
        self._breaker = breaker or Breaker()

    async def complete(
        self,
        messages: Sequence[Turn],
        *,
        schema: Schema | None = None,
        max_tokens: int | None = None,
        temperature: float = 0.0,
        timeout_seconds: float | None = None,
    ) -> Completion:
        limit = self._timeout_seconds if timeout_seconds is None else timeout_seconds
        if left := self._breaker.enter():
            raise ModelUnavailableError(
                f"the language model failed again and again and is left alone for {left:.0f} s",
                retry_after_seconds=left,
            )
        report: Callable[[], None] = self._breaker.abandoned
        try:
            with anyio.fail_after(limit):
                answer = await self._answer(messages, _CallOptions(schema, max_tokens, temperature))
            report = self._breaker.succeeded
            return answer
        except TimeoutError:
            report = self._breaker.failed
            raise ModelTimeoutError(f"the language model gave no answer within {limit:g} s") from None
        except ModelUnavailableError:
            report = self._breaker.failed
            raise
        except (ModelRefusedError, BadModelOutputError):
            report = self._breaker.succeeded  # it is there, and it spoke
            raise
        finally:
            report()

    async def aclose(self) -> None:
        """Closes the connections of the running event loop."""
        await self._endpoint.aclose()

    async def _answer(self, messages: Sequence[Turn], request: _CallOptions) -> Completion:
        """The answer; one that is not of the form asked for is sent back once."""
        reply = await self._reply(messages, request)
        if request.schema is None:
            return _completion(reply, None)
        json_answer = found_in(reply.text, request.schema)
        if json_answer is None:
            reply = await self._reply([*messages, *_sent_back(reply.text, request.schema)], request)
            json_answer = found_in(reply.text, request.schema)
        if json_answer is None:
            raise BadModelOutputError("the language model's answers are not JSON of the form that was asked for")
        return _completion(reply, json_answer)

    async def _reply(self, messages: Sequence[Turn], request: _CallOptions) -> _Reply:
        """What the endpoint says, in the tightest dialect that it takes."""
        dialect = self._dialect
        failures = 0
        while True:
            outcome = await self._post(_body(self.model_id, messages, request=request, dialect=dialect))
            if isinstance(outcome, httpx.Response) and outcome.status_code == httpx.codes.OK:
                self._dialect = dialect
                return _read(outcome)
            if isinstance(outcome, httpx.Response) and not is_passing(outcome.status_code):
                dialect = _easier(dialect, outcome, bound=request.schema is not None)
                continue
            failures += 1
            await _wait(outcome, failures)

    async def _post(self, body: dict[str, Any]) -> httpx.Response | str:
        """The response, or in a word why there was none."""
        try:
            return await self._endpoint.post(body)
        except httpx.RequestError as error:
            return type(error).__name__
        except httpx.InvalidURL:
            raise ModelRefusedError("the language model's base URL is not a URL") from None


def _body(model: str, messages: Sequence[Turn], *, request: _CallOptions, dialect: Dialect) -> dict[str, Any]:
    turns = list(messages)
    body: dict[str, Any] = {"model": model, "stream": False, **dialect.extra}
    if dialect.temperature:
        body["temperature"] = request.temperature
    if request.max_tokens is not None:
        body[dialect.tokens_field] = request.max_tokens
    if request.schema is not None and dialect.form is Form.JSON_SCHEMA:
        body["response_format"] = {"type": "json_schema", "json_schema": _named(request.schema)}
    elif request.schema is not None:
        turns = _with_form(turns, request.schema)
        if dialect.form is Form.JSON_OBJECT:
            body["response_format"] = {"type": "json_object"}
    body["messages"] = [{"role": turn.role, "content": turn.content} for turn in turns]
    return body


def _named(schema: Schema) -> dict[str, Any]:
    strict = schema.get("additionalProperties") is False
    return {"name": str(schema.get("title", "answer")), "schema": dict(schema), "strict": strict}


def _with_form(turns: list[Turn], schema: Schema) -> list[Turn]:
    """The prompt with the form of the answer in words, at the end of its first message."""
    form = json.dumps(schema, ensure_ascii=False)
    first = turns[0]
    instructions = f"{first.content}\n\nAnswer with one JSON object and nothing else. It fits this JSON Schema:\n{form}"
    return [Turn(first.role, instructions), *turns[1:]]


def _sent_back(text: str, schema: Schema) -> list[Turn]:
    names = ", ".join(map(str, schema.get("required", ())))
    request = f"That is not the JSON object that was asked for. Write it again: one object with {names}, no other text."
    return [Turn("assistant", text[:_QUOTED] or "…"), Turn("user", request)]


def _completion(reply: _Reply, json_answer: JsonObject | None) -> Completion:
    return Completion(
        text=reply.text,
        parsed=None if json_answer is None else json_answer.value,
        model=reply.model,
        usage=reply.usage,
        truncated=reply.cut or (json_answer is not None and json_answer.cut),
    )


def _easier(dialect: Dialect, response: httpx.Response, *, bound: bool) -> Dialect:
    """What to try after a refusal that an easier request may avoid.

    Raises:
        ModelRefusedError: no other request will do.
    """
    status = response.status_code
    easier = dialect.easier(response.text[:4_000], bound=bound) if status in _MALFORMED else None
    if easier is None:
        advice = {
            401: "check the key",
            402: "check the account's balance",
            403: "check the key's rights",
            404: "check base URL and model name",
            413: "the prompt is too long for it",
        }
        # The answer may quote the prompt: it is not repeated.
        advice_text = advice.get(status, "check base URL, model name and settings, and what the model may speak about")
        raise ModelRefusedError(f"the language model's endpoint refused with status {status}: {advice_text}")
    return easier


async def _wait(outcome: httpx.Response | str, failures: int) -> None:
    """Waits before the next attempt.

    Raises:
        ModelUnavailableError: there is no next attempt, or no time left to wait for it.
    """
    seconds = asked_wait(outcome.headers) if isinstance(outcome, httpx.Response) else None
    reason = f"status {outcome.status_code}" if isinstance(outcome, httpx.Response) else outcome
    wait = wait_seconds(failures - 1, seconds)
    left = anyio.current_effective_deadline() - anyio.current_time()
    if failures >= ATTEMPTS or max(wait, seconds or 0.0) >= left:
        raise ModelUnavailableError(
            f"the language model is not available ({reason}, asked {failures} times); try again later",
            retry_after_seconds=seconds,
        )
    await anyio.sleep(wait)


def _read(response: httpx.Response) -> _Reply:
    try:
        answer = response.json()
        choice = answer["choices"][0]
        message = choice["message"]
        text = message.get("content") or ""
        if isinstance(text, list):
            text = "".join(str(part.get("text", "")) for part in text)
        declined = message.get("refusal") or choice.get("finish_reason") in _DECLINED
        counts = answer.get("usage") or {}
        usage = Usage(int(counts.get("prompt_tokens") or 0), int(counts.get("completion_tokens") or 0))
        reply = _Reply(
            text=without_thoughts(str(text)),
            model=str(answer.get("model") or ""),
            usage=usage,
            cut=choice.get("finish_reason") == "length",
        )
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        raise ModelRefusedError(
            "the language model's endpoint answered, but with no chat completion: check the base URL"
        ) from None
    if declined:
        raise ModelRefusedError("the language model declined to answer")
    return reply
