"""A real HTTP server on this machine that speaks OpenAI's `/embeddings`, and misbehaves when told to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from ebbing.testing.models.embedder import FakeEmbedder

Answer = tuple[int, dict[str, str], bytes]
Fault = Callable[[dict[str, Any]], Answer]


def refusal(status: int, headers: dict[str, str] | None = None, body: str = "") -> Fault:
    """Answer with a status; the body quotes the request, as some servers do."""
    return lambda request: (status, headers or {}, (body or json.dumps({"error": request})).encode())


class EmbeddingsEndpoint:
    """`faults` are used up one per request; after that, it answers properly.

    `requests` are the bodies, `keys` the authorisation headers that came in.
    """

    def __init__(self, dim: int = 16) -> None:
        self.faults: list[Fault] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.released = threading.Event()
        """What a hanging answer waits for."""
        self._model = FakeEmbedder(dim)
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.requests.append(request)
                endpoint.keys.append(self.headers["Authorization"])
                fault = endpoint.faults.pop(0) if endpoint.faults else endpoint.answer
                status, headers, body = fault(request) if self.path == "/v1/embeddings" else (404, {}, b"")
                try:
                    self.send_response(status)
                    for name, value in {**headers, "Content-Length": str(len(body))}.items():
                        self.send_header(name, value)
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
        """Vectors, longer than 1 and in another order than asked, as the protocol allows."""
        vectors = self._model.embed(request["input"])
        data = [{"index": place, "embedding": (3 * vector).tolist()} for place, vector in enumerate(vectors)]
        return 200, {}, json.dumps({"data": data[::-1], "model": request["model"]}).encode()

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
