"""The command line: `ebbing`."""

from __future__ import annotations

import gc
import io
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, Final

import typer
from typer.main import get_command

import ebbing
from ebbing.interfaces.cli.commands import changes, graph, identities, merges, profile, read, transfer, write
from ebbing.interfaces.cli.commands.service import connect, dev, hook, keys, mcp, serve
from ebbing.interfaces.cli.commands.store import backups, health, upkeep
from ebbing.interfaces.cli.demo import play
from ebbing.interfaces.cli.errors import FAILED, INTERRUPTED, OK, exit_of

_YOUNG: Final = 50_000
"""New objects after which Python looks for garbage: a tenth of the time of a command, and what it loads stays."""

app = typer.Typer(
    name="ebbing",
    help="Long-term memory for AI assistants: remembers what matters, lets the rest fade, says why.",
    add_completion=False,
    pretty_exceptions_enable=False,
)
for room in (
    play,
    write,
    read,
    transfer,
    profile,
    identities,
    graph,
    health,
    upkeep,
    changes,
    merges,
    backups,
    serve,
    mcp,
    hook,
    connect,
    keys,
    dev,
):
    room.register(app)


def _tell_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(ebbing.__version__)
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Show the version and stop.")
    ] = False,
    with_traceback: Annotated[bool, typer.Option("--traceback", help="Show where an error came from.")] = False,
) -> None:
    del version  # told already
    context.obj["traceback"] = with_traceback


def run(arguments: Sequence[str]) -> int:
    """Runs one command and gives its exit code: 0 done, 1 an error or a finding, 2 the command was not put right,
    130 stopped by Ctrl-C."""
    flags: dict[str, bool] = {}
    try:
        code = get_command(app).main(
            args=list(arguments) or ["--help"], prog_name="ebbing", obj=flags, standalone_mode=False
        )
    except typer.Abort as stop:
        if isinstance(stop.__cause__ or stop.__context__, KeyboardInterrupt):
            sys.stderr.write("ebbing: stopped by Ctrl-C; what was finished before is stored\n")
            return INTERRUPTED
        sys.stderr.write("ebbing: stopped, nothing was changed\n")
        return FAILED
    except Exception as error:  # the outermost door: whatever went wrong becomes one line and an exit code
        if flags.get("traceback"):
            traceback.print_exc()
        code, line = exit_of(error)
        sys.stderr.write(f"ebbing: {line}\n")
    return code if isinstance(code, int) else OK


def main() -> None:
    """The entry point of the `ebbing` command."""
    gc.set_threshold(_YOUNG)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    sys.exit(run(sys.argv[1:]))
