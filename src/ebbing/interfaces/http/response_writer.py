"""Answers that leave in one piece.

uvicorn takes the head and the body of an answer in a message each, looks at every header, and writes both apart, which
is two calls of the system. What is written in one turn of the loop is joined here. Most answers of this service are
there as a whole, with headers that it wrote itself: they pass without messages.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, Protocol

from starlette.types import Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

_MOST: Final = 65_536
"""Bytes that wait for the end of a turn, at most: behind a stream its reader must be able to hold it back."""
_last: list[tuple[object, bytes]] = [(None, b"")]
"""The headers that all answers have, which uvicorn makes anew every second, and their lines."""


class Whole(Protocol):
    """Sends an answer without messages."""

    def __call__(self, status: int, headers: bytes, *, body: bytes) -> bool:
        """Whether it could; if not, nothing was sent.

        Args:
            headers: each with the end of its line, `content-length` among them.
        """
        ...


def whole_of(send: Send) -> Whole | None:
    """How whoever is behind `send` takes an answer without messages; None where they take messages alone.

    Who stands between and wants to see the messages hands on a function of his own, which has no such way.
    """
    found: Whole | None = getattr(getattr(send, "__self__", send), "whole", None)
    return found


class JoiningProtocol(HttpToolsProtocol):
    """uvicorn's, with what it writes in one turn of the loop joined."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Called by the loop."""
        super().connection_made(Joining(transport))  # type: ignore[arg-type]  # it does what a transport does

    _idle_since: float | None = None
    """When the last answer was written; None while one is waited for."""
    _is_watched = False
    """Whether a timer runs that looks how long the connection has been idle."""

    def on_response_complete(self) -> None:
        """As uvicorn's, which sets a timer at every answer and stops it at the next request: here one looks again."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            cycle, app = self.pipeline.pop()
            self._start_asgi_task(cycle, app)
            return
        self._idle_since = self.loop.time()
        if not self._is_watched:
            self._is_watched = True
            self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)

    def timeout_keep_alive_handler(self) -> None:
        """Closes a connection on which nothing came for long."""
        self._is_watched = False
        if self._idle_since is None or self.transport.is_closing():
            return
        left = self._idle_since + self.timeout_keep_alive - self.loop.time()
        if left <= 0:
            self.transport.close()
        else:
            self._is_watched = True
            self.loop.call_later(left, self.timeout_keep_alive_handler)

    def _unset_keepalive_if_required(self) -> None:
        self._idle_since = None

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Callable[..., Any]) -> None:
        cycle.__class__ = WholeCycle  # uvicorn has made it, of a class that it calls by name
        super()._start_asgi_task(cycle, app)


class WholeCycle(RequestResponseCycle):
    """uvicorn's request and answer, which takes the answer without messages as well."""

    def whole(self, status: int, headers: bytes, *, body: bytes) -> bool:
        """See `Whole`."""
        is_usual = self.keep_alive and not (self.response_started or self.disconnected or self.flow.write_paused)
        if not is_usual or self.scope["method"] == "HEAD":
            return False
        self.response_started = self.response_complete = True
        self.waiting_for_100_continue = False
        self.transport.write(b"%b%b%b\r\n%b" % (STATUS_LINE[status], _lines(self.default_headers), headers, body))
        self.message_event.set()
        self.on_response()
        return True


def _lines(headers: list[tuple[bytes, bytes]]) -> bytes:
    known, lines = _last[0]
    if known is not headers:
        lines = b"".join([b"%b: %b\r\n" % header for header in headers])
        _last[0] = (headers, lines)
    return lines


class Joining:
    """A transport that hands on what is written to it at the end of the loop's turn."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._soon = asyncio.get_running_loop().call_soon
        self._waiting: list[bytes] = []
        self._size = 0
        self.is_closing = transport.is_closing
        """The transport's: it is asked at every answer."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Writes it with all else of this turn."""
        if not self._waiting:
            self._soon(self._hand_on)
        self._waiting.append(data)
        self._size += len(data)
        if self._size > _MOST:
            self._hand_on()

    def close(self) -> None:
        """Closes when everything is written."""
        self._hand_on()
        self._transport.close()

    def _hand_on(self) -> None:
        if self._waiting:
            waiting, self._waiting, self._size = self._waiting, [], 0
            self._transport.write(b"".join(waiting))
