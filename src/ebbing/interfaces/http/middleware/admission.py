"""What every request passes before a route sees it: its size, its place among others, and who sends it."""

from __future__ import annotations

import re
from functools import lru_cache
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ebbing.interfaces.http.chat_proxy.paths import PROXY_PATHS
from ebbing.interfaces.http.errors import RETRY_SECONDS, ProblemError, problem_of, report
from ebbing.interfaces.http.mcp_path import PATH as MCP_PATH
from ebbing.interfaces.http.middleware.auth import Doorkeeper, Headers, Principal, listed
from ebbing.interfaces.http.middleware.idempotency import Replays, is_repeatable
from ebbing.interfaces.http.routes.pages.console import ASSETS
from ebbing.interfaces.http.routes.pages.console import FILES as CONSOLE
from ebbing.interfaces.http.routes.pages.reference import FILES as REFERENCE
from ebbing.interfaces.http.schema.operations import split_by_literal_slashes
from ebbing.wiring.build import Components
from ebbing.wiring.config.settings import Settings

PUBLIC: Final = frozenset({"/", "/healthz", "/health", "/readyz", "/openapi.json", *REFERENCE, *CONSOLE})
"""Paths that ask for no credential and tell nothing of anybody."""
STREAMED: Final = frozenset({"/v1/import"})
"""Paths whose body is read as it comes, and may be larger."""
UNREPEATED: Final = PUBLIC | STREAMED | PROXY_PATHS
"""Paths whose answers are not kept for a repetition; a chat goes by as it comes."""
_ASYNC: Final = re.compile(rb"(?i)(?:^|[,;\s])respond-async(?:$|[,;\s])")
_LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_JSON: Final = b"application/json"
_FORMS: Final = frozenset({b"", b"application/x-www-form-urlencoded", b"text/plain"})
"""What curl and others call a body unless they are told: no route takes forms, so JSON is meant."""
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})


class Gate:
    """The last to catch what went wrong."""

    def __init__(self, app: ASGIApp, *, settings: Settings, doorkeeper: Doorkeeper, components: Components) -> None:
        self._app, self._doorkeeper = app, doorkeeper
        self._works = settings.worker
        self._replays = Replays(app, log=components.store.requests, clock=components.clock)
        self._per_minute = settings.http_rate_per_minute
        self._rates = components.rates
        self._most_bytes = settings.http_max_body_kib * 1_024
        self._most_import_bytes = settings.http_max_import_mib * 2**20
        self._most_chat_bytes = settings.proxy_max_body_mib * 2**20
        self._most_at_once = settings.http_concurrency
        self._under_way = 0
        self._hosts = _LOOPBACK_NAMES | {name.lower() for name in listed(settings.http_allowed_hosts)}
        self._origins = frozenset(listed(settings.http_cors_origins))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request, or hands it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = scope["state"]
        self._under_way += 1
        try:
            await self._pass(scope, receive, send=send, headers=state["headers"])
        except Exception as error:  # the last door: whatever went wrong becomes an answer
            problem = problem_of(error)
            if problem.status == HTTPStatus.INTERNAL_SERVER_ERROR:
                report(error, state["request_id"])
            if "status" not in state:
                answer = problem.response(scope["path"], request_id=state["request_id"])
                await answer(scope, receive, send)
        finally:
            self._under_way -= 1

    async def _pass(self, scope: Scope, receive: Receive, *, send: Send, headers: Headers) -> None:
        if self._under_way > self._most_at_once:
            raise ProblemError("overloaded", "too many requests at once", headers={"Retry-After": str(RETRY_SECONDS)})
        split_by_literal_slashes(scope)
        host = _host_name(headers.get(b"host", b""))
        path: str = scope["path"]
        most = self._most_of(path)
        if path not in PUBLIC and not path.startswith(ASSETS):
            await self._identify(scope, headers, host=host)
            if self._per_minute:
                await self._take(scope["state"]["principal"])
            if self._works and b"prefer" in headers:
                scope["state"]["may_wait"] = _ASYNC.search(headers[b"prefer"]) is not None
        kind = headers.get(b"content-type", b"")
        if kind != _JSON and kind.partition(b";")[0].strip().lower() in _FORMS:
            others = [(name, value) for name, value in scope["headers"] if name != b"content-type"]
            scope["headers"] = [*others, (b"content-type", _JSON)]
        body = limited(receive, headers, most=most)
        if path not in UNREPEATED and is_repeatable(scope, headers):
            await self._replays.answer(scope, body, send=send, key=headers[b"idempotency-key"])
        else:
            await self._app(scope, body, send)

    def _most_of(self, path: str) -> int:
        """Return how many bytes a body may have."""
        if path in STREAMED:
            return self._most_import_bytes
        return self._most_chat_bytes if path in PROXY_PATHS else self._most_bytes

    async def _take(self, principal: Principal) -> None:
        seconds = await self._rates.take(principal.tenant, f"{principal.name}\n{principal.user}")
        if seconds:
            raise ProblemError(
                "rate_limited",
                f"more than {self._per_minute:,} requests a minute",
                headers={"Retry-After": str(seconds)},
            )

    async def _identify(self, scope: Scope, headers: Headers, *, host: str | None) -> None:
        peer = scope.get("client")
        principal = await self._doorkeeper.principal(headers, peer=peer[0] if peer else None)
        if principal is self._doorkeeper.anybody:
            self._refuse_strangers(scope, headers, host=host)
        elif scope["path"] == MCP_PATH:  # the protocol wants it whatever the credential
            self._refuse_foreign_page(headers)
        scope["state"]["principal"] = principal

    def _refuse_strangers(self, scope: Scope, headers: Headers, *, host: str | None) -> None:
        """While anybody on this machine may call, a web page in their browser may not: neither under a name of its own
        that leads here (DNS rebinding), nor by a form."""
        if host is not None and host not in self._hosts:
            raise ProblemError("unknown_host", "a service without auth answers only to names of this machine")
        if scope["method"] not in _SAFE or scope["path"] == MCP_PATH:
            self._refuse_foreign_page(headers)

    def _refuse_foreign_page(self, headers: Headers) -> None:
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin and origin not in self._origins and not _same(origin, headers):
            raise ProblemError("unknown_origin", "pages of this origin may not call this service")


def limited(receive: Receive, headers: Headers, *, most: int) -> Receive:
    """The body as it comes, up to `most` bytes; more is refused as soon as that is known.

    Raises:
        ProblemError: `too_large`.
    """
    length_header = headers.get(b"content-length", b"")
    if length_header.isdigit():
        if int(length_header) > most:
            raise _too_large(most)
        if b"transfer-encoding" not in headers:
            return receive  # the server lets no more through than was told
    seen = 0

    async def body() -> Message:
        nonlocal seen
        message: dict[str, Any] = dict(await receive())
        seen += len(message.get("body", b""))
        if seen > most:
            raise _too_large(most)
        return message

    return body


@lru_cache(maxsize=256)
def _host_name(header: bytes) -> str | None:
    """Return the name in a `Host` header, which may hold a port too.

    Raises:
        ProblemError: `invalid_input`, the header cannot be read.
    """
    try:
        return urlsplit(f"//{header.decode('latin-1')}").hostname
    except ValueError:
        raise ProblemError("invalid_input", "the header Host holds no name and no address") from None


def _too_large(most: int) -> ProblemError:
    return ProblemError("too_large", f"the body is larger than {most:,} bytes", headers={"Connection": "close"})


def _same(origin: str, headers: Headers) -> bool:
    """Whether a page that this service served calls it."""
    try:
        return urlsplit(origin).netloc == headers.get(b"host", b"").decode("latin-1")
    except ValueError:
        return False
