"""A real HTTP server on this machine that speaks `/rerank`, and misbehaves when told to."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from ebbing.testing.models.reranker import FakeReranker

Answer = tuple[int, bytes]
Fault = Callable[[dict[str, Any]], Answer]


def answering(status: int, body: str = "") -> Fault:
    """Answer with a status; the body quotes the request unless given, as some servers do."""
    return lambda request: (status, (body or json.dumps({"error": request})).encode())


class RerankServer:
    """`faults` are used up one a request; after that, it answers properly. `requests` and `keys` are what came in."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.released = threading.Event()
        """What a hanging answer waits for."""
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.requests.append(request)
                server.keys.append(self.headers["Authorization"])
                fault = server.faults.pop(0) if server.faults else server.answer
                status, body = fault(request) if self.path == "/v1/rerank" else (404, b"")
                try:
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

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

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
