"""An OpenAI-compatible endpoint that requests are passed on to, byte by byte."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

HeaderList = Sequence[tuple[bytes, bytes]]
"""Names and values as they go over the wire."""


@dataclass(frozen=True, slots=True)
class EndpointAnswer:
    """An answer whose body is still to come."""

    status: int
    headers: HeaderList
    chunks: AsyncGenerator[bytes, None]
    """The body as it arrives, undecoded. It raises `ServerUnavailableError` where it breaks off."""


class ChatEndpoint(Protocol):
    """Sends requests to one address. Safe to use from many tasks."""

    def send(
        self, method: str, path: str, *, headers: HeaderList, body: bytes
    ) -> AbstractAsyncContextManager[EndpointAnswer]:
        """Send a request and open its answer; leaving the context closes the connection or gives it back.

        Args:
            path: behind the base URL, such as `/chat/completions`, with a query if there is one.

        Raises:
            InvalidInputError: the query cannot stand in a URL.
            ServerUnavailableError: the endpoint cannot be reached, or its answer cannot be read.
        """
        ...

    async def aclose(self) -> None:
        """Let go of all connections; idempotent."""
        ...
