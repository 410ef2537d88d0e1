"""A real HTTP server on this machine that speaks OpenAI's `/embeddings`, and misbehaves when told to."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ebbing.testing.models.embedder import FakeEmbedder
from tests.loopback_server import LoopbackServer, QuietHandler

Answer = tuple[int, dict[str, str], bytes]
Fault = Callable[[dict[str, Any]], Answer]


def refusal(status: int, headers: dict[str, str] | None = None, body: str = "") -> Fault:
    """Answer with a status; the body quotes the request, as some servers do."""
    return lambda request: (status, headers or {}, (body or json.dumps({"error": request})).encode())


class EmbeddingsEndpoint(LoopbackServer):
    """`faults` are used up one per request; after that, it answers properly.

    `requests` are the bodies, `keys` the authorisation headers that came in.
    """

    def __init__(self, dim: int = 16) -> None:
        self.faults: list[Fault] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self._model = FakeEmbedder(dim)
        endpoint = self

        class Handler(QuietHandler):
            def respond(self) -> None:
                request = json.loads(self.read())
                endpoint.requests.append(request)
                endpoint.keys.append(self.headers["Authorization"])
                fault = endpoint.faults.pop(0) if endpoint.faults else endpoint.answer
                status, headers, body = fault(request) if self.path == "/v1/embeddings" else (404, {}, b"")
                self.write(status, headers, body)

        super().__init__(Handler)
        self.url = f"{self.address}/v1"

    def answer(self, request: dict[str, Any]) -> Answer:
        """Vectors, longer than 1 and in another order than asked, as the protocol allows."""
        vectors = self._model.embed(request["input"])
        data = [{"index": place, "embedding": (3 * vector).tolist()} for place, vector in enumerate(vectors)]
        return 200, {}, json.dumps({"data": data[::-1], "model": request["model"]}).encode()

    def hang(self, request: dict[str, Any]) -> Answer:
        """Answer when the test is over."""
        self.released.wait(10)
        return self.answer(request)
