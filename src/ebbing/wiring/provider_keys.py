"""Keys and addresses of providers, from the variables that their own clients read."""

from __future__ import annotations

import os
from typing import Final

from ebbing.domain.errors import ConfigurationError

_KEYS: Final = {
    "openai": ("OPENAI_API_KEY",),
    "openai_structured": ("OPENAI_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "groq": ("GROQ_API_KEY",),
    "together": ("TOGETHER_API_KEY",),
    "xai": ("XAI_API_KEY",),
    "glm": ("ZHIPUAI_API_KEY", "ZAI_API_KEY"),
    "dashscope": ("DASHSCOPE_API_KEY",),
    "gitee": ("GITEE_AI_API_KEY",),
    "moonshot": ("MOONSHOT_API_KEY",),
    "minimax": ("MINIMAX_API_KEY",),
    "sarvam": ("SARVAM_API_KEY",),
    "vllm": ("VLLM_API_KEY",),
    "lmstudio": ("LMSTUDIO_API_KEY",),
    "ollama": ("OLLAMA_API_KEY",),
    "cohere": ("CO_API_KEY", "COHERE_API_KEY"),
    "jina": ("JINA_API_KEY",),
    "voyage": ("VOYAGE_API_KEY",),
}
"""The variables of each provider, the first that is set counts."""
_ADDRESSES: Final = {
    "openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    "openai_structured": ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    "deepseek": ("DEEPSEEK_API_BASE", "DEEPSEEK_BASE_URL"),
    "dashscope": ("DASHSCOPE_BASE_URL",),
    "glm": ("ZHIPUAI_BASE_URL",),
    "vllm": ("VLLM_BASE_URL",),
    "lmstudio": ("LMSTUDIO_BASE_URL",),
    "ollama": ("OLLAMA_BASE_URL",),
}


def provider_address(provider: str) -> str | None:
    """Return the address that the environment gives for a provider."""
    return _first(_ADDRESSES.get(provider, ()))


def provider_key(provider: str, value: object, *, section: str, is_needed: bool) -> str | None:
    """Return the key of a config, else that of the environment.

    Args:
        section: of the config, for the error.
        is_needed: the provider takes no request without one.

    Raises:
        ConfigurationError: there is none where one is needed; the message names the variable.
    """
    key = str(value) if value else _first(_KEYS.get(provider, ()))
    if key is None and is_needed:
        names = " or ".join(_KEYS.get(provider, ())) or f"EBBING_{section.upper()}_API_KEY"
        raise ConfigurationError(f"{section} provider {provider!r} needs a key: set {names}, or api_key in its config")
    return key


def _first(names: tuple[str, ...]) -> str | None:
    return next((value for name in names if (value := os.environ.get(name, "").strip())), None)
