"""mem0's `llm` section in our settings' names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ebbing.domain.errors import ConfigurationError
from ebbing.wiring.provider_keys import provider_address, provider_key

_PROVIDERS: Final = {
    "openai": ("openai_base_url", "https://api.openai.com/v1"),
    "openai_structured": ("openai_base_url", "https://api.openai.com/v1"),
    "deepseek": ("deepseek_base_url", "https://api.deepseek.com/v1"),
    "groq": ("groq_base_url", "https://api.groq.com/openai/v1"),
    "together": ("together_base_url", "https://api.together.xyz/v1"),
    "xai": ("xai_base_url", "https://api.x.ai/v1"),
    "ollama": ("ollama_base_url", "http://localhost:11434/v1"),
    "lmstudio": ("lmstudio_base_url", "http://localhost:1234/v1"),
    "vllm": ("vllm_base_url", "http://localhost:8000/v1"),
    "glm": ("glm_base_url", "https://open.bigmodel.cn/api/paas/v4"),
    "dashscope": ("dashscope_base_url", "https://dashscope.aliyuncs.com/compatible-mode/v1"),
    "gitee": ("gitee_base_url", "https://ai.gitee.com/v1"),
    "moonshot": ("moonshot_base_url", "https://api.moonshot.cn/v1"),
    "minimax": ("minimax_base_url", "https://api.minimax.chat/v1"),
    "sarvam": ("sarvam_base_url", "https://api.sarvam.ai/v1"),
}
"""The key of the base URL in the section's config, and the URL without one."""
_OTHER_NAMES: Final = {"zhipuai": "glm", "zhipu": "glm", "zai": "glm", "qwen": "dashscope", "tongyi": "dashscope"}
_PROFILES: Final = {"openai", "glm", "dashscope", "gitee", "ollama", "vllm"}


def llm_settings(section: Any) -> dict[str, Any]:
    """Return `llm_*` settings for `{"provider", "config": {"model", "api_key", "<provider>_base_url", …}}`.

    A key or address that the config does not give is that of the provider's own variables. `temperature`, `top_p` and
    the like have no effect: memory asks for the likeliest answer.

    Raises:
        ConfigurationError: a provider that is not reached through OpenAI's protocol, no model, or no key.
    """
    if not isinstance(section, Mapping) or not isinstance(section.get("config") or {}, Mapping):
        raise ConfigurationError("llm must be a dict with provider and config")
    named = str(section.get("provider", "openai"))
    provider = _OTHER_NAMES.get(named, named)
    if provider not in _PROVIDERS:
        names = ", ".join(sorted(_PROVIDERS))
        raise ConfigurationError(
            f"llm provider {provider!r} is not supported: use one of {names}; any OpenAI-compatible endpoint is "
            "'openai' with openai_base_url"
        )
    config = section.get("config") or {}
    if not config.get("model"):
        raise ConfigurationError("llm needs a model in its config")
    key, usual = _PROVIDERS[provider]
    base = str(config.get(key) or config.get("base_url") or provider_address(provider) or usual).rstrip("/")
    if provider == "ollama" and not base.endswith("/v1"):
        base += "/v1"  # mem0 names the server, and speaks its own protocol with it
    is_needed = base == usual and base.startswith("https:")
    settings = {
        "llm_base_url": base,
        "llm_api_key": provider_key(provider, config.get("api_key"), section="llm", is_needed=is_needed),
        "llm_model": config["model"],
        "llm_max_tokens": config.get("max_tokens"),
        "llm_profile": provider if provider in _PROFILES and base == usual else None,
    }
    return {name: value for name, value in settings.items() if value is not None}
