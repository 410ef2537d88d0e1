"""An HTTP server on this machine that answers as Qdrant does, and refuses when told to: no Qdrant can be had here."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final, Self

Answer = tuple[int, dict[str, str], bytes]
"""A status, headers and a body."""
_WRITTEN: Final = {"operation_id": 1, "status": "completed"}


def refusal(status: int, words: str, *, headers: dict[str, str] | None = None) -> Answer:
    """What Qdrant answers when it cannot or will not do something."""
    return status, headers or {}, json.dumps({"status": {"error": words}, "time": 0.001}).encode()


class QdrantEndpoint:
    """A Qdrant that has every collection, and no point in any.

    `fault` is the answer to everything but the question for its version, until it is taken away; `paths` and `keys` are
    what came in.
    """

    def __init__(self, version: str = "1.12.4") -> None:
        self.version = version
        self.fault: Answer | None = None
        self.paths: list[str] = []
        self.keys: set[str | None] = set()
        self.may_answer = threading.Event()
        """A server that hangs waits for it."""
        self.may_answer.set()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"] or 0))
                path = self.path.partition("?")[0]
                endpoint.paths.append(path)
                endpoint.keys.add(self.headers["api-key"])
                status, headers, body = endpoint.answer(path)
                endpoint.may_answer.wait(30)
                try:
                    self.send_response(status)
                    for name, value in {**headers, "Content-Length": str(len(body))}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:  # nobody waits for it any more
                    self.close_connection = True

            def do_GET(self) -> None:
                self.answer()

            def do_PUT(self) -> None:
                self.answer()

            def do_POST(self) -> None:
                self.answer()

            def do_DELETE(self) -> None:
                self.answer()

            def log_message(self, format: str, *args: object) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def answer(self, path: str) -> Answer:
        """What it says to a request."""
        if path == "/":
            about = {"title": "qdrant - vector search engine", "version": self.version}
            return 200, {}, json.dumps(about).encode()
        results: dict[str, Any] = {"exists": {"exists": True}, "query": {"points": []}, "count": {"count": 0}}
        body = {"result": results.get(path.rpartition("/")[2], _WRITTEN), "status": "ok", "time": 0.001}
        return self.fault or (200, {}, json.dumps(body).encode())

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.may_answer.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
