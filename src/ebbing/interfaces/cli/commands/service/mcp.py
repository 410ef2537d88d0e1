"""`ebbing mcp`: the memory of one person for hosts of the Model Context Protocol."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ebbing.interfaces.cli.session import Store, User
from ebbing.wiring.optional_extras import serve_mcp, settings_for

Tenant = Annotated[str | None, typer.Option("--tenant", help="Tenant of the user; EBBING_TENANT if not given.")]


class ToolSet(StrEnum):
    """Which tools a host is shown."""

    MINIMAL = "minimal"
    DEFAULT = "default"
    FULL = "full"


Tools = Annotated[ToolSet | None, typer.Option("--tools", help="Which tools; EBBING_MCP_TOOLS if not given.")]


def register(app: typer.Typer) -> None:
    """Adds the command of this module to the app."""
    app.command("mcp")(mcp)


def mcp(*, user: User = None, tenant: Tenant = None, path: Store = None, tools: Tools = None) -> None:
    """Serve one person's memory to an MCP host on standard input and output."""
    options = {"user": user, "tenant": tenant, "path": path, "mcp_tools": tools and tools.value}
    serve_mcp(settings_for({name: value for name, value in options.items() if value is not None}))
