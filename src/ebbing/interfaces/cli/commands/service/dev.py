"""Commands for who builds on Ebbing: `ebbing dev fake-llm`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ebbing.testing.models.fake_llm import FakeLlm
from ebbing.testing.models.fake_llm_script import Rule, rules_from_toml

Script = Annotated[Path | None, typer.Option("--script", help="TOML file with [[rule]] tables: when, answer, fault.")]
Port = Annotated[int, typer.Option("--port", help="Port on 127.0.0.1; 0 for any free one.", min=0, max=65_535)]
Key = Annotated[str | None, typer.Option("--key", help="Turn away requests without this key.")]
Refuses = Annotated[
    list[str] | None, typer.Option("--refuses", help="A field or type of response_format to refuse; repeatable.")
]


def register(app: typer.Typer) -> None:
    """Adds the group `dev` to the app."""
    group = typer.Typer(help="For who builds on Ebbing.", no_args_is_help=True, pretty_exceptions_enable=False)
    group.command("fake-llm")(fake_llm)
    group.callback()(_group)
    app.add_typer(group, name="dev")


def fake_llm(*, script: Script = None, port: Port = 8_900, key: Key = None, refuses: Refuses = None) -> None:
    """Serve a scripted language model on this machine, with every fault that a real one has."""
    rules: list[Rule] = [] if script is None else rules_from_toml(script.read_text("utf-8"))
    llm = FakeLlm(rules, port=port, api_key=key, refuses=refuses or ())
    typer.echo(f"{llm.url} answers by {len(rules)} rules; Ctrl-C ends it", err=True)
    try:
        llm.serve_forever()
    except KeyboardInterrupt:
        typer.echo(f"{len(llm.requests)} requests were answered", err=True)


def _group() -> None:
    """For who builds on Ebbing."""
