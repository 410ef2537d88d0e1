"""A client that costs little, so that on a small machine the service is what is measured: HTTP/1.1 on one connection.

It reads what uvicorn writes: a status line, headers with a Content-Length, a body.
"""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any, Final
from urllib.parse import urlsplit

_LENGTH: Final = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")
_PATIENCE_SECONDS: Final = 60.0


def request(method: str, path: str, body: Any = None) -> bytes:
    """The bytes of a request with a JSON body."""
    content = b"" if body is None else json.dumps(body, ensure_ascii=False).encode()
    head = (
        f"{method} {path} HTTP/1.1\r\nhost: localhost\r\n"
        f"content-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


class Connection(asyncio.Protocol):
    """One connection that is kept open; one request at a time."""

    def __init__(self) -> None:
        self._seen = b""
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None
        self._transport: asyncio.Transport | None = None

    @classmethod
    async def to(cls, address: str) -> Connection:
        """Connects to `http://HOST:PORT`."""
        where = urlsplit(address)
        _, protocol = await asyncio.get_running_loop().create_connection(cls, where.hostname, where.port)
        return protocol

    async def send(self, message: bytes) -> tuple[int, bytes]:
        """Status and body of the answer.

        Raises:
            ConnectionError: the other end closed, or was closed before.
            TimeoutError: no answer within a minute.
        """
        if self._transport is None or self._transport.is_closing():
            raise ConnectionError("closed")
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(message)
        async with asyncio.timeout(_PATIENCE_SECONDS):
            return await self._answer

    def close(self) -> None:
        """Lets go of the connection."""
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the loop."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Called by the loop."""
        self._seen += data
        head = self._seen.find(b"\r\n\r\n")
        if head < 0:
            return
        told = _LENGTH.search(self._seen, 0, head)
        end = head + 4 + (int(told[1]) if told else 0)
        if len(self._seen) < end or self._answer is None or self._answer.done():
            return
        answer = int(self._seen[9:12]), self._seen[head + 4 : end]
        self._seen = self._seen[end:]
        self._answer.set_result(answer)

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by the loop."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(exc or ConnectionResetError("closed before the answer"))
