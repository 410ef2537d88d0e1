"""Commands about the whole store: copies of it, and its layout."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

import ebbing
from ebbing.interfaces.cli.output import Screen
from ebbing.interfaces.cli.session import Json, Session, Store, command
from ebbing.wiring.optional_extras import bring_back, migrate_store

if TYPE_CHECKING:
    from ebbing.api.admin.move import MoveResult

Place = Annotated[str, typer.Option("--from", help="Directory, or address of a database: the store as it is.")]
NewPlace = Annotated[str, typer.Option("--to", help="Directory without a store, or address of an empty database.")]
CompareOnly = Annotated[bool, typer.Option("--compare", help="Move nothing: say whether both hold the same.")]
Directory = Annotated[Path, typer.Argument(help="Where the copy is, or is to be.", file_okay=False)]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module to the app."""
    backups = typer.Typer(help="Copy the whole store while it is in use, and bring a copy back.", no_args_is_help=True)
    command(backups, "create")(create)
    backups.command("restore")(restore)
    app.add_typer(backups, name="backup")
    app.command("migrate")(migrate)
    app.command("move")(move)


def create(session: Session, directory: Directory) -> None:
    """Copy everything, of all tenants, into a new or empty directory; others may go on meanwhile."""
    done = session.memory.maintenance.backup(directory)
    if session.screen.as_json:
        session.screen.emit(done)
    else:
        session.screen.say(f"{done['bytes'] / 2**20:,.1f} MiB are copied and checked")


def restore(directory: Directory, *, path: Store = None) -> None:
    """Make a store of a copy, where there is none yet (--path, or EBBING_PATH)."""
    place = bring_back(directory, path)
    typer.echo(f"the store is back in {place}")


def migrate(*, path: Store = None) -> None:
    """Bring the tables of a store on a database server to the layout of this version; make a backup first."""
    before, after, place = migrate_store(path)
    if after is None:
        typer.echo(f"the store in {place} is brought up to date whenever it is opened: there is nothing to do")
    elif before == after:
        typer.echo(f"the store at {place} has layout {after}: there is nothing to do")
    else:
        typer.echo(f"the store at {place} has layout {after} now" + (f"; it had {before}" if before else ""))


def move(*, source: Place, target: NewPlace, compare_only: CompareOnly = False, as_json: Json = False) -> None:
    """Move the whole store into another place, of any kind, and compare both ends; the store itself stays as it is.

    The same command again goes on where one was stopped.
    """
    screen = Screen(as_json=as_json)
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=screen.aside,
        transient=True,
    ) as shown:
        tasks: dict[str, TaskID] = {}

        def show(step: str, *, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = shown.add_task(f"{step} rows", total=total)
            shown.update(tasks[step], completed=done, total=total)

        result = ebbing.move(source, target, compare_only=compare_only, on_progress=show)
    if as_json:
        screen.emit({**asdict(result), "is_equal": result.is_equal})
    else:
        _say(screen, result)
    if not result.is_equal:
        raise typer.Exit(1)


def _say(screen: Screen, result: MoveResult) -> None:
    for table in result.tables:
        if not table.is_equal:
            screen.say(f"{table.table}: {table.rows:,} rows here and {table.target_rows:,} there are not the same")
    rows = sum(table.rows for table in result.tables)
    if result.is_equal:
        screen.say(
            f"{result.source} and {result.target} hold the same {rows:,} rows; {result.moved_rows:,} were moved now"
        )
    else:
        screen.say(f"{result.source} and {result.target} do not hold the same")
    for note in result.notes:
        screen.note(note)
