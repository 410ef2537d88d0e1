"""Scores from any endpoint that speaks the `/rerank` of Cohere and Jina (vLLM, Infinity, LocalAI, Voyage …)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Final

import anyio
import httpx

from ebbing.adapters.embedders.model_calls import clean
from ebbing.adapters.http.endpoint import Endpoint
from ebbing.domain.errors import RerankError
from ebbing.resilience.circuit_breaker import Breaker

MAX_CHARACTERS: Final = 2_000
"""Of a candidate, and of the question: what a cross-encoder reads of them."""
FAILURES_BEFORE_REST: Final = 3
REST_SECONDS: Final = 30.0
"""So long an endpoint that failed three times in a row is left alone: no search waits for it in vain."""
_ADVICE: Final = {401: "check the key", 403: "check the key's rights", 404: "check base URL and model name"}


class EndpointReranker:
    """A `/rerank` endpoint: one request a question, one attempt, and a rest for an endpoint that keeps failing.

    Neither texts nor the key ever stand in an error.

    Args:
        base_url: up to the version, such as `https://api.jina.ai/v1` or `https://api.cohere.com/v2`.
        api_key: sent as a bearer token; empty for local servers.
        model: the model's name at the endpoint.
        timeout_seconds: bound of the request; the deadline of a search is usually shorter.
        monotonic: seconds that never go backwards.

    Raises:
        ConfigurationError: base URL or key cannot be right.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        model: str,
        timeout_seconds: float = 10.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._endpoint = Endpoint(
            base_url, "/rerank", api_key=api_key, owner="the reranker's", timeout_seconds=timeout_seconds
        )
        self._model = model
        self._timeout_seconds = timeout_seconds
        self._breaker = Breaker(FAILURES_BEFORE_REST, pause_seconds=REST_SECONDS, monotonic=monotonic)

    @property
    def name(self) -> str:
        """The model's name at the endpoint."""
        return f"endpoint:{self._model}"

    async def rerank(self, query: str, candidates: Sequence[str]) -> list[float]:
        """The endpoint's relevance scores, in the order of the candidates; those of blank text are the lowest."""
        cleaned = [clean(text, MAX_CHARACTERS) for text in candidates]
        places = [place for place, text in enumerate(cleaned) if text]
        question = clean(query, MAX_CHARACTERS)
        if not places or not question:
            return [0.0] * len(candidates)
        answer = await self._ask(question, [cleaned[place] for place in places])
        scores = [min(answer)] * len(candidates)
        for place, score in zip(places, answer, strict=True):
            scores[place] = score
        return scores

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self._endpoint.aclose()

    async def _ask(self, query: str, documents: list[str]) -> list[float]:
        if self._breaker.enter():
            raise RerankError("the reranker failed several times in a row and is left alone for a while")
        report = self._breaker.failed  # also where a search gave up: an endpoint that is always late is left alone
        try:
            response = await self._post({"model": self._model, "query": query, "documents": documents})
            scores = _scores(response, len(documents))
            report = self._breaker.succeeded
        finally:
            report()
        return scores

    async def _post(self, body: dict[str, object]) -> httpx.Response:
        try:
            with anyio.fail_after(self._timeout_seconds):
                return await self._endpoint.post(body)
        except (TimeoutError, httpx.TimeoutException):
            raise RerankError(f"the reranker did not answer within {self._timeout_seconds:g} s") from None
        except httpx.RequestError as error:
            raise RerankError(f"the reranker cannot be reached: {type(error).__name__}") from None
        except httpx.InvalidURL:
            raise RerankError("the reranker's base URL is not a URL") from None


def _scores(response: httpx.Response, count: int) -> list[float]:
    if response.status_code != httpx.codes.OK:
        advice = _ADVICE.get(response.status_code)
        raise RerankError(f"the reranker answered with status {response.status_code}" + (f": {advice}" * bool(advice)))
    try:
        answer = response.json()
        entries = answer if isinstance(answer, list) else answer.get("results") or answer["data"]
        scored = {int(entry["index"]): _score(entry) for entry in entries}
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        # The answer may quote the request: it is not repeated, nor chained.
        raise RerankError("the reranker's answer is not a rerank answer") from None
    if scored.keys() != set(range(count)) or not all(math.isfinite(score) for score in scored.values()):
        raise RerankError(f"the reranker sent no score for each of {count} texts")
    return [scored[place] for place in range(count)]


def _score(entry: dict[str, object]) -> float:
    return float(entry["relevance_score"] if "relevance_score" in entry else entry["score"])  # type: ignore[arg-type]
