"""mem0's section `vector_store` in our settings' names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import quote

_NO_LETTER: Final = re.compile(r"[^A-Za-z0-9_]")


def vector_settings(provider: str, config: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the settings of the vector index that a config names; None where it names no server that is known."""
    url = _ADDRESSES[provider](config) if provider in _ADDRESSES else None
    if url is None:
        return None
    named = {
        "vector_index": provider,
        "vector_index_url": url,
        "vector_index_api_key": config.get("api_key") or config.get("token"),
        "vector_index_collection": _collection(config.get("collection_name")),
    }
    return {name: value for name, value in named.items() if value}


def _collection(name: Any) -> str | None:
    """Return a name that every server takes."""
    plain = _NO_LETTER.sub("_", str(name or ""))[:29]
    return plain if not plain or plain[0].isalpha() else f"c{plain}"


def _qdrant(config: Mapping[str, Any]) -> str | None:
    """Return the server's address; a `path` names none, but files of its client."""
    if config.get("url") or not config.get("host"):
        return config.get("url")
    return f"http://{config['host']}:{config.get('port') or 6333}"


def _milvus(config: Mapping[str, Any]) -> str | None:
    """Return the server's address; a path names none, but a file of Milvus Lite."""
    url = str(config.get("url") or "")
    return url if "://" in url else None


def _pgvector(config: Mapping[str, Any]) -> str | None:
    """Return the database's address."""
    if config.get("connection_string"):
        return str(config["connection_string"])
    if not config.get("user"):
        return None
    user = quote(str(config["user"]), safe="")
    password = f":{quote(str(config['password']), safe='')}" if config.get("password") else ""
    host, port = config.get("host") or "127.0.0.1", config.get("port") or 5432
    return f"postgresql://{user}{password}@{host}:{port}/{config.get('dbname') or 'postgres'}"


_ADDRESSES: Final[Mapping[str, Callable[[Mapping[str, Any]], str | None]]] = {
    "qdrant": _qdrant,
    "milvus": _milvus,
    "pgvector": _pgvector,
}
