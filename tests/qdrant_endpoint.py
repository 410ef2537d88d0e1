"""An HTTP server on this machine that answers as Qdrant does, and refuses when told to: no Qdrant can be had here."""

from __future__ import annotations

import json
from typing import Any, Final

from tests.loopback_server import LoopbackServer, QuietHandler

Answer = tuple[int, dict[str, str], bytes]
"""A status, headers and a body."""
_WRITTEN: Final = {"operation_id": 1, "status": "completed"}


def refusal(status: int, words: str, *, headers: dict[str, str] | None = None) -> Answer:
    """What Qdrant answers when it cannot or will not do something."""
    return status, headers or {}, json.dumps({"status": {"error": words}, "time": 0.001}).encode()


class QdrantEndpoint(LoopbackServer):
    """A Qdrant that has every collection, and no point in any.

    `fault` is the answer to everything but the question for its version, until it is taken away; `paths` and `keys` are
    what came in.
    """

    def __init__(self, version: str = "1.12.4") -> None:
        self.version = version
        self.fault: Answer | None = None
        self.paths: list[str] = []
        self.keys: set[str | None] = set()
        endpoint = self

        class Handler(QuietHandler):
            def respond(self) -> None:
                self.read()
                path = self.path.partition("?")[0]
                endpoint.paths.append(path)
                endpoint.keys.add(self.headers["api-key"])
                status, headers, body = endpoint.answer(path)
                endpoint.released.wait(30)
                self.write(status, headers, body)

        super().__init__(Handler)
        self.released.set()
        self.url = self.address

    def answer(self, path: str) -> Answer:
        """What it says to a request."""
        if path == "/":
            about = {"title": "qdrant - vector search engine", "version": self.version}
            return 200, {}, json.dumps(about).encode()
        results: dict[str, Any] = {"exists": {"exists": True}, "query": {"points": []}, "count": {"count": 0}}
        body = {"result": results.get(path.rpartition("/")[2], _WRITTEN), "status": "ok", "time": 0.001}
        return self.fault or (200, {}, json.dumps(body).encode())
