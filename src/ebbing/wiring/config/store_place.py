"""Where the memories are kept: in a directory of this machine, or in a database on a server."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

_ADDRESS: Final = re.compile(r"(postgresql|postgres|mysql|mariadb)(\+\w+)?:/{1,2}([^/].*)")
"""One slash is enough: whoever took the address for a path has lost the other one."""
_PASSWORD: Final = re.compile(r"(://[^:/@]*):[^/]*@")
EXTRAS: Final = {"postgresql": "postgres", "postgres": "postgres", "mysql": "mysql", "mariadb": "mysql"}
"""By the scheme of an address, the extra that brings its drivers."""


def address_in(text: str | Path) -> str | None:
    """Return the address of a database server, if the text is one."""
    match = _ADDRESS.fullmatch(str(text))
    return f"{match[1]}://{match[3]}" if match else None


def store_settings(path: str | Path) -> dict[str, Any]:
    """Return the settings for a store at a path, or at an address that was given as one."""
    address = address_in(path)
    return {"path": Path(path)} if address is None else {"store": address}


def without_password(address: str) -> str:
    """Return an address as people may see it."""
    return _PASSWORD.sub(r"\1:***@", address)


def redis_place(address: str) -> str | None:
    """Return where a Redis is, as people may see it: scheme, host, port, database; None for what is no such address."""
    try:
        parts = urlsplit(address)
        port = parts.port or 6379
    except ValueError:  # its text may hold the password
        return None
    if parts.scheme not in {"redis", "rediss"} or not parts.hostname or not re.fullmatch(r"(/\d*)?", parts.path):
        return None
    return f"{parts.scheme}://{parts.hostname}:{port}{parts.path}"
