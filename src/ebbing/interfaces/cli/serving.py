"""`ebbing serve`: the memory over HTTP."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ebbing.interfaces.cli.session import Store
from ebbing.wiring.doors import serve_http

Host = Annotated[str | None, typer.Option("--host", help="Address to listen on; EBBING_HTTP_HOST or 127.0.0.1.")]
Port = Annotated[
    int | None, typer.Option("--port", help="Port; EBBING_HTTP_PORT or 8830, 0 for any free one.", min=0, max=65_535)
]


def register(app: typer.Typer) -> None:
    """Adds the command of this module to the app."""
    app.command("serve")(serve)


def serve(*, host: Host = None, port: Port = None, path: Store = None) -> None:
    """Answer over HTTP until Ctrl-C; on this machine alone unless credentials are set up."""
    given: dict[str, Any] = {"path": path, "http_host": host, "http_port": port}
    serve_http({name: value for name, value in given.items() if value is not None}, started=_tell)


def _tell(address: str) -> None:
    """The first three requests to try."""
    said = '{"user_id": "emma", "messages": "I moved to Leeds, and I am allergic to peanuts."}'
    asked = '{"user_id": "emma", "query": "她不能吃什么？"}'
    as_json = "-H 'content-type: application/json'"
    typer.echo(f"Ebbing answers at {address} (routes: {address}/docs). Ctrl-C ends it. Try:\n")
    typer.echo(f"  curl {address}/v1/memories {as_json} -d '{said}'")
    typer.echo(f"  curl {address}/v1/memories/search {as_json} -d '{asked}'")
    typer.echo(f"  curl '{address}/v1/memories?user_id=emma'\n")
