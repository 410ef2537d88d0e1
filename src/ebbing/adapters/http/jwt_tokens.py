"""JSON Web Tokens (RFC 7519), checked with PyJWT against an allow-list of algorithms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import jwt

from ebbing.domain.access_roles import ROLES, AccessRole
from ebbing.domain.errors import ConfigurationError, UnauthorizedError
from ebbing.ports.models.token_reader import Bearer

LEEWAY_SECONDS: Final = 30
"""How far the clocks of issuer and service may be apart."""
_SHARED: Final = frozenset({"HS256", "HS384", "HS512"})
_PUBLIC: Final = frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"})
_LEAST_SECRET: Final = 32
"""Bytes: a shorter secret can be guessed from one token (RFC 7518, section 3.2)."""


class JwtTokens:
    """A `TokenReader` for tokens signed with one key. `exp` and `sub` must be there, and what the settings ask for.

    Raises:
        ConfigurationError: an algorithm that is not allowed, algorithms of both families, or a key that does not suit
            them: a public key taken for a shared secret would let anybody sign.
    """

    def __init__(
        self,
        key: str,
        algorithms: Sequence[str],
        *,
        audience: str | None = None,
        issuer: str | None = None,
        tenant_claim: str | None = None,
        role_claim: str | None = None,
    ) -> None:
        named = frozenset(algorithms)
        if not named or not (named <= _SHARED or named <= _PUBLIC):
            raise ConfigurationError(
                "EBBING_JWT_ALGORITHMS must name algorithms of one family: HS256, HS384, HS512, or RS256, ES256, EdDSA "
                "and their kind"
            )
        is_pem = "-----BEGIN" in key
        if named <= _SHARED and (is_pem or len(key.encode()) < _LEAST_SECRET):
            raise ConfigurationError(f"EBBING_JWT_KEY must be a secret of at least {_LEAST_SECRET} bytes for HS…")
        if named <= _PUBLIC and not is_pem:
            raise ConfigurationError("EBBING_JWT_KEY must be a public key in PEM for these algorithms")
        self._key, self._algorithms = key, sorted(named)
        self._audience, self._issuer = audience, issuer
        self._tenant_claim, self._role_claim = tenant_claim, role_claim
        claims = {"exp": True, "sub": True, "aud": audience is not None, "iss": issuer is not None}
        self._required = [name for name, is_required in claims.items() if is_required]

    def read(self, token: str) -> Bearer:
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                self._key,
                algorithms=self._algorithms,
                audience=self._audience,
                issuer=self._issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": self._required},
            )
        except jwt.ExpiredSignatureError:
            raise UnauthorizedError("the token has expired: get a new one") from None
        except jwt.MissingRequiredClaimError as error:
            raise UnauthorizedError(f"the token lacks the claim {error.claim}") from None
        except (jwt.InvalidAudienceError, jwt.InvalidIssuerError):
            raise UnauthorizedError("the token was made for or by somebody else") from None
        except (jwt.PyJWTError, ValueError):
            raise UnauthorizedError("the token does not hold: it is not one, or not signed as it must be") from None
        return Bearer(_text(claims, "sub"), self._role(claims), self._tenant(claims))

    def _tenant(self, claims: Mapping[str, Any]) -> str | None:
        return _text(claims, self._tenant_claim) if self._tenant_claim else None

    def _role(self, claims: Mapping[str, Any]) -> AccessRole:
        if self._role_claim is None:
            return AccessRole.WRITE
        role = ROLES.get(_text(claims, self._role_claim))
        if role is None:
            raise UnauthorizedError(f"the token's claim {self._role_claim} must be one of {', '.join(ROLES)}")
        return role


def _text(claims: Mapping[str, Any], name: str) -> str:
    value = claims.get(name)
    if not isinstance(value, str) or not value.strip():
        raise UnauthorizedError(f"the token lacks the claim {name}, or it is no text")
    return value.strip()
