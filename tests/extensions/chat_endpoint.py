"""An OpenAI-compatible chat endpoint that follows a script: each answer is numbered, and every request is kept."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "scripted"
REWRITING = "one search query"
"""Words of the prompt by which the extension asks for a rewritten question."""


class ChatEndpoint(ThreadingHTTPServer):
    """The server. `requests` holds what was sent, in order; `rewritten` is the answer to a question to be rewritten."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[dict[str, Any]] = []
        self.rewritten = ""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def answer(self, request: dict[str, Any]) -> str:
        """Return the next answer of the script."""
        self.requests.append(request)
        prompt = "\n".join(str(message["content"]) for message in request["messages"])
        return self.rewritten if REWRITING in prompt else f"Answer number {len(self.requests)}."


class _Handler(BaseHTTPRequestHandler):
    server: ChatEndpoint

    def do_GET(self) -> None:
        self._send("application/json", json.dumps({"object": "list", "data": [{"id": MODEL, "object": "model"}]}))

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        words = self.server.answer(request)
        if request.get("stream"):
            chunk = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": words}}]}
            self._send("text/event-stream", f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n")
        else:
            choice = {"index": 0, "message": {"role": "assistant", "content": words}, "finish_reason": "stop"}
            self._send("application/json", json.dumps({"model": MODEL, "choices": [choice]}))

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def _send(self, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def chat_endpoint() -> Iterator[ChatEndpoint]:
    """Serve the script."""
    server = ChatEndpoint()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
