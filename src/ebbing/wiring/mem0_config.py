"""mem0's configuration dict in our settings' names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ebbing.domain.errors import ConfigurationError
from ebbing.wiring.mem0_llm import llm_settings

_MEM0_SECTIONS: Final = {
    *("vector_store", "llm", "embedder", "reranker", "graph_store", "history_db_path", "version"),
    *("custom_fact_extraction_prompt", "custom_update_memory_prompt", "custom_instructions"),
}
_EMBEDDED: Final = {"sqlite", "ebbing", "qdrant", "chroma", "faiss"}
"""Local vector stores whose place the embedded store takes."""
_EMBEDDERS: Final = {
    "openai": "openai",
    "lmstudio": "openai",
    "ollama": "openai",
    "e5": "e5",
    "use": "use",
    "none": "none",
}
_RERANKERS: Final = {
    "cohere": "https://api.cohere.com/v2",
    "jina": "https://api.jina.ai/v1",
    "voyage": "https://api.voyageai.com/v1",
}


def from_mem0(config: Mapping[str, Any]) -> dict[str, Any]:
    """Our settings for a config in mem0's shape; keys in our own names pass through.

    Sections that name what this build does not use (`llm`, `graph_store`, …) are refused rather than ignored, so that
    nobody believes they work.

    Raises:
        ConfigurationError: a section that cannot be honoured.
    """
    settings = {key: value for key, value in config.items() if key not in _MEM0_SECTIONS}
    for section, read in _READERS.items():
        if config.get(section):
            settings.update(read(config[section]))
    for section in sorted(_MEM0_SECTIONS - _READERS.keys()):
        if config.get(section):
            raise ConfigurationError(f"{section} is not supported yet: leave it out")
    return settings


def _store(section: Mapping[str, Any]) -> dict[str, Any]:
    provider = section.get("provider", "sqlite")
    if provider not in _EMBEDDED:
        raise ConfigurationError(f"vector_store provider {provider!r} is not supported: use 'sqlite' with a path")
    path = (section.get("config") or {}).get("path")
    return {"path": path} if path else {}


def _reranker(section: Any) -> dict[str, Any]:
    if not isinstance(section, Mapping):
        return {"reranker": section}
    provider = str(section.get("provider", ""))
    config = section.get("config") or {}
    base = config.get("base_url") or _RERANKERS.get(provider)
    if not base:
        known = ", ".join(sorted(_RERANKERS))
        raise ConfigurationError(f"reranker provider {provider!r} is not supported: {known}, or give a base_url")
    named = {
        "reranker": "endpoint",
        "reranker_base_url": base,
        "reranker_api_key": config.get("api_key"),
        "reranker_model": config.get("model"),
    }
    return {key: value for key, value in named.items() if value is not None}


def _embedder(section: Any) -> dict[str, Any]:
    if not isinstance(section, Mapping):
        return {"embedder": section}
    provider = str(section.get("provider", "auto"))
    config = section.get("config") or {}
    if provider == "auto":
        return {}
    if provider not in _EMBEDDERS:
        raise ConfigurationError(f"embedder provider {provider!r} is not supported: one of {sorted(_EMBEDDERS)}")
    base = config.get("openai_base_url") or config.get("lmstudio_base_url") or config.get("ollama_base_url")
    if provider == "openai" and not base:
        base = "https://api.openai.com/v1"
    named = {
        "embedder": _EMBEDDERS[provider],
        "embedding_base_url": base,
        "embedding_api_key": config.get("api_key"),
        "embedding_model": config.get("model"),
        "embedding_dim": config.get("embedding_dims"),
    }
    return {key: value for key, value in named.items() if value is not None}


def _named(setting: str) -> Callable[[Any], dict[str, Any]]:
    return lambda value: {setting: value}


_READERS: Final[Mapping[str, Callable[[Any], dict[str, Any]]]] = {
    "vector_store": _store,
    "embedder": _embedder,
    "reranker": _reranker,
    "llm": llm_settings,
    "history_db_path": _named("history_path"),
    "version": _named("api_version"),
    "custom_fact_extraction_prompt": _named("custom_fact_extraction_prompt"),
    "custom_update_memory_prompt": _named("custom_update_memory_prompt"),
}
"""What becomes of each section."""
