"""The routes that the clients of mem0 call."""

from __future__ import annotations

from typing import Final

from ebbing.interfaces.http.mem0.routes import entities, events, memories, open_source, profiles, projects, webhooks

ROUTERS: Final = tuple(
    module.router for module in (memories, entities, events, projects, profiles, webhooks, open_source)
)
"""In the order in which paths are looked for."""
