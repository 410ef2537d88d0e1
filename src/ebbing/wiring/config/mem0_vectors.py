"""mem0's section `vector_store` in our settings' names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import quote

from ebbing.domain.errors import ConfigurationError

_USED: Final[Mapping[str, frozenset[str]]] = {
    "qdrant": frozenset(
        {
            "url",
            "host",
            "port",
            "https",
            "api_key",
            "collection_name",
        }
    ),
    "milvus": frozenset(
        {
            "url",
            "token",
            "db_name",
            "collection_name",
        }
    ),
    "pgvector": frozenset(
        {
            "connection_string",
            "user",
            "password",
            "host",
            "port",
            "dbname",
            "sslmode",
            "collection_name",
        }
    ),
}
_WITHOUT_EFFECT: Final = frozenset(
    {
        "embedding_model_dims",
        "metric_type",
        "on_disk",
        "path",
        "hnsw",
        "diskann",
        "minconn",
        "maxconn",
    }
)
"""They say how fast a server answers, which our index settles itself; mem0 takes no `path` either beside an address."""
_TLS_MODES: Final = (
    "disable",
    "allow",
    "prefer",
    "require",
    "verify-ca",
    "verify-full",
)
_IPV6: Final = re.compile(r"[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*")
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


def unused_options(provider: str, config: Mapping[str, Any]) -> list[str]:
    """Return the options by which a config says where vectors go or how safely, and which are not used here."""
    names = config.keys() - _USED[provider] - _WITHOUT_EFFECT
    return sorted(name for name in names if config[name] is not None)


def _collection(name: Any) -> str | None:
    """Return a name that every server takes."""
    plain = _NO_LETTER.sub("_", str(name or ""))[:29]
    return plain if not plain or plain[0].isalpha() else f"c{plain}"


def _qdrant(config: Mapping[str, Any]) -> str | None:
    """Return the server's address; a `path` names none, but files of its client."""
    place = config.get("url")
    if not place and config.get("host"):
        place = f"{_host(config['host'])}:{config.get('port') or 6333}"
    if not place or "://" in place:
        return place or None
    # as its client does: a key is sent through TLS unless the config says otherwise
    is_safe = config.get("https")
    if is_safe is None:
        is_safe = bool(config.get("api_key"))
    scheme = "https" if is_safe else "http"
    return f"{scheme}://{place}"


def _milvus(config: Mapping[str, Any]) -> str | None:
    """Return the server's address; a path names none, but a file of Milvus Lite."""
    url, name = str(config.get("url") or ""), config.get("db_name")
    scheme, mark, place = url.partition("://")
    if not mark:
        return None
    if not name:
        return url
    server = place.partition("/")[0]
    return f"{scheme}://{server}/{name}"


def _pgvector(config: Mapping[str, Any]) -> str | None:
    """Return the database's address, which demands TLS where the config does."""
    mode = config.get("sslmode")
    if mode and mode not in _TLS_MODES:
        modes = ", ".join(_TLS_MODES)
        raise ConfigurationError(f"sslmode of pgvector must be one of {modes}")
    if config.get("connection_string"):
        return _with_mode(str(config["connection_string"]), mode)
    if not config.get("user"):
        return None
    user = quote(str(config["user"]), safe="")
    password = f":{quote(str(config['password']), safe='')}" if config.get("password") else ""
    host = _host(config.get("host") or "127.0.0.1")
    port = config.get("port") or 5432
    name = quote(str(config.get("dbname") or "postgres"), safe="")
    address = f"postgresql://{user}{password}@{host}:{port}/{name}"
    return _with_mode(address, mode)


def _with_mode(address: str, mode: str | None) -> str:
    """Return an address of PostgreSQL that demands TLS in this mode: of two modes the last holds."""
    if not mode:
        return address
    if "://" not in address:
        return f"{address} sslmode={mode}"
    _, mark, query = address.partition("?")
    if "@" in query:  # behind a password with a ? in it the mode would be part of the database's name
        raise ConfigurationError(
            "the connection_string of pgvector cannot be read: write ? and @ in the password as %3F and %40"
        )
    sign = "&" if mark else "?"
    return f"{address}{sign}sslmode={mode}"


def _host(name: Any) -> str:
    """Return a host, or the directory of a socket, as an address has it."""
    host = str(name)
    if _IPV6.fullmatch(host):
        return f"[{host}]"
    return quote(host, safe="[]:,")


_ADDRESSES: Final[Mapping[str, Callable[[Mapping[str, Any]], str | None]]] = {
    "qdrant": _qdrant,
    "milvus": _milvus,
    "pgvector": _pgvector,
}
