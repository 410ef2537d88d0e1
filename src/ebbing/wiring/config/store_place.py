"""Where the memories are kept: in a directory of this machine, or in a database on a server."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from ebbing.privacy.addresses import without_password

_ADDRESS: Final = re.compile(r"(postgresql|postgres|mysql|mariadb)(\+\w+)?:/{1,2}([^/].*)", re.IGNORECASE | re.DOTALL)
"""One slash is enough: whoever took the address for a path has lost the other one."""
EXTRAS: Final = {"postgresql": "postgres", "postgres": "postgres", "mysql": "mysql", "mariadb": "mysql"}
"""By the scheme of an address, the extra that brings its drivers."""


def address_in(text: str | Path) -> str | None:
    """Return the address of a database server, if the text is one."""
    match = _ADDRESS.fullmatch(str(text).strip())
    return f"{match[1].lower()}://{match[3]}" if match else None


def store_settings(path: str | Path) -> dict[str, Any]:
    """Return the settings for a store at a path, or at an address that was given as one."""
    address = address_in(path)
    return {"path": Path(path)} if address is None else {"store": address}


def redis_place(address: str) -> str | None:
    """Return where a Redis is, as people may see it: scheme, host, port, database; None for what is no such address."""
    try:
        parts = urlsplit(address)
        is_usable = parts.port != 0 and bool(parts.hostname)
    except ValueError:  # its text may hold the password
        return None
    if parts.scheme not in {"redis", "rediss"} or not is_usable or not re.fullmatch(r"(/\d*)?", parts.path):
        return None
    return without_password(address)
