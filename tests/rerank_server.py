"""A real HTTP server on this machine that speaks `/rerank`, and misbehaves when told to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from ebbing.testing.models.reranker import FakeReranker
from tests.loopback_server import LoopbackServer, QuietHandler

Answer = tuple[int, bytes]
Fault = Callable[[dict[str, Any]], Answer]


def answering(status: int, body: str = "") -> Fault:
    """Answer with a status; the body quotes the request unless given, as some servers do."""
    return lambda request: (status, (body or json.dumps({"error": request})).encode())


class RerankServer(LoopbackServer):
    """`faults` are used up one a request; after that, it answers properly. `requests` and `keys` are what came in."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        server = self

        class Handler(QuietHandler):
            def respond(self) -> None:
                request = json.loads(self.read())
                server.requests.append(request)
                server.keys.append(self.headers["Authorization"])
                fault = server.faults.pop(0) if server.faults else server.answer
                status, body = fault(request) if self.path == "/v1/rerank" else (404, b"")
                self.write(status, {}, body)

        super().__init__(Handler)
        self.url = f"{self.address}/v1"

    def answer(self, request: dict[str, Any]) -> Answer:
        """Scores, best first, as the protocol has it."""
        scores = asyncio.run(FakeReranker().rerank(request["query"], request["documents"]))
        results = [{"index": place, "relevance_score": score} for place, score in enumerate(scores)]
        results.sort(key=lambda result: -result["relevance_score"])
        return 200, json.dumps({"model": request["model"], "results": results}).encode()

    def hang(self, request: dict[str, Any]) -> Answer:
        """Answer when the test is over."""
        self.released.wait(10)
        return self.answer(request)
