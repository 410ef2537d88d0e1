"""Long-term memory for AI assistants: stores what matters, lets the rest fade, and explains both."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ebbing import errors, results
    from ebbing.api.admin.move import move
    from ebbing.api.sessions.session import AsyncSession
    from ebbing.api.threads.blocking import Session
    from ebbing.memory import AsyncMemory
    from ebbing.ports.event_bus import MemoryEvent
    from ebbing.recall.recall_settings import RecallSettings
    from ebbing.sync import Memory

__version__ = "0.2.0"
__all__ = [
    "AsyncMemory",
    "AsyncSession",
    "Memory",
    "MemoryEvent",
    "RecallSettings",
    "Session",
    "__version__",
    "errors",
    "move",
    "results",
]

_HOMES = {
    "AsyncMemory": "ebbing.memory",
    "AsyncSession": "ebbing.api.sessions.session",
    "Memory": "ebbing.sync",
    "MemoryEvent": "ebbing.ports.event_bus",
    "RecallSettings": "ebbing.recall.recall_settings",
    "Session": "ebbing.api.threads.blocking",
    "move": "ebbing.api.admin.move",
}
_MODULES = ("errors", "results")


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that `import ebbing` costs nothing."""
    if name in _MODULES:
        return import_module(f"ebbing.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
