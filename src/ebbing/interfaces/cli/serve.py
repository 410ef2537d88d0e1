"""`ebbing serve`: the memory over HTTP."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import typer

from ebbing.domain.errors import InvalidInputError
from ebbing.interfaces.cli.demo import play
from ebbing.interfaces.cli.session import Store
from ebbing.wiring.optional_extras import serve_http, settings_for

Host = Annotated[str | None, typer.Option("--host", help="Address to listen on; EBBING_HTTP_HOST or 127.0.0.1.")]
Port = Annotated[
    int | None, typer.Option("--port", help="Port; EBBING_HTTP_PORT or 8830, 0 for any free one.", min=0, max=65_535)
]
Demo = Annotated[bool, typer.Option("--demo", help="Keep the demo's two conversations first, to ask about.")]

_SAID = '{"user_id": "emma", "messages": "I moved to Leeds, and I am allergic to peanuts."}'
_ASKED = '{"user_id": "emma", "query": "她不能吃什么？"}'
_ASKED_DEMO = '{"user_id": "emma", "query": "Which food is dangerous for the little girl?"}'


def register(app: typer.Typer) -> None:
    """Adds the command of this module to the app."""
    app.command("serve")(serve)


def serve(*, host: Host = None, port: Port = None, path: Store = None, demo: Demo = False) -> None:
    """Answer over HTTP until Ctrl-C; on this machine alone unless credentials are set up."""
    given: dict[str, Any] = {"path": path, "http_host": host, "http_port": port}
    settings = settings_for({name: value for name, value in given.items() if value is not None})
    if demo:
        if settings.store != "sqlite":
            raise InvalidInputError("--demo keeps its conversations in a file: leave EBBING_STORE out")
        typer.echo(f"Keeping the demo's conversations in {settings.path} …", err=True)
        play.kept_in(settings.path)
    serve_http(settings, started=partial(_tell, asked=_ASKED_DEMO if demo else _ASKED))
    typer.echo("Stopped; everything that was accepted is stored.", err=True)


def _tell(address: str, *, is_open: bool, asked: str) -> None:
    """The first three requests to try."""
    key = "" if is_open else " -H 'authorization: Bearer KEY'"
    as_json = f"{key} -H 'content-type: application/json'"
    typer.echo(f"Ebbing answers at {address} (routes: {address}/docs). Ctrl-C ends it. Try:\n")
    typer.echo(f"  curl {address}/v1/memories{as_json} -d '{_SAID}'")
    typer.echo(f"  curl {address}/v1/memories/search{as_json} -d '{asked}'")
    typer.echo(f"  curl '{address}/v1/memories?user_id=emma'{key}\n")
