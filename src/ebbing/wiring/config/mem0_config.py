"""mem0's configuration dict in our settings' names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ebbing.domain.errors import ConfigurationError
from ebbing.wiring.config.mem0_vectors import unused_options, vector_settings
from ebbing.wiring.provider_keys import provider_address, provider_key

# mem0's `llm` section in our settings' names.

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


_OWN_STORES: Final = frozenset({"sqlite", "ebbing"})
_OPENAI: Final = "https://api.openai.com/v1"
_EMBEDDERS: Final = {
    "openai": ("openai", _OPENAI),
    "lmstudio": ("openai", "http://localhost:1234/v1"),
    "ollama": ("openai", "http://localhost:11434/v1"),
    "vllm": ("openai", "http://localhost:8000/v1"),
    "together": ("openai", "https://api.together.xyz/v1"),
    "glm": ("openai", "https://open.bigmodel.cn/api/paas/v4"),
    "zhipuai": ("openai", "https://open.bigmodel.cn/api/paas/v4"),
    "dashscope": ("openai", "https://dashscope.aliyuncs.com/compatible-mode/v1"),
    "gitee": ("openai", "https://ai.gitee.com/v1"),
    "e5": ("e5", None),
    "sentence-encoder": ("sentence-encoder", None),
    "none": ("none", None),
}
"""Our embedder for each provider, and where it is reached unless the config or the environment says so."""
_ENDPOINT_MODELS: Final = {"openai": "text-embedding-3-small"}
"""What mem0 takes where its config names no model."""
_GRAPH_SERVERS: Final = frozenset({"neo4j", "memgraph"})
"""They speak Bolt."""
_GRAPH_SECTION: Final = frozenset({"provider", "config"})
_GRAPH_OPTIONS: Final = frozenset(
    {
        "url",
        "username",
        "password",
        "database",
        "base_label",
    }
)
"""`base_label` is about names in mem0's graph, which ours does not have."""
_RERANKERS: Final = {
    "cohere": "https://api.cohere.com/v2",
    "jina": "https://api.jina.ai/v1",
    "voyage": "https://api.voyageai.com/v1",
}


@dataclass(frozen=True, slots=True)
class Part:
    """Settings for one section, and what takes the place of what it names."""

    settings: dict[str, Any]
    replaced: str | None = None


@dataclass(frozen=True, slots=True)
class Mem0Config:
    """Settings for a config, and a sentence for each part of it that is replaced here."""

    settings: dict[str, Any]
    replaced: tuple[str, ...]
    is_mem0s: bool
    """Whether it has sections of mem0's."""


def from_mem0(config: Mapping[str, Any]) -> Mem0Config:
    """Return settings for a config in mem0's shape; keys in our own names pass through.

    An embedder, a store or a reranker that is not here is replaced, and the answer says by what.

    Raises:
        ConfigurationError: a section that cannot be read, a language model that is not here, or a missing key.
    """
    settings = {key: value for key, value in config.items() if key not in _READERS}
    replaced: list[str] = []
    sections = [section for section in _READERS if config.get(section)]
    for section in sections:
        part = _READERS[section](config[section])
        settings.update(part.settings)
        if part.replaced:
            replaced.append(part.replaced)
    return Mem0Config(settings, tuple(replaced), is_mem0s=any(isinstance(config[name], Mapping) for name in sections))


def _provider_and_config(section: Any, name: str, *, usual: str) -> tuple[str, Mapping[str, Any]]:
    config = section.get("config") if isinstance(section, Mapping) else None
    if not isinstance(section, Mapping) or not isinstance(config or {}, Mapping):
        raise ConfigurationError(f"{name} must be a dict with provider and config")
    return str(section.get("provider", usual)), config or {}


def _store(section: Any) -> Part:
    provider, config = _provider_and_config(section, "vector_store", usual="sqlite")
    settings = {"path": config["path"]} if config.get("path") else {}
    if provider in _OWN_STORES:
        return Part(settings)
    index = vector_settings(provider, config)
    if index is not None:
        names = unused_options(provider, config)
        return Part(index, _unused(f"vector_store {provider!r}", names))
    return Part(
        settings,
        f"vector_store {provider!r} is not used: memories and vectors are kept in the embedded store, one SQLite file"
        " under `path`",
    )


def _unused(section: str, names: list[str]) -> str | None:
    """Return the sentence about options without effect; None where there are none."""
    if not names:
        return None
    listed = ", ".join(names)
    return f"options of {section}: {listed} have no effect here; leave them out, or see the settings"


def _reranker(section: Any) -> Part:
    if not isinstance(section, Mapping):
        return Part({"reranker": section})
    provider, config = _provider_and_config(section, "reranker", usual="")
    base = config.get("base_url") or _RERANKERS.get(provider)
    if not base:
        return Part({}, f"reranker {provider!r} is not used: there is none; `late` needs no endpoint, see the settings")
    key = provider_key(provider, config.get("api_key"), section="reranker", is_needed=base == _RERANKERS.get(provider))
    named = {
        "reranker": "endpoint",
        "reranker_base_url": base,
        "reranker_api_key": key,
        "reranker_model": config.get("model"),
    }
    return Part({name: value for name, value in named.items() if value is not None})


def _embedder(section: Any) -> Part:
    if not isinstance(section, Mapping):
        return Part({"embedder": section})
    provider, config = _provider_and_config(section, "embedder", usual="auto")
    if provider == "auto":
        return Part({})
    if provider not in _EMBEDDERS:
        return Part({}, f"embedder {provider!r} is not used: the embedded model takes its place (EBBING_EMBEDDER=auto)")
    ours, usual = _EMBEDDERS[provider]
    if usual is None:
        return Part({"embedder": ours})
    base = config.get(f"{provider}_base_url") or config.get("openai_base_url") or config.get("base_url")
    base = str(base or provider_address(provider) or usual).rstrip("/")
    if provider == "ollama" and not base.endswith("/v1"):
        base += "/v1"
    is_needed = base == usual and base.startswith("https:")
    named = {
        "embedder": ours,
        "embedding_base_url": base,
        "embedding_api_key": provider_key(provider, config.get("api_key"), section="embedder", is_needed=is_needed),
        "embedding_model": config.get("model") or _ENDPOINT_MODELS.get(provider),
        "embedding_dim": config.get("embedding_dims"),
        "strict_embeddings": True,  # who names an endpoint hears of it where it cannot be reached
    }
    return Part({name: value for name, value in named.items() if value is not None})


def _llm(section: Any) -> Part:
    return Part({**llm_settings(section), "strict_extraction": True})


def _graph_store(section: Any) -> Part:
    provider = section.get("provider", "") if isinstance(section, Mapping) else section
    config = section.get("config") if isinstance(section, Mapping) else None
    if provider in _GRAPH_SERVERS and isinstance(config, Mapping) and config.get("url"):
        named = {
            "graph_url": config["url"],
            "graph_user": config.get("username"),
            "graph_password": config.get("password"),
            "graph_database": config.get("database"),
        }
        names = {**section, **config}
        unused = [name for name in names.keys() - _GRAPH_SECTION - _GRAPH_OPTIONS if names[name] is not None]
        settings = {name: value for name, value in named.items() if value}
        sentence = _unused(f"graph_store {provider!r}", sorted(unused))
        return Part(settings, sentence)
    return Part({}, f"graph_store {provider!r} is not used: relations are kept in the embedded store")


def _named(setting: str) -> Callable[[Any], Part]:
    return lambda value: Part({setting: value})


_READERS: Final[Mapping[str, Callable[[Any], Part]]] = {
    "vector_store": _store,
    "embedder": _embedder,
    "reranker": _reranker,
    "llm": _llm,
    "graph_store": _graph_store,
    "history_db_path": _named("history_path"),
    "version": _named("api_version"),
    "custom_fact_extraction_prompt": _named("custom_fact_extraction_prompt"),
    "custom_update_memory_prompt": _named("custom_update_memory_prompt"),
    "custom_instructions": _named("custom_instructions"),
}
"""What becomes of each section."""
