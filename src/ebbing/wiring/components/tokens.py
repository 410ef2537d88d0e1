"""Which tokens the service believes, if any."""

from __future__ import annotations

from ebbing.domain.errors import MissingExtraError
from ebbing.ports.models.token_reader import TokenReader
from ebbing.wiring.config.settings import Settings


def token_reader(settings: Settings) -> TokenReader | None:
    """Return what checks tokens; None where no key is set for them.

    Raises:
        ConfigurationError: key and algorithms do not suit each other.
        MissingExtraError: the packages of the extra `server` are not installed.
    """
    if settings.jwt_key is None:
        return None
    try:
        from ebbing.adapters.http.jwt_tokens import JwtTokens
    except ImportError as error:
        raise MissingExtraError("tokens need packages that are not installed: pip install 'ebbing[server]'") from error
    return JwtTokens(
        settings.jwt_key.get_secret_value(),
        [name.strip() for name in settings.jwt_algorithms.split(",") if name.strip()],
        audience=settings.jwt_audience,
        issuer=settings.jwt_issuer,
        tenant_claim=settings.jwt_tenant_claim,
        role_claim=settings.jwt_role_claim,
    )
