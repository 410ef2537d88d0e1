"""An answer of the endpoint on its way to the client, as it arrives."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ebbing.domain.errors import ServerUnavailableError
from ebbing.interfaces.http.chat_proxy.answer_text import AnswerReader
from ebbing.interfaces.http.errors import ProblemError
from ebbing.ports.models.chat_endpoint import ChatEndpoint, HeaderList

_OF_CONNECTION: Final = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
"""What is about one connection, and not about what goes through it."""
_OF_MESSAGE: Final = frozenset({b"content-length", b"content-type"})
"""What a message cannot do without, whatever `Connection` says."""
_WHERE_FROM: Final = frozenset(
    {
        b"cf-connecting-ip",
        b"client-ip",
        b"fastly-client-ip",
        b"forwarded",
        b"origin",
        b"referer",
        b"true-client-ip",
        b"via",
        b"x-client-ip",
        b"x-cluster-client-ip",
        b"x-original-forwarded-for",
        b"x-real-ip",
    }
)
"""What tells from where the caller came: the endpoint is asked by this service."""
_NOT_SENT: Final = (
    _OF_CONNECTION
    | _WHERE_FROM
    | {
        b"accept-encoding",
        b"authorization",
        b"content-length",
        b"cookie",
        b"expect",
        b"host",
        b"x-api-key",
    }
)
_AZURE_KEY: Final = b"api-key"
"""Where Azure looks for a key. A host that sends one there has an endpoint that reads it there."""
_OURS: Final = (b"x-ebbing-", b"x-openwebui-", b"x-forwarded-")
_NOT_RETURNED: Final = _OF_CONNECTION | {b"alt-svc", b"date", b"set-cookie", b"strict-transport-security"}
_NOT_OF_ENDPOINT: Final = (b"access-control-", b"x-ebbing-")
"""What this service says for itself: to pages of other origins, and of its memory."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request for the endpoint."""

    method: str
    path: str
    """Behind the base URL, with the query."""
    headers: HeaderList
    body: bytes = b""


@dataclass(slots=True)
class Passage:
    """What went by."""

    status: int = 0
    is_readable: bool = True
    reader: AnswerReader = field(default_factory=AnswerReader)

    def add(self, chunk: bytes) -> None:
        """Read a piece of the answer, unless it is compressed."""
        if self.is_readable:
            self.reader.feed(chunk)


def request_headers(
    headers: HeaderList, *, key: str | None, passes_credential: bool, private: frozenset[bytes] = frozenset()
) -> HeaderList:
    """Return the headers for the endpoint: the client's, without its credential for us and what is about a connection.

    Args:
        key: of the endpoint.
        passes_credential: without a key, the client's own credential is for the endpoint.
        private: names, in lower case, of more headers that are for us alone.
    """
    ours = private | _nominated(headers) | ({_AZURE_KEY} if key is not None else set())
    sent = _without(headers, _NOT_SENT | ours, prefix=_OURS)
    if key is not None:
        sent.append((b"authorization", f"Bearer {key}".encode()))
        if any(name.lower() == _AZURE_KEY for name, _ in headers):
            sent.append((_AZURE_KEY, key.encode()))
    elif passes_credential:
        sent += [(name, value) for name, value in headers if name.lower() == b"authorization"]
    # What is compressed could not be read on its way, nor be passed on as it comes.
    return [*sent, (b"accept-encoding", b"identity")]


def returned_headers(headers: HeaderList) -> HeaderList:
    """Return the headers for the client: the endpoint's, without what is about its connection and its origin."""
    return _without(headers, _NOT_RETURNED | _nominated(headers), prefix=_NOT_OF_ENDPOINT)


def _without(
    headers: HeaderList, names: frozenset[bytes], *, prefix: bytes | tuple[bytes, ...]
) -> list[tuple[bytes, bytes]]:
    left: list[tuple[bytes, bytes]] = []
    for name, value in headers:
        if name.lower() not in names and not name.lower().startswith(prefix):
            left.append((name, value))
    return left


def _nominated(headers: HeaderList) -> frozenset[bytes]:
    """Return the headers that `Connection` names as being about this connection alone."""
    names: set[bytes] = set()
    for name, value in headers:
        if name.lower() == b"connection":
            names.update(part.strip().lower() for part in value.split(b","))
    return frozenset(names - _OF_MESSAGE - {b""})


class Relay(Response):
    """Passes a request on, and its answer back byte by byte. When the client goes away, the endpoint is let go.

    Args:
        added: headers beside those of the endpoint.
        ended: called with what went by, once, whatever became of it.
    """

    def __init__(
        self,
        endpoint: ChatEndpoint,
        request: Outgoing,
        *,
        added: HeaderList = (),
        ended: Callable[[Passage], None] = lambda _: None,
    ) -> None:
        super().__init__()
        self._endpoint, self._request = endpoint, request
        self._added, self._ended = list(added), ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - as ASGI calls it
        """Answer a request."""
        passage = Passage()
        relaying = asyncio.create_task(self._relay(passage, send))
        leaving = asyncio.create_task(_until_gone(receive))
        try:
            await asyncio.wait({relaying, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
            relaying.cancel()
            await asyncio.gather(relaying, leaving, return_exceptions=True)
            self._ended(passage)
        if not relaying.cancelled():
            relaying.result()

    async def _relay(self, passage: Passage, send: Send) -> None:
        request = self._request
        try:
            async with self._endpoint.send(
                request.method, request.path, headers=request.headers, body=request.body
            ) as answer:
                passage.status = answer.status
                passage.is_readable = not _is_encoded(answer.headers)
                headers = returned_headers(answer.headers)
                start = {"type": "http.response.start", "status": answer.status, "headers": [*headers, *self._added]}
                await send(start)
                async with aclosing(answer.chunks) as chunks:
                    async for chunk in chunks:
                        passage.add(chunk)
                        await send({"type": "http.response.body", "body": chunk, "more_body": True})
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        except ServerUnavailableError as error:
            if passage.status:
                raise  # the client has the beginning: it sees the connection end, as it would see the endpoint's
            raise ProblemError("endpoint_unavailable", str(error)) from error


def _is_encoded(headers: HeaderList) -> bool:
    return any(name.lower() == b"content-encoding" and value.lower() != b"identity" for name, value in headers)


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
