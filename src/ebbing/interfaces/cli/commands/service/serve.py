"""`ebbing serve`: the memory over HTTP."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ebbing.interfaces.cli.demo import play
from ebbing.interfaces.cli.session import Store
from ebbing.wiring.optional_extras import serve_http, settings_for, store_is_missing

Host = Annotated[str | None, typer.Option("--host", help="Address to listen on; EBBING_HTTP_HOST or 127.0.0.1.")]
Port = Annotated[
    int | None, typer.Option("--port", help="Port; EBBING_HTTP_PORT or 8830, 0 for any free one.", min=0, max=65_535)
]
Demo = Annotated[bool, typer.Option("--demo", help="Serve two invented people, from a store of their own.")]

DEMO_STORE: Final = Path("ebbing-demo")
"""Where the demo's people are kept unless `--path` says otherwise."""
_EXAMPLE_ADD = '{"user_id": "emma", "messages": "I moved to Leeds, and I am allergic to peanuts."}'
_EXAMPLE_SEARCH = '{"user_id": "emma", "query": "她不能吃什么？"}'
_ASKED_DEMO = '{"user_id": "emma", "query": "Which food is dangerous for the little girl?"}'


def register(app: typer.Typer) -> None:
    """Adds the command of this module to the app."""
    app.command("serve")(serve)


def serve(*, host: Host = None, port: Port = None, path: Store = None, demo: Demo = False) -> None:
    """Answer over HTTP until Ctrl-C; on this machine alone unless credentials are set up."""
    options: dict[str, Any] = {"path": path, "http_host": host, "http_port": port}
    options_set = {name: value for name, value in options.items() if value is not None}
    if demo:  # never the store that EBBING_PATH names: it may hold somebody's own memory
        options_set.update(path=path or DEMO_STORE, store="sqlite", history_path=None)
    settings = settings_for(options_set)
    if demo:
        typer.echo(f"Two invented people are kept in a store of their own: {settings.path.absolute()}", err=True)
        play.kept_in(settings.path)
    elif store_is_missing(settings):
        typer.echo(f"ebbing: made a new store in {settings.path.absolute()}", err=True)
    serve_http(
        settings, started=partial(_tell, question=_ASKED_DEMO if demo else _EXAMPLE_SEARCH, console=settings.console)
    )
    typer.echo("Stopped; everything that was accepted is stored.", err=True)


def _tell(address: str, *, is_open: bool, question: str, console: bool) -> None:
    """The first three requests to try."""
    key = "" if is_open else " -H 'authorization: Bearer KEY'"
    as_json = f"{key} -H 'content-type: application/json'"
    pages = f"routes: {address}/docs"
    if console:
        pages = f"console: {address}/, {pages}"
    typer.echo(f"Ebbing answers at {address} ({pages}). Ctrl-C ends it. Try:\n")
    typer.echo(f"  curl {address}/v1/memories{as_json} -d '{_EXAMPLE_ADD}'")
    typer.echo(f"  curl {address}/v1/memories/search{as_json} -d '{question}'")
    typer.echo(f"  curl '{address}/v1/memories?user_id=emma'{key}\n")
