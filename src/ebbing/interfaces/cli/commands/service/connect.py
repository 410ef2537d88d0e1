"""`ebbing connect` and `ebbing disconnect`: one command connects an agent."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ebbing.interfaces.cli.session import User
from ebbing.wiring.config.host_files import login_name, usual_store
from ebbing.wiring.optional_extras import connect_host, disconnect_host, settings_for


class Host(StrEnum):
    """The hosts."""

    CLAUDE_CODE = "claude-code"
    CLAUDE_DESKTOP = "claude-desktop"
    CURSOR = "cursor"
    VSCODE = "vscode"
    CODEX = "codex"
    OPENCLAW = "openclaw"
    HERMES = "hermes"


HostArgument = Annotated[Host, typer.Argument(help="The program to connect.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be written, and write nothing.")]
Hooks = Annotated[bool, typer.Option("--hooks/--no-hooks", help="Hooks too, where the host has them.")]
StorePath = Annotated[
    Path | None, typer.Option("--path", help="Directory of the memory; EBBING_PATH or ~/.ebbing if not given.")
]
Tools = Annotated[str | None, typer.Option("--tools", help="minimal, default or full.")]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module to the app."""
    app.command("connect")(connect)
    app.command("disconnect")(disconnect)


def connect(
    host: HostArgument,
    *,
    user: User = None,
    path: StorePath = None,
    tools: Tools = None,
    hooks: Hooks = True,
    dry_run: DryRun = False,
) -> None:
    """Give a host this memory: its configuration gets the MCP server, and hooks where it has them."""
    settings = settings_for({} if tools is None else {"mcp_tools": tools})
    store = path or (settings.path if "path" in settings.model_fields_set else usual_store())
    name = user or settings.user or login_name()
    changes, next_step = connect_host(
        host.value, user=name, path=store.absolute(), tools=tools, with_hooks=hooks, dry_run=dry_run
    )
    typer.echo(f"The memory of {name} in {store.absolute()}")
    _show(changes, verb="would get" if dry_run else "got", next_step=None if dry_run else next_step)


def disconnect(host: HostArgument, *, dry_run: DryRun = False) -> None:
    """Take what `connect` wrote out of a host's configuration; the memory itself stays."""
    changes, next_step = disconnect_host(host.value, dry_run=dry_run)
    if not changes:
        typer.echo("Nothing of ours is there.")
    _show(changes, verb="would lose" if dry_run else "lost", next_step=None if dry_run or not changes else next_step)


def _show(changes: Sequence[tuple[Path, str, Path | None]], *, verb: str, next_step: str | None) -> None:
    for path, content, backup in changes:
        typer.echo(f"{path} {verb} {content}")
        if backup is not None:
            typer.echo(f"  what it was: {backup}")
    if next_step:
        typer.echo(f"Next: {next_step}")
