"""Who calls: the tenant, what they may do, and for whom, from the credential alone."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final

from ebbing.interfaces.http.errors import ProblemError
from ebbing.wiring.settings import Settings

Headers = Mapping[bytes, bytes]
"""Names in lower case."""

_SCHEMES: Final = frozenset({"bearer", "token"})
"""mem0's clients say Token."""


class Role(IntEnum):
    """What a credential may do; each may do what those before it may."""

    READ = 1
    WRITE = 2
    ADMIN = 3


@dataclass(frozen=True, slots=True)
class Principal:
    """Whom a request speaks for. Nothing in a body or query can widen it."""

    tenant: str
    role: Role
    user: str | None = None
    """The one user whose memory this credential opens; None for every user of the tenant."""
    name: str = "open"
    """What it is called in the log of admin acts and counted by; never a secret, never a person."""


class Doorkeeper:
    """Tells who calls by the headers of a request.

    Open (no credential is asked for) as long as none is set up and `auth` is `auto`; whoever calls then acts for the
    settings' own tenant, with every right. The service listens on loopback alone while it is open.
    """

    def __init__(self, settings: Settings) -> None:
        self._tenant = settings.tenant
        self._required = settings.auth == "required"
        self._key = settings.api_key.get_secret_value().encode() if settings.api_key else None
        self._header = settings.trusted_header.strip().lower().encode() if settings.trusted_header else None
        self._proxies = tuple(ipaddress.ip_network(one, strict=False) for one in listed(settings.trusted_proxies))

    async def is_open(self) -> bool:
        """Whether nobody has to show anything."""
        return not (self._required or self._key or self._header)

    async def principal(self, headers: Headers, *, peer: str | None) -> Principal:
        """Who calls.

        Args:
            peer: address of who connected, before any header of forwarding.

        Raises:
            ProblemError: `unauthorized`.
        """
        if await self.is_open():
            return Principal(self._tenant, Role.ADMIN)
        user = self._named_user(headers)
        shown = credential(headers)
        if shown is not None:
            return _narrowed(await self._of_credential(shown), user)
        if user is not None and self._is_trusted(peer):
            return Principal(self._tenant, Role.WRITE, user, "header")
        raise ProblemError(
            "unauthorized", "this service asks for a credential", headers={"WWW-Authenticate": 'Bearer realm="ebbing"'}
        )

    async def _of_credential(self, shown: str) -> Principal:
        if self._key is not None and hmac.compare_digest(shown.encode("utf-8", "replace"), self._key):
            return Principal(self._tenant, Role.ADMIN, name="api_key")
        raise ProblemError(
            "unauthorized",
            "this credential is not known, or no longer valid",
            headers={"WWW-Authenticate": 'Bearer realm="ebbing", error="invalid_token"'},
        )

    def _named_user(self, headers: Headers) -> str | None:
        value = headers.get(self._header) if self._header else None
        return (value.decode("utf-8", "replace").strip() or None) if value else None

    def _is_trusted(self, peer: str | None) -> bool:
        try:
            address = ipaddress.ip_address(peer or "")
        except ValueError:
            return False
        return address.is_loopback or any(address in network for network in self._proxies)


def credential(headers: Headers) -> str | None:
    """What was shown as `Authorization: Bearer …`, `Authorization: Token …` or `X-API-Key: …`."""
    scheme, _, value = headers.get(b"authorization", b"").decode("latin-1").strip().partition(" ")
    if scheme.lower() in _SCHEMES and value.strip():
        return value.strip()
    return headers.get(b"x-api-key", b"").decode("latin-1").strip() or None


def listed(text: str | None) -> tuple[str, ...]:
    """The parts of a comma-separated setting."""
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def _narrowed(principal: Principal, user: str | None) -> Principal:
    """The principal for one user, whom the header beside its credential names."""
    if user is None or principal.user == user:
        return principal
    if principal.user is not None:
        raise ProblemError("forbidden", "this credential is for another user than the header names")
    return replace(principal, user=user, role=min(principal.role, Role.WRITE))
