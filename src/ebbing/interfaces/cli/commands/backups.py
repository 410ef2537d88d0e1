"""Commands about the whole store: copies of it, and its layout."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ebbing.interfaces.cli.session import Session, Store, command
from ebbing.wiring.optional_extras import bring_back, migrate_store

Directory = Annotated[Path, typer.Argument(help="Where the copy is, or is to be.", file_okay=False)]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module to the app."""
    backups = typer.Typer(help="Copy the whole store while it is in use, and bring a copy back.", no_args_is_help=True)
    command(backups, "create")(create)
    backups.command("restore")(restore)
    app.add_typer(backups, name="backup")
    app.command("migrate")(migrate)


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
