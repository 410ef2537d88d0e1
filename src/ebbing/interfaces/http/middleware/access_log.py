"""The outermost layer: each request gets its id, is timed, counted and logged, as a step of its trace.

It leaves in the request's state what the layers within need: `headers` by name, `request_id`, `trace`, and the `status`
of the answer as soon as there is one.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from time import perf_counter
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ebbing.observe.logs import hashed
from ebbing.observe.trace import HEADER, continued
from ebbing.ports.ids import Ids

UNKNOWN: Final = "(no route)"
"""Stands for every path that no route has, so that strangers cannot make up labels."""
_QUIET: Final = frozenset({"/healthz", "/health", "/readyz", "/metrics"})
_HEADER: Final = HEADER.encode()
_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_log: Final = logging.getLogger("ebbing.access")


class Observed:
    """Wraps the application."""

    def __init__(self, app: ASGIApp, *, meter: Any, ids: Ids, key: bytes) -> None:
        self._app, self._ids, self._key = app, ids, key
        self._count_request: Callable[..., None] | None = getattr(meter, "requested", None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, then count and log it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        fresh = self._ids.new()
        state = scope.setdefault("state", {})
        state["headers"] = headers = dict(scope["headers"])
        request_id = headers.get(b"x-request-id")
        state["request_id"] = request_id.decode() if request_id and _REQUEST_ID.fullmatch(request_id) else fresh
        traceparent = headers.get(_HEADER, b"").decode("latin-1")
        state["trace"] = continued(traceparent, random_hex=fresh.replace("-", ""))
        began = perf_counter()
        try:
            await self._app(scope, receive, _with_request_id(send, state))
        finally:
            self._log(scope, seconds=perf_counter() - began)

    def _log(self, scope: Scope, *, seconds: float) -> None:
        state, route = scope["state"], _route(scope)
        status = state.get("status", 500)
        if self._count_request is not None:
            self._count_request(scope["method"], route, status=status, seconds=seconds)
        if route in _QUIET or not _log.isEnabledFor(logging.INFO):
            return
        principal = state.get("principal")
        fields = {
            "request_id": state["request_id"],
            "trace_id": state["trace"].trace_id,
            "span_id": state["trace"].span_id,
            "method": scope["method"],
            "route": route,
            "status": status,
            "ms": round(1_000 * seconds, 2),
            "tenant": principal.tenant if principal else None,
            "who": principal.name if principal else None,
            "user": hashed(principal.user, key=self._key) if principal else None,
        }
        _log.info("%s %s %d", scope["method"], route, status, extra=fields)


def _with_request_id(send: Send, state: dict[str, Any]) -> Send:
    """Return a `send` that adds the headers of the request's id and trace, and notes the status."""

    async def send_on(message: Message) -> None:
        if message["type"] == "http.response.start":
            state["status"] = message["status"]
            headers = list(message.get("headers", ()))
            if all(name != b"x-request-id" for name, _ in headers):  # a model's endpoint has named it already
                headers.append((b"x-request-id", state["request_id"].encode()))
            message["headers"] = [*headers, (_HEADER, state["trace"].header.encode())]
        await send(message)

    return send_on


def _route(scope: Scope) -> str:
    """The pattern of the path, never the path: that may name a person."""
    path = getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) else UNKNOWN
