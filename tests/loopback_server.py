"""An HTTP server on this machine, in a thread of its own, that tests let misbehave."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self


class QuietHandler(BaseHTTPRequestHandler):
    """Reads bodies, and writes answers for whoever still waits for one."""

    protocol_version = "HTTP/1.1"

    def respond(self) -> None:
        """Answer the request, whatever its method."""
        raise NotImplementedError

    def do_GET(self) -> None:
        self.respond()

    def do_PUT(self) -> None:
        self.respond()

    def do_POST(self) -> None:
        self.respond()

    def do_DELETE(self) -> None:
        self.respond()

    def read(self) -> bytes:
        """Return the body of the request."""
        return self.rfile.read(int(self.headers["Content-Length"] or 0))

    def write(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Send an answer."""
        try:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
        except OSError:  # nobody waits for it any more
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


class LoopbackServer:
    """Serves from `with` on until the end of it; `released` is what a hanging answer waits for."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        self.released = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"

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
