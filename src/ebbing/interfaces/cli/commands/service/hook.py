"""`ebbing hook`: what a host runs at moments of a conversation."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ebbing.interfaces.cli.session import User
from ebbing.wiring.entry import run_hook


class Hook(StrEnum):
    """The moments."""

    SESSION_START = "session-start"
    PROMPT = "prompt"
    STOP = "stop"
    PRE_COMPACT = "pre-compact"
    SESSION_END = "session-end"


Service = Annotated[str | None, typer.Option("--service", help="Address of the service; found by itself if it runs.")]
StorePath = Annotated[Path | None, typer.Option("--path", help="Directory of the memory; EBBING_PATH if not given.")]
Seconds = Annotated[float | None, typer.Option("--seconds", help="How long it may take; 15 if not given.")]


def register(app: typer.Typer) -> None:
    """Adds the command of this module to the app."""
    app.command("hook")(hook)


def hook(
    hook: Annotated[Hook, typer.Argument(help="The moment that the host is at.")],
    *,
    user: User = None,
    path: StorePath = None,
    service: Service = None,
    seconds: Seconds = None,
) -> None:
    """Recall or remember for a host, which writes JSON on standard input; it never fails the host."""
    options = {"--user": user, "--path": path, "--service": service, "--seconds": seconds}
    named = [text for name, value in options.items() if value is not None for text in (name, str(value))]
    run_hook([hook.value, *named])
