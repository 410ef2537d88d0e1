"""Setting names of earlier hosts (`MEM0_*`, `MEMORY_*`): each sets what it set there, or says what takes its place."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

SAME_MEANING: Final[Mapping[str, str]] = {
    "MEM0_SERVICE_HOST": "http_host",
    "MEM0_SERVICE_PORT": "http_port",
    "MEM0_API_KEY": "service_api_key",
    "MEM0_JWT_SECRET": "jwt_key",
    "MEM0_JWT_ALGORITHMS": "jwt_algorithms",
    "MEM0_USER_ID_HEADER": "trusted_header",
    "MEM0_STRICT_EMBEDDINGS": "strict_embeddings",
    "MEM0_EMBEDDING_DIM": "embedding_dim",
    "MEM0_ENABLE_TTL": "expire_by_type",
    "MEM0_OPENAI_BASE_URL": "embedding_base_url",
    "MEM0_OPENAI_API_KEY": "embedding_api_key",
    "MEM0_OPENAI_EMBEDDINGS_MODEL": "embedding_model",
    "OPENAI_EMBEDDINGS_MODEL": "embedding_model",
    "EMBEDDING_API_KEY": "embedding_api_key",
    "LLM_API_KEY": "llm_api_key",
    "MEMORY_WRITE_MODE": "write_mode",
    "MEMORY_WRITE_CONFIDENCE_THRESHOLD": "write_confidence_threshold",
    "LOG_LEVEL": "log_level",
}
"""Earlier name → the setting that takes its value; where two name one setting, the first that is set wins."""

_EMBEDDED_ONLY: Final = "the embedded store under EBBING_PATH is used"
SUPERSEDED: Final[Mapping[str, str]] = {
    "MEM0_PG_DSN": "set EBBING_STORE to the address of a PostgreSQL database of its own",
    "MEM0_MILVUS_HOST": f"Milvus is not supported yet: {_EMBEDDED_ONLY}",
    "MEM0_MILVUS_PORT": f"Milvus is not supported yet: {_EMBEDDED_ONLY}",
    "MEM0_MILVUS_COLLECTION": f"Milvus is not supported yet: {_EMBEDDED_ONLY}",
    "QDRANT_HOST": f"Qdrant is not supported yet: {_EMBEDDED_ONLY}",
    "QDRANT_PORT": f"Qdrant is not supported yet: {_EMBEDDED_ONLY}",
    "REDIS_URL": "Redis is not supported yet: sessions live in the process, jobs in the embedded store",
    "MEM0_TRUST_REQUEST_USER_ID": "a credential that names a user always wins over the request; a tenant's key may "
    "name any user",
    "MEM0_MAX_TEXT_CHARS": "a longer text is cut on the edge of a sentence at 4,000 characters, and the rest is kept "
    "as further parts",
    "MEM0_DEFAULT_LIMIT": "each search names its own `top_k` (5 where it names none)",
    "MEM0_MAX_LIMIT": "`top_k` is at most 50",
    "MEM0_DEFAULT_TTL_DAYS": "with EBBING_EXPIRE_BY_TYPE each type of memory expires after its own time, else after "
    "90 days",
    "MEMORY_WRITE_DEDUPLICATE": "what is known already is never stored twice",
}
"""Earlier name → what takes its place, for those that have no setting here."""

HOST_NAMES: Final = frozenset(
    {
        *("MEM0_BASE_URL", "MEM0_TIMEOUT_S", "MEM0_SEARCH_PATH", "MEM0_ADD_PATH", "MEMORY_RECALL_TIMEOUT_S"),
        *("MEMORY_ENABLE", "MEMORY_TOP_K", "MEMORY_MIN_SCORE", "MEMORY_MAX_CHARS", "MEMORY_WRITE_ENABLE"),
    }
)
"""Earlier names that the host kit reads (`wiring.config.client_settings`)."""
_VECTOR_BACKENDS: Final = {"none": "none"}
_LOG_LEVELS: Final = frozenset({"debug", "info", "warning", "error"})
_ENDPOINT: Final = frozenset({"embedding_base_url", "embedding_model"})


def earlier_settings() -> dict[str, Any]:
    """Return the settings that earlier names give, without those that `EBBING_<NAME>` gives as well."""
    settings: dict[str, Any] = {}
    for name, setting in SAME_MEANING.items():
        if value := _value(name):
            settings.setdefault(setting, value)
    if settings.keys() >= _ENDPOINT:
        settings["embedder"] = "openai"
    if _value("MEM0_AUTH_MODE") == "jwt":
        shared_secret = settings.pop("service_api_key", None)
        settings |= {"auth_mode": "required", "jwt_key": settings.get("jwt_key", shared_secret)}
    if backend := _VECTOR_BACKENDS.get(_value("MEM0_VECTOR_BACKEND")):
        settings["embedder"] = backend
    return {name: value for name, value in settings.items() if f"EBBING_{name.upper()}" not in os.environ}


def superseded_names() -> list[str]:
    """Return a sentence for each earlier name that is set and has no setting here: what takes its place.

    Values are never part of it.
    """
    sentences = [f"{name} has no effect: {instead}" for name, instead in SUPERSEDED.items() if _value(name)]
    backend = _value("MEM0_VECTOR_BACKEND")
    if backend and backend not in _VECTOR_BACKENDS:
        sentences.append(f"MEM0_VECTOR_BACKEND has no effect: {_EMBEDDED_ONLY}; only `none` is known here")
    return sentences


def _value(name: str) -> str:
    """Return what the environment says, and nothing where another program's `LOG_LEVEL` is none of ours."""
    value = os.environ.get(name, "").strip()
    if name == "LOG_LEVEL":
        return value.lower() if value.lower() in _LOG_LEVELS else ""
    return value
