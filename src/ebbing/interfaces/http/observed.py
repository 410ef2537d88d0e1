"""The outermost layer: each request is timed, counted and logged, as a step of its trace."""

from __future__ import annotations

import logging
from time import perf_counter
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ebbing.interfaces.http.auth import Principal
from ebbing.observe.logs import hashed
from ebbing.observe.trace import HEADER, continued
from ebbing.ports.ids import Ids

UNKNOWN: Final = "(no route)"
"""Stands for every path that no route has, so that strangers cannot make up labels."""
_QUIET: Final = frozenset({"/healthz", "/health", "/readyz", "/metrics"})
_log: Final = logging.getLogger("ebbing.access")


class Observed:
    """Wraps the application."""

    def __init__(self, app: ASGIApp, *, meter: Any, ids: Ids, key: bytes) -> None:
        self._app, self._meter, self._ids, self._key = app, meter, ids, key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request, and tells of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        asked = dict(scope["headers"]).get(HEADER.encode(), b"").decode("latin-1")
        state["trace"] = trace = continued(asked, random_hex=(self._ids.new() + self._ids.new()).replace("-", ""))
        status, began = 500, perf_counter()

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (HEADER.encode(), trace.header.encode())]
            await send(message)

        try:
            await self._app(scope, receive, answer)
        finally:
            self._tell(scope, status=status, seconds=perf_counter() - began)

    def _tell(self, scope: Scope, *, status: int, seconds: float) -> None:
        route = _route(scope)
        if hasattr(self._meter, "requested"):
            self._meter.requested(scope["method"], route, status=status, seconds=seconds)
        if route in _QUIET or not _log.isEnabledFor(logging.INFO):
            return
        state = scope["state"]
        principal: Principal | None = state.get("principal")
        about = {
            "request_id": state.get("request_id"),
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
        _log.info("%s %s %d", about["method"], route, status, extra=about)


def _route(scope: Scope) -> str:
    """The pattern of the path, never the path: that may name a person."""
    route = scope.get("route")
    path = getattr(route, "path", None)
    if isinstance(path, str):
        return path
    straight = scope.get("path") if "endpoint" in scope else None
    return straight if isinstance(straight, str) and not scope.get("path_params") else UNKNOWN
