"""Long-term memory for AI assistants: remembers what matters, lets the rest fade, and says why."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ebbing.memory import AsyncMemory
    from ebbing.sync import Memory

__version__ = "0.1.0"
__all__ = ["AsyncMemory", "Memory", "__version__"]

_HOMES = {"AsyncMemory": "ebbing.memory", "Memory": "ebbing.sync"}


def __getattr__(name: str) -> Any:
    """Loads a public name when it is first asked for, so that `import ebbing` costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
