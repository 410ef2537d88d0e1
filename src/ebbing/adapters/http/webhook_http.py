"""Webhooks over HTTPS, with a guard: a tenant must not reach through them what only the service can reach."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit, urlunsplit

import httpx

from ebbing.domain.errors import InvalidInputError
from ebbing.ports.webhook_sender import Delivered
from ebbing.resilience.retry import asked_wait

TIMEOUT_SECONDS: Final = 10.0
_NO_URL: Final = "a webhook's address must be a URL such as https://example.org/hook"
_PORTS: Final = {"http": 80, "https": 443}
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a host."""


class HttpWebhookSender:
    """A `WebhookSender` on httpx.

    The name is resolved once, every address it has is judged, and the connection goes to one of those: a name that
    leads elsewhere a moment later (DNS rebinding) is not asked again. Proxies of the environment and redirects are not
    followed.

    Args:
        private_targets: allow http, and addresses of this machine and of private networks.
    """

    def __init__(
        self, *, private_targets: bool = False, resolve: Resolve | None = None, timeout_seconds: float = TIMEOUT_SECONDS
    ) -> None:
        self._private = private_targets
        self._resolve = resolve or _addresses_of
        self._client = httpx.AsyncClient(
            timeout=timeout_seconds, follow_redirects=False, trust_env=False, limits=httpx.Limits(max_connections=16)
        )

    def check(self, url: str) -> None:
        parts = _parts_of(url)
        if parts.scheme == "http" and not self._private:
            raise InvalidInputError("a webhook's address must begin with https:// (EBBING_WEBHOOK_PRIVATE_TARGETS)")
        host = parts.hostname or ""
        literal = _address(host)
        is_inside = host == "localhost" or host.endswith((".localhost", ".local", ".internal"))
        if not self._private and (is_inside or (literal is not None and not is_public(literal))):
            raise InvalidInputError("a webhook's address must be reachable from the internet, not of this network")

    async def send(self, url: str, body: bytes, *, headers: Mapping[str, str]) -> Delivered:
        try:
            self.check(url)
            parts = _parts_of(url)
            address = await self._target(parts)
        except InvalidInputError:
            return Delivered(None, "forbidden_target")
        except OSError:
            return Delivered(None, "unreachable")
        return await self._post(parts, address, body=body, headers=headers)

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _target(self, parts: SplitResult) -> str:
        """An address of the host, if all that it has are allowed.

        Raises:
            InvalidInputError: one of them is not.
            OSError: it has none.
        """
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
        hosts = [host] if _address(host) else list(await self._resolve(host, port))
        addresses = [address for item in hosts if (address := _address(item)) is not None]
        if not addresses:
            raise OSError("no address")
        if not self._private and not all(map(is_public, addresses)):
            raise InvalidInputError("the host has an address that is not public")
        return str(addresses[0])

    async def _post(self, parts: SplitResult, address: str, *, body: bytes, headers: Mapping[str, str]) -> Delivered:
        host = parts.hostname or ""
        at = f"[{address}]" if ":" in address else address
        named = f"[{host}]" if ":" in host else host
        port = f":{parts.port}" if parts.port else ""
        url = urlunsplit((parts.scheme, f"{at}{port}", parts.path or "/", parts.query, ""))
        extensions: dict[str, Any] = {"sni_hostname": host} if _address(host) is None else {}
        try:
            request = self._client.build_request(
                "POST", url, content=body, headers={**headers, "host": f"{named}{port}"}, extensions=extensions
            )
            answer = await self._client.send(request, stream=True)
            await answer.aclose()  # what it says does not matter, and may be long
        except httpx.TimeoutException:
            return Delivered(None, "timeout")
        except (httpx.HTTPError, httpx.InvalidURL, OSError):
            return Delivered(None, "unreachable")
        return Delivered(answer.status_code, retry_after_seconds=asked_wait(answer.headers))


def is_public(address: Address) -> bool:
    """Whether an address is of the internet at large: nothing of this machine, network, or set aside for other uses."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if inner is not None:
            return is_public(inner)
        if address in _NAT64:
            return is_public(ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF))
    return address.is_global and not address.is_multicast and not address.is_reserved


_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")


async def _addresses_of(host: str, port: int) -> list[str]:
    infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in infos]


def _parts_of(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in _PORTS and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        raise InvalidInputError(_NO_URL) from None
    if not usable or any(char.isspace() or not char.isprintable() for char in url):
        raise InvalidInputError(_NO_URL)
    if parts.username is not None or parts.password is not None:
        raise InvalidInputError("a webhook's address must hold no user name or password: messages are signed instead")
    return parts


def _address(text: str) -> Address | None:
    try:
        return ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
