"""A request with an `Idempotency-Key` is done once: repeated, it is answered as before, also after a restart."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from http import HTTPStatus
from typing import Any, Final

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ebbing.domain.errors import EbbingError, InvalidInputError
from ebbing.interfaces.http.errors import ProblemError
from ebbing.interfaces.http.middleware.auth import Principal
from ebbing.interfaces.http.request_context import NO_ANSWER_KEPT, scope_touched
from ebbing.ports.clock import Clock
from ebbing.ports.stores.request_log import KeptRequest, RequestLog

LEASE: Final = timedelta(seconds=5)
"""How long a request is taken to be under way when whoever answered it has died; renewed while it is.

Shorter than our clients wait for an answer: so one that goes to another replica gets it there.
"""
_KEY: Final = re.compile(rb"[\x21-\x7e]{1,255}")
_CHANGING: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_KEPT_HEADERS: Final = frozenset({b"content-type", b"etag", b"location"})


def is_repeatable(scope: Scope, headers: Mapping[bytes, bytes]) -> bool:
    """Whether this request is to be done once."""
    return b"idempotency-key" in headers and scope["method"] in _CHANGING


def name_of(principal: Principal) -> str:
    """Whose keys these are, as a text that tells nobody who that is."""
    return hashlib.sha256(f"{principal.name}\n{principal.user or ''}".encode("utf-8", "replace")).hexdigest()[:32]


class Replays:
    """Stands before the routes, for requests that name themselves."""

    def __init__(self, app: ASGIApp, *, log: RequestLog, clock: Clock) -> None:
        self._app, self._log, self._clock = app, log, clock

    async def answer(self, scope: Scope, receive: Receive, *, send: Send, key: bytes) -> None:
        """Does the request, or repeats the answer that it had.

        Raises:
            InvalidInputError: a key that is none.
            ProblemError: `idempotency_mismatch`, another request had this key; `idempotency_in_progress`.
        """
        if not _KEY.fullmatch(key):
            raise InvalidInputError("Idempotency-Key must be 1 to 255 visible ASCII characters without spaces")
        body = await _whole(receive)
        if _is_private(body):  # it writes nothing, and may be done as often as it is sent
            await self._app(scope, _again(body), send)
            return
        request = self._request(scope, body, key=key)
        earlier = await self._log.begin(request)
        if earlier is not None:
            await self._repeated(request, earlier)(scope, receive, send)
            return
        scope["state"]["request_name"] = _short_name(request)
        answered = await self._done(scope, body, request=request)
        for message in answered:
            await send(message)

    def _request(self, scope: Scope, body: bytes, *, key: bytes) -> KeptRequest:
        principal: Principal = scope["state"]["principal"]
        digest = hashlib.sha256(f"{scope['method']} {scope['path']}?".encode("utf-8", "replace"))
        digest.update(scope["query_string"] + b"\n" + body)
        now = self._clock.now()
        return KeptRequest(principal.tenant, name_of(principal), key.decode(), digest.hexdigest(), now, now + LEASE)

    def _repeated(self, request: KeptRequest, earlier: KeptRequest) -> Response:
        if earlier.digest != request.digest:
            raise ProblemError("idempotency_mismatch", "this Idempotency-Key was used for another request")
        if earlier.status is None or earlier.answer is None:
            seconds = max(1, round((earlier.leased_until - request.begun_at).total_seconds()))
            raise ProblemError(
                "idempotency_in_progress",
                "the first request with this Idempotency-Key is not answered yet",
                headers={"Retry-After": str(seconds)},
            )
        headers, body = json.loads(earlier.answer)
        return Response(body, earlier.status, {**headers, "Idempotency-Replayed": "true"})

    async def _done(self, scope: Scope, body: bytes, *, request: KeptRequest) -> list[Message]:
        """The answer, when it is noted; one that says no is not, so that the request may be mended and repeated.

        Nor is one that tells what is off the record: repeated, such a request is done again.
        """
        answered: list[Message] = []

        async def keep(message: Message) -> None:
            answered.append(message)

        renewing = asyncio.create_task(self._renew(request))
        try:
            await self._app(scope, _again(body), keep)
        except BaseException:
            await self._log.drop(request)
            raise
        finally:
            renewing.cancel()
        status: int = answered[0]["status"]
        if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES and NO_ANSWER_KEPT not in scope["state"]:
            owner = scope_touched(scope["state"])
            await self._log.finish(request, status=status, answer=_text_of(answered), belongs_to=owner)
        else:
            await self._log.drop(request)
        return answered

    async def _renew(self, request: KeptRequest) -> None:
        while True:
            await asyncio.sleep(LEASE.total_seconds() / 3)
            with suppress(EbbingError):  # it is tried again, and what it guards is safe to be done twice
                await self._log.renew(request, until=self._clock.now() + LEASE)


def _is_private(body: bytes) -> bool:
    """Whether a request says of itself that nothing of it is to be written."""
    if b'"private"' not in body:
        return False
    try:
        fields = json.loads(body)
    except ValueError:
        return False
    return isinstance(fields, dict) and fields.get("private") is True


def _short_name(request: KeptRequest) -> str:
    """The same for the same request, another for any other."""
    return hashlib.sha256(f"{request.caller} {request.key} {request.digest}".encode()).hexdigest()[:32]


async def _whole(receive: Receive) -> bytes:
    body = b""
    while True:
        message = await receive()
        body += bytes(message.get("body", b""))
        if not message.get("more_body"):
            return body


def _again(body: bytes) -> Receive:
    sent = False

    async def receive() -> Message:
        nonlocal sent
        if sent:
            await asyncio.Event().wait()  # the client stays as long as it takes
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


def _text_of(answered: list[Message]) -> str:
    start, *parts = answered
    headers: dict[str, Any] = {
        name.decode("latin-1"): value.decode("latin-1") for name, value in start["headers"] if name in _KEPT_HEADERS
    }
    return json.dumps([headers, b"".join(part.get("body", b"") for part in parts).decode("utf-8")], ensure_ascii=False)
