"""The outermost layer: each request gets its id, is timed, counted and logged, as a step of its trace.

It leaves in the request's state what the layers within need: `headers` by name, `request_id`, `trace`, and the `status`
of the answer as soon as there is one.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from datetime import datetime
from functools import partial
from time import perf_counter
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ebbing.interfaces.http.auth import Principal
from ebbing.interfaces.http.response_writer import whole_of
from ebbing.observe.logs import TextLines, hashed, lines_of
from ebbing.observe.trace import HEADER, Trace, continued
from ebbing.ports.clock import Clock
from ebbing.ports.ids import Ids

UNKNOWN: Final = "(no route)"
"""Stands for every path that no route has, so that strangers cannot make up labels."""
_QUIET: Final = frozenset({"/healthz", "/health", "/readyz", "/metrics"})
_HEADER: Final = HEADER.encode()
_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_LINES_SECONDS: Final = 0.05
"""How long it holds where the log goes."""
_SAID: Final = "%s %s %d"
_log: Final = logging.getLogger("ebbing.access")


class Observed:
    """Wraps the application."""

    def __init__(self, app: ASGIApp, *, meter: Any, clock: Clock, ids: Ids, key: bytes) -> None:
        self._app, self._clock, self._ids, self._key = app, clock, ids, key
        self._requested: Callable[..., None] | None = getattr(meter, "requested", None)
        self._common = vars(logging.LogRecord(_log.name, logging.INFO, __file__, 0, _SAID, None, None))
        """What all lines have in common."""
        self._lines, self._lines_until = lines_of(_log), 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request, and tells of it."""
        fresh = self._ids.new()
        state = scope.setdefault("state", {})
        state["headers"] = headers = dict(scope["headers"])
        given = headers.get(b"x-request-id")
        state["request_id"] = given.decode() if given and _REQUEST_ID.fullmatch(given) else fresh
        asked = headers.get(_HEADER, b"").decode("latin-1")
        state["trace"] = continued(asked, random_hex=fresh.replace("-", ""))
        began = perf_counter()
        try:
            await self._app(scope, receive, _Answering(send, state))
        finally:
            self._tell(scope, status=state.get("status", 500), seconds=perf_counter() - began)

    def _tell(self, scope: Scope, *, status: int, seconds: float) -> None:
        route = _route(scope)
        if self._requested is not None:
            self._requested(scope["method"], route, status=status, seconds=seconds)
        if route in _QUIET or not _log.isEnabledFor(logging.INFO):
            return
        said, at, now = (scope["method"], route, status), self._clock.now(), perf_counter()
        if now > self._lines_until:
            self._lines, self._lines_until = lines_of(_log), now + _LINES_SECONDS
        lines = self._lines
        if lines is not None and type(lines.formatter) is TextLines:  # a subclass may tell more
            lines.later(partial(_text, lines.formatter, said, at=at))
            return
        state = scope["state"]
        make = partial(
            self._line,
            said,
            at=at,
            seconds=seconds,
            request_id=state["request_id"],
            trace=state["trace"],
            principal=state.get("principal"),
        )
        if lines is None:
            _log.handle(make())
        else:
            lines.later(make)

    def _line(
        self,
        said: tuple[str, str, int],
        *,
        at: datetime,
        seconds: float,
        request_id: str,
        trace: Trace,
        principal: Principal | None,
    ) -> logging.LogRecord:
        """What is told of a request: `said` is its method, its route and the status of its answer."""
        common, now = self._common, at.timestamp()
        # Not by `_log.info`, nor by making a record: finding out where the call stands, and in which thread, costs more
        # than all the rest.
        line = logging.LogRecord.__new__(logging.LogRecord)
        line.__dict__ = {
            **common,
            "args": said,
            "created": now,
            "msecs": now % 1 * 1_000,
            "relativeCreated": common["relativeCreated"] + (now - common["created"]) * 1_000,
            "request_id": request_id,
            "trace_id": trace.trace_id,
            "span_id": trace.span_id,
            "method": said[0],
            "route": said[1],
            "status": said[2],
            "ms": round(1_000 * seconds, 2),
            "tenant": principal.tenant if principal else None,
            "who": principal.name if principal else None,
            "user": hashed(principal.user, key=self._key) if principal else None,
        }
        return line


def _text(formatter: TextLines, said: tuple[str, str, int], *, at: datetime) -> str:
    """The line that the formatter would make of the record."""
    now = at.timestamp()
    return formatter.line(f"INFO {_log.name}: {_SAID % said}", created=now, msecs=now % 1 * 1_000)


class _Answering:
    """Sends on, with what names the request and its trace beside the headers, and notes the status."""

    __slots__ = ("_send", "_state")

    def __init__(self, send: Send, state: dict[str, Any]) -> None:
        self._send, self._state = send, state

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            state = self._state
            state["status"] = message["status"]
            added = ((b"x-request-id", state["request_id"].encode()), (_HEADER, state["trace"].header.encode()))
            message["headers"] = [*message.get("headers", ()), *added]
        await self._send(message)

    def whole(self, status: int, headers: bytes, *, body: bytes) -> bool:
        """See `Whole`."""
        write, state = whole_of(self._send), self._state
        if write is None:
            return False
        told = f"x-request-id: {state['request_id']}\r\ntraceparent: {state['trace'].header}\r\n"
        if not write(status, headers + told.encode(), body=body):
            return False
        state["status"] = status
        return True


def _route(scope: Scope) -> str:
    """The pattern of the path, never the path: that may name a person."""
    path = getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) else UNKNOWN
