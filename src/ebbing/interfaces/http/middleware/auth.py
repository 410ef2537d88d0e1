"""Who calls: the tenant, what they may do, and for whom, from the credential alone."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from ebbing.domain.access_roles import AccessRole, key_digest
from ebbing.domain.errors import ConfigurationError, UnauthorizedError
from ebbing.interfaces.http.errors import ProblemError
from ebbing.ports.clock import Clock
from ebbing.ports.stores.key_ring import KeyRing
from ebbing.wiring.components.tokens import token_reader
from ebbing.wiring.config.settings import Settings

Headers = Mapping[bytes, bytes]
"""Names in lower case."""
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_SCHEMES: Final = frozenset({"bearer", "token"})
"""mem0's clients say Token."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Whom a request speaks for. Nothing in a body or query can widen it."""

    tenant: str
    role: AccessRole
    user: str | None = None
    """The one user whose memory this credential opens; None for every user of the tenant."""
    name: str = "open"
    """What it is called in the log of admin acts and counted by; never a secret, never a person."""


class Doorkeeper:
    """Tells who calls by the headers of a request.

    Open (no credential is asked for) as long as `auth` is `auto` and none was ever set up: no key made, no setting for
    keys, tokens or a trusted header. Whoever calls then acts for the settings' own tenant, with every right, and the
    service listens on loopback alone. A door that closed stays closed, also when the last key is revoked.

    Raises:
        ConfigurationError: settings for tokens or proxies that do not fit.
    """

    def __init__(self, settings: Settings, *, keys: KeyRing, clock: Clock) -> None:
        self._tenant, self._keys, self._clock = settings.tenant, keys, clock
        self.anybody = Principal(self._tenant, AccessRole.ADMIN)
        """Who calls as long as it is open."""
        self._digest = key_digest(settings.service_api_key.get_secret_value()) if settings.service_api_key else None
        self._tokens = token_reader(settings)
        self._header = settings.trusted_header.strip().lower().encode() if settings.trusted_header else None
        self._proxies = _networks(settings.trusted_proxies)
        self._closed = settings.auth_mode == "required" or any((self._digest, self._tokens, self._header))

    async def is_open(self) -> bool:
        """Whether nobody has to show anything."""
        if not self._closed:
            self._closed = not await self._keys.is_empty()
        return not self._closed

    async def principal(self, headers: Headers, *, peer: str | None) -> Principal:
        """Who calls.

        Args:
            peer: address of who connected, before any header of forwarding.

        Raises:
            UnauthorizedError: no credential, one that does not hold, or a trusted header that is not UTF-8.
            ProblemError: `forbidden`, credential and trusted header name different users.
        """
        if not self._closed and await self.is_open():
            return self.anybody
        user, shown = self._named_user(headers), credential(headers)
        if shown is not None:
            return _narrowed(await self._shown(shown), user)
        if user is not None and self._is_trusted(peer):
            return Principal(self._tenant, AccessRole.WRITE, user, "header")
        raise UnauthorizedError("this service asks for a credential, and none was shown")

    async def _shown(self, shown: str) -> Principal:
        if self._tokens is not None and shown.count(".") == 2:
            claims = self._tokens.read(shown)
            return Principal(claims.tenant or self._tenant, min(claims.role, AccessRole.WRITE), claims.user_id, "token")
        digest = key_digest(shown)
        if self._digest is not None and hmac.compare_digest(digest, self._digest):
            return Principal(self._tenant, AccessRole.ADMIN, name="api_key")
        key = await self._keys.find(digest)
        if key is None or not hmac.compare_digest(digest, key.digest) or key.revoked_at is not None:
            raise UnauthorizedError("this key is not known, or was revoked")
        if key.expires_at is not None and key.expires_at <= self._clock.now():
            raise UnauthorizedError("this key has expired")
        return Principal(key.tenant, key.role, key.user_id, f"key:{key.id}")

    def _named_user(self, headers: Headers) -> str | None:
        value = headers.get(self._header) if self._header else None
        try:
            return (value.decode().strip() or None) if value else None
        except UnicodeDecodeError:  # with characters replaced, two users could get the same name
            raise UnauthorizedError("the trusted header is not UTF-8: let the proxy encode it so") from None

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


def _networks(text: str | None) -> tuple[Network, ...]:
    try:
        return tuple(ipaddress.ip_network(item, strict=False) for item in listed(text))
    except ValueError:
        raise ConfigurationError("EBBING_TRUSTED_PROXIES must hold addresses or networks, such as 10.0.0.0/8") from None


def _narrowed(principal: Principal, user: str | None) -> Principal:
    """The principal for one user, whom the header beside its credential names."""
    if user is None or principal.user == user:
        return principal
    if principal.user is not None:
        raise ProblemError("forbidden", "this credential is for another user than the header names")
    return replace(principal, user=user, role=min(principal.role, AccessRole.WRITE))
