"""An endpoint of a model: its address and key checked once, and connections for each event loop."""

from __future__ import annotations

from typing import Any

import anyio.lowlevel
import httpx

from ebbing.domain.errors import ConfigurationError


class Endpoint:
    """Takes JSON by POST. Neither bodies nor the key ever stand in an error.

    Args:
        base_url: up to the version, such as `https://api.openai.com/v1`.
        path: behind it, such as `/embeddings`.
        api_key: sent as a bearer token; None or empty for local servers.
        owner: names the model in errors, such as "the reranker's".
        timeout_seconds: bound of each step of a request, such as connecting.

    Raises:
        ConfigurationError: base URL or key cannot be right.
    """

    def __init__(self, base_url: str, path: str, *, api_key: str | None, owner: str, timeout_seconds: float) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise ConfigurationError(f"{owner} base URL must begin with http:// or https://")
        api_key = api_key or ""
        if not (api_key.isascii() and api_key.isprintable()):
            raise ConfigurationError(f"{owner} key holds characters that no key has: copy it again")
        self._url = base_url.rstrip("/") + path
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._timeout_seconds = timeout_seconds
        # Open connections belong to the event loop that opened them.
        self._clients: anyio.lowlevel.RunVar[httpx.AsyncClient] = anyio.lowlevel.RunVar("endpoint_client")

    async def post(self, body: dict[str, Any]) -> httpx.Response:
        """The endpoint's answer, whatever its status.

        Raises:
            httpx.RequestError: there was none.
            httpx.InvalidURL: the base URL is not a URL.
        """
        client = self._clients.get(None)
        if client is None or client.is_closed:
            client = httpx.AsyncClient(headers=self._headers, timeout=self._timeout_seconds)
            self._clients.set(client)
        return await client.post(self._url, json=body)

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        client = self._clients.get(None)
        if client is not None:
            await client.aclose()
