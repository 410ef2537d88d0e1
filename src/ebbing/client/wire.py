"""One request to a memory server: repeated where that is safe, refused early where the server is down, and its
refusals as typed errors."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from ebbing.client.errors import refusal
from ebbing.domain.errors import EbbingError, ServerUnavailableError
from ebbing.resilience.circuit_breaker import Breaker
from ebbing.resilience.retry import asked_wait, is_passing, wait_seconds

MAX_ANSWER_BYTES: Final = 64 * 2**20
"""No answer is read beyond this."""


@dataclass(frozen=True, slots=True)
class WireRequest:
    """What is sent."""

    method: str
    path: str
    json: Any = None
    params: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    repeatable: bool = False
    """Sent twice it does what it does once: a read, or a write with an idempotency key."""


class Wire:
    """A pool of connections to one server.

    Args:
        base_url: where it answers.
        api_key: sent as `Authorization: Bearer`.
        seconds: how long a call takes at most, its repetitions included.
        attempts: how often a repeatable request is sent at most; any other is sent once.
        breaker: opened by answers that do not come; a refusal is an answer.
        transport: for tests, and for a service in the same process.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        seconds: float = 10.0,
        attempts: int = 3,
        breaker: Breaker | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._seconds, self._attempts, self._breaker = seconds, attempts, breaker or Breaker()
        self._http = httpx.AsyncClient(
            base_url=base_url.rstrip("/"),
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
            timeout=httpx.Timeout(seconds),
            limits=httpx.Limits(max_connections=100, max_keepalive_connections=20),
            transport=transport,
        )

    async def ask(self, request: WireRequest) -> Any:
        """Return the decoded answer.

        Raises:
            ServerUnavailableError: no usable answer in time, or the server is left alone after failures.
            EbbingError: a refusal, as the most fitting of its kinds.
        """
        if left := self._breaker.enter():
            raise ServerUnavailableError(f"the memory server failed again and again: left alone for {left:.0f} s")
        report = self._breaker.abandoned
        try:
            async with asyncio.timeout(self._seconds):
                answer = await self._answer(request, give_up=time.monotonic() + self._seconds)
            report = self._breaker.succeeded
        except (ServerUnavailableError, TimeoutError) as error:
            report = self._breaker.failed
            if isinstance(error, TimeoutError):
                raise ServerUnavailableError(f"the memory server did not answer in {self._seconds:g} s") from None
            raise
        except EbbingError:
            report = self._breaker.succeeded  # it is there, and it spoke
            raise
        finally:
            report()
        return answer

    async def aclose(self) -> None:
        """Close the pool; idempotent."""
        await self._http.aclose()

    async def _answer(self, request: WireRequest, *, give_up: float) -> Any:
        attempt = 0
        while True:
            attempt += 1
            response, failure = await self._sent(request)
            if response is not None and not is_passing(response.status_code):
                return _decoded(response)
            wait = wait_seconds(attempt - 1, asked_wait(response.headers) if response is not None else None)
            is_last = not request.repeatable or attempt >= self._attempts or time.monotonic() + wait >= give_up
            if is_last and response is not None:
                raise refusal(response)
            if is_last:
                raise ServerUnavailableError(f"the memory server cannot be reached: {failure}")
            await asyncio.sleep(wait)

    async def _sent(self, request: WireRequest) -> tuple[httpx.Response | None, str]:
        """Return the response, or what kept it away: the kind of failure, never an address or a text."""
        sent = self._http.build_request(
            request.method, request.path, json=request.json, params=dict(request.params), headers=dict(request.headers)
        )
        try:
            response = await self._http.send(sent, stream=True)
            try:
                return await _read(response), ""
            finally:
                await response.aclose()
        except httpx.HTTPError as error:
            return None, type(error).__name__


async def _read(response: httpx.Response) -> httpx.Response:
    """Return the response with its body, unless that is absurdly long."""
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > MAX_ANSWER_BYTES:
            raise ServerUnavailableError("the memory server's answer is too long")
    return httpx.Response(response.status_code, headers=_plain(response.headers), content=bytes(body))


def _plain(headers: httpx.Headers) -> dict[str, str]:
    """Return the headers that still hold for a body that was decoded."""
    return {name: value for name, value in headers.items() if name not in {"content-encoding", "content-length"}}


def _decoded(response: httpx.Response) -> Any:
    if response.status_code >= 400:
        raise refusal(response)
    if not response.content:
        return None
    try:
        return response.json()
    except ValueError:
        raise ServerUnavailableError("the memory server answered with something that is no JSON") from None
