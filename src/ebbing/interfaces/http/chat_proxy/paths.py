"""The paths that OpenAI's clients call."""

from __future__ import annotations

from typing import Final

CHAT: Final = "/v1/chat/completions"
MODELS: Final = "/v1/models"
PROXY_PATHS: Final = frozenset({CHAT, MODELS})
