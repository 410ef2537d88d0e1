"""Which paths belong to mem0's routes, whose clients read errors in their own shape."""

from __future__ import annotations

from typing import Final

_PLATFORM: Final = ("/v2/", "/v3/", "/api/v1/")
_OPEN_SOURCE: Final = frozenset({"memories", "search", "entities", "configure", "reset"})


def is_mem0_path(path: str) -> bool:
    """Tell whether mem0's clients call this path: it ends in a slash, or their open-source server has it."""
    if path.startswith(_PLATFORM) or (path.startswith("/v1/") and path.endswith("/")):
        return True
    return path[1:].partition("/")[0] in _OPEN_SOURCE
