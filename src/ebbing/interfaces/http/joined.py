"""Answers that leave in one piece: uvicorn writes their head and their body apart, and each write is a system call."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_MOST: Final = 65_536
"""Bytes that wait for the end of a turn, at most: behind a stream its reader must be able to hold it back."""


class JoiningProtocol(HttpToolsProtocol):
    """uvicorn's, with what it writes in one turn of the loop joined."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Called by the loop."""
        super().connection_made(Joining(transport))  # type: ignore[arg-type]  # it does what a transport does


class Joining:
    """A transport that hands on what is written to it at the end of the loop's turn."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._soon = asyncio.get_running_loop().call_soon
        self._waiting: list[bytes] = []
        self._size = 0

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
