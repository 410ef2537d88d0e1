"""Vectors from any endpoint that speaks OpenAI's `/embeddings` (OpenAI, vLLM, Ollama, TEI, LM Studio, Jina …)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import anyio
import httpx
import numpy as np

from ebbing.adapters.embedders.model_calls import clean
from ebbing.adapters.http.endpoint import Endpoint
from ebbing.domain.errors import EmbeddingError
from ebbing.ports.models.embedder import Calibration, Vectors
from ebbing.resilience.retry import asked_wait, is_passing, wait_seconds

MAX_CHARACTERS = 8_000
"""Below the 8,192 tokens that the common models take, also in Chinese."""
BATCH_TEXTS = 64
BATCH_CHARACTERS = 64_000
ATTEMPTS = 4
_UNKNOWN_FIELD = frozenset({400, 422})

# Between what current general-purpose models show; measure your own with `scripts/calibrate_embedder.py`.
TYPICAL = Calibration(unrelated=0.2, related=0.45, paraphrase=0.8, same=0.97)


class OpenAIEmbedder:
    """An embeddings endpoint, with batches, a timeout, and retries after 429, 5xx and lost connections.

    Text is sanitised and cut to 8,000 characters; blank text is not sent. Neither texts nor the key ever stand in an
    error.

    Args:
        base_url: up to the version, such as `https://api.openai.com/v1`.
        api_key: sent as a bearer token; None or empty for local servers.
        model: the model's name at the endpoint.
        dim: length of its vectors, also asked for as `dimensions` (and not again where the endpoint refuses that);
            learned from the first answer when None.
        timeout_seconds: bound of one attempt, from connecting to the last byte.
        query_prefix: put before questions, for models that want it (`query: `); `passage_prefix` likewise.
        calibration: the model's anchors.

    Raises:
        ConfigurationError: base URL or key cannot be right.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None,
        *,
        model: str,
        dim: int | None = None,
        timeout_seconds: float = 30.0,
        query_prefix: str = "",
        passage_prefix: str = "",
        calibration: Calibration = TYPICAL,
    ) -> None:
        self._endpoint = Endpoint(
            base_url, "/embeddings", api_key=api_key, owner="the embeddings", timeout_seconds=timeout_seconds
        )
        self._model = model
        self._dim = dim
        self._asked_dim = dim
        self._asks_dim = dim is not None
        self._prefixes = (query_prefix, passage_prefix)
        self._timeout_seconds = timeout_seconds
        self.calibration = calibration

    @property
    def model_id(self) -> str:
        """The model's name at the endpoint, with the dimension and the prefixes that were given."""
        dim = f"@{self._asked_dim}" if self._asked_dim else ""
        prefixes = "|".join(self._prefixes)
        return f"endpoint:{self._model}{dim}" + (f":{prefixes}" if prefixes != "|" else "")

    @property
    def dim(self) -> int:
        """Length of the vectors.

        Raises:
            EmbeddingError: it was not given, and nothing was embedded so far.
        """
        if self._dim is None:
            raise EmbeddingError("the endpoint's dimension is not known yet: give dim, or await learn_dim() first")
        return self._dim

    async def learn_dim(self) -> int:
        """Length of the vectors, asked from the endpoint if need be."""
        if self._dim is None:
            await self._request(["dimension"])
        return self.dim

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Vectors for questions, shape (len(texts), dim)."""
        return await self._embed(texts, self._prefixes[0])

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors for what is stored, shape (len(texts), dim)."""
        return await self._embed(texts, self._prefixes[1])

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self._endpoint.aclose()

    async def _embed(self, texts: Sequence[str], prefix: str) -> Vectors:
        cleaned = [clean(text, MAX_CHARACTERS) for text in texts]
        places = [place for place, text in enumerate(cleaned) if text]
        answers = [
            (batch, await self._request([prefix + cleaned[place] for place in batch]))
            for batch in _batches(places, cleaned)
        ]
        vectors = np.zeros((len(texts), await self.learn_dim()), np.float32)
        for batch, rows in answers:
            vectors[batch] = rows
        return vectors

    async def _request(self, texts: list[str]) -> Vectors:
        outcome: httpx.Response | str = "nothing was tried"
        for attempt in range(ATTEMPTS):
            outcome = await self._attempt(texts)
            if isinstance(outcome, httpx.Response) and not is_passing(outcome.status_code):
                return self._vectors(outcome, len(texts))
            if attempt + 1 < ATTEMPTS:
                seconds = asked_wait(outcome.headers) if isinstance(outcome, httpx.Response) else None
                await anyio.sleep(wait_seconds(attempt, seconds))
        reason = f"status {outcome.status_code}" if isinstance(outcome, httpx.Response) else outcome
        raise EmbeddingError(f"the embeddings endpoint failed {ATTEMPTS} times, last with: {reason}; try again later")

    async def _attempt(self, texts: list[str]) -> httpx.Response | str:
        """The answer, or in a word why there was none."""
        body: dict[str, object] = {"model": self._model, "input": texts}
        try:
            with anyio.fail_after(self._timeout_seconds):
                if self._asks_dim:
                    answer = await self._endpoint.post(body | {"dimensions": self._asked_dim})
                    if answer.status_code not in _UNKNOWN_FIELD:
                        return answer
                    # Many servers and older models have one size only, and refuse to be asked.
                answer = await self._endpoint.post(body)
                self._asks_dim = self._asks_dim and answer.status_code != httpx.codes.OK
                return answer
        except (TimeoutError, httpx.TimeoutException):
            return f"no answer within {self._timeout_seconds:g} s"
        except httpx.RequestError as error:
            return type(error).__name__
        except httpx.InvalidURL:
            raise EmbeddingError("the embeddings endpoint's base URL is not a URL") from None

    def _vectors(self, response: httpx.Response, count: int) -> Vectors:
        if response.status_code != httpx.codes.OK:
            raise EmbeddingError(f"the embeddings endpoint refused: {_advice(response.status_code)}")
        try:
            entries = sorted(response.json()["data"], key=lambda entry: int(entry["index"]))
            with np.errstate(over="ignore"):
                vectors = np.array([entry["embedding"] for entry in entries], np.float32)
        except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError):
            # The answer may quote the request: it is not repeated, nor chained.
            raise EmbeddingError("the embeddings endpoint's answer is not an embeddings answer") from None
        if vectors.ndim != 2 or len(vectors) != count or not vectors.size or not np.isfinite(vectors).all():
            raise EmbeddingError(f"the embeddings endpoint sent no {count} vectors for {count} texts")
        self._dim = self._dim or vectors.shape[1]
        if vectors.shape[1] != self._dim:
            raise EmbeddingError(f"the embeddings endpoint sent {vectors.shape[1]} numbers a text, not {self._dim}")
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        lengths[lengths == 0] = 1.0
        rows: Vectors = vectors / lengths
        return rows


def _batches(places: list[int], texts: list[str]) -> Iterator[list[int]]:
    batch: list[int] = []
    size = 0
    for place in places:
        if batch and (len(batch) == BATCH_TEXTS or size + len(texts[place]) > BATCH_CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(place)
        size += len(texts[place])
    if batch:
        yield batch


def _advice(status: int) -> str:
    advice = {401: "check the key", 403: "check the key's rights", 404: "check base URL and model name"}
    return f"status {status}, {advice.get(status, 'check model name and settings')}"
