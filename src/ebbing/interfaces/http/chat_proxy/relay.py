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
from ebbing.interfaces.http.chat_proxy.answer_text import MAX_ANSWER_BYTES
from ebbing.interfaces.http.errors import ProblemError
from ebbing.ports.chat_endpoint import ChatEndpoint, HeaderList

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
_NOT_SENT: Final = _OF_CONNECTION | {
    b"accept-encoding",
    b"authorization",
    b"content-length",
    b"cookie",
    b"expect",
    b"forwarded",
    b"host",
    b"origin",
    b"referer",
    b"via",
    b"x-api-key",
    b"x-real-ip",
}
"""Also what tells who the caller is, and from where: the endpoint is asked by this service."""
_OURS: Final = (b"x-ebbing-", b"x-openwebui-", b"x-forwarded-")
_NOT_RETURNED: Final = _OF_CONNECTION | {b"alt-svc", b"date", b"set-cookie", b"strict-transport-security"}
_OF_ORIGIN: Final = b"access-control-"
"""What the endpoint says to pages of its own origin, and this service says for itself."""


@dataclass(slots=True)
class Passage:
    """What went by."""

    status: int = 0
    is_whole: bool = False
    """The answer came to its end."""
    is_readable: bool = True
    chunks: list[bytes] = field(default_factory=list)
    size: int = 0

    def add(self, chunk: bytes) -> None:
        """Hold a piece of the answer, unless it is too much in all."""
        self.size += len(chunk)
        if self.size > MAX_ANSWER_BYTES:
            self.chunks.clear()
        elif self.is_readable:
            self.chunks.append(chunk)

    @property
    def body(self) -> bytes:
        """The answer as far as it came; empty where it cannot be read."""
        return b"".join(self.chunks) if self.size <= MAX_ANSWER_BYTES else b""


def request_headers(
    headers: HeaderList, *, key: str | None, passes_credential: bool, private: frozenset[bytes] = frozenset()
) -> HeaderList:
    """Return the headers for the endpoint: the client's, without its credential for us and what is about a connection.

    Args:
        key: of the endpoint.
        passes_credential: without a key, the client's own credential is for the endpoint.
        private: names, in lower case, of more headers that are for us alone.
    """
    sent = [
        (name, value)
        for name, value in headers
        if name.lower() not in _NOT_SENT | private and not name.lower().startswith(_OURS)
    ]
    if key is not None:
        sent.append((b"authorization", f"Bearer {key}".encode()))
    elif passes_credential:
        sent += [(name, value) for name, value in headers if name.lower() == b"authorization"]
    # What is compressed could not be read on its way, nor be passed on as it comes.
    return [*sent, (b"accept-encoding", b"identity")]


def returned_headers(headers: HeaderList) -> HeaderList:
    """Return the headers for the client: the endpoint's, without what is about its connection and its origin."""
    return [
        (name, value)
        for name, value in headers
        if name.lower() not in _NOT_RETURNED and not name.lower().startswith(_OF_ORIGIN)
    ]


class Relay(Response):
    """Passes a request on, and its answer back byte by byte. When the client goes away, the endpoint is let go.

    Args:
        added: headers beside those of the endpoint.
        ended: told what went by, once, whatever became of it.
    """

    def __init__(
        self,
        endpoint: ChatEndpoint,
        path: str,
        *,
        method: str,
        headers: HeaderList,
        body: bytes,
        added: HeaderList = (),
        ended: Callable[[Passage], None] = lambda _: None,
    ) -> None:
        super().__init__()
        self._endpoint, self._path, self._method = endpoint, path, method
        self._sent_headers, self._sent_body = headers, body
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
        try:
            async with self._endpoint.send(
                self._method, self._path, headers=self._sent_headers, body=self._sent_body
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
                passage.is_whole = True
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
