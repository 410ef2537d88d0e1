"""The paths that OpenAI's clients call."""

from __future__ import annotations

from typing import Final

CHAT: Final = "/v1/chat/completions"
MODELS: Final = "/v1/models"
PROXY_PATHS: Final = frozenset({CHAT, MODELS})
REFUSED_PATHS: Final = (
    *("/v1/responses", "/v1/embeddings", "/v1/completions", "/v1/images", "/v1/audio", "/v1/moderations"),
    *("/v1/files", "/v1/messages"),
    # Where a host goes whose base URL lacks `/v1`, or has it twice.
    *("/chat/completions", "/models", "/v1/v1"),
)
"""What hosts ask endpoints for beside chats; these and what is below them are not passed on."""


def is_proxy_path(path: str) -> bool:
    """Return whether errors of a path are read by OpenAI's clients."""
    return path in PROXY_PATHS or any(path == other or path.startswith(f"{other}/") for other in REFUSED_PATHS)
