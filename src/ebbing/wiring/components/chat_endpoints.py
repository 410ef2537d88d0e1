"""The endpoint that the proxy passes chats on to."""

from __future__ import annotations

from ebbing.domain.errors import MissingExtraError
from ebbing.ports.chat_endpoint import ChatEndpoint
from ebbing.wiring.config.settings import Settings


def chat_endpoint(settings: Settings) -> ChatEndpoint | None:
    """Return the endpoint of the settings; None where they name none.

    Raises:
        ConfigurationError: the address is not a URL.
        MissingExtraError: the packages of the extra `server` are not installed.
    """
    if not settings.proxy_url:
        return None
    try:
        from ebbing.adapters.http.chat_endpoint_http import HttpChatEndpoint
    except ImportError as error:
        raise MissingExtraError("the proxy needs httpx: pip install 'ebbing[server]'") from error
    return HttpChatEndpoint(settings.proxy_url)
