"""An OpenAI-compatible endpoint over HTTP."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import httpx

from ebbing.domain.errors import ConfigurationError, InvalidInputError, ServerUnavailableError
from ebbing.ports.models.chat_endpoint import EndpointAnswer, HeaderList

CONNECT_SECONDS: Final = 10.0
SILENCE_SECONDS: Final = 600.0
"""How long an endpoint may say nothing at all; a model may think for minutes before its first word."""
_MAX_CONNECTIONS: Final = 512


class HttpChatEndpoint:
    """A `ChatEndpoint` on httpx. It adds no header of its own, follows no redirect and repeats nothing.

    Args:
        base_url: such as `https://api.openai.com/v1`; a query in it, such as `?api-version=…`, goes with each request.

    Raises:
        ConfigurationError: the base URL is not one.
    """

    def __init__(self, base_url: str) -> None:
        base, _, self._query = base_url.strip().partition("?")
        self._base = base.rstrip("/")
        url = _parsed(base_url.strip())
        if url is None or url.scheme not in {"http", "https"} or not url.host or url.fragment:
            raise ConfigurationError("EBBING_PROXY_URL must be a URL such as https://api.openai.com/v1")
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS),
            limits=httpx.Limits(max_connections=_MAX_CONNECTIONS, max_keepalive_connections=32),
            follow_redirects=False,
        )

    @asynccontextmanager
    async def send(self, method: str, path: str, *, headers: HeaderList, body: bytes) -> AsyncIterator[EndpointAnswer]:
        try:
            request = httpx.Request(method, self._url_of(path), headers=list(headers), content=body or None)
        except httpx.InvalidURL as error:
            raise InvalidInputError("the query cannot be passed on: it is too long, or no text of a URL") from error
        try:
            answer = await self._client.send(request, stream=True)
        except httpx.HTTPError as error:
            raise ServerUnavailableError(f"the endpoint gave no answer: {type(error).__name__}") from error
        try:
            yield EndpointAnswer(answer.status_code, answer.headers.raw, _chunks(answer))
        finally:
            await answer.aclose()

    def _url_of(self, path: str) -> str:
        """Return where a request goes; a query of the base URL stands before that of the request."""
        path, _, query = path.partition("?")
        whole = "&".join(filter(None, (self._query, query)))
        return f"{self._base}{path}?{whole}" if whole else f"{self._base}{path}"

    async def aclose(self) -> None:
        await self._client.aclose()


async def _chunks(answer: httpx.Response) -> AsyncGenerator[bytes, None]:
    try:
        async for chunk in answer.aiter_raw():
            yield chunk
    except httpx.HTTPError as error:
        raise ServerUnavailableError(f"the endpoint broke off: {type(error).__name__}") from error


def _parsed(text: str) -> httpx.URL | None:
    try:
        return httpx.URL(text)
    except httpx.InvalidURL:
        return None
