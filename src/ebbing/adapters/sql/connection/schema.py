"""Which layout the tables have, and how they get today's: migrations in order, by Alembic."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import URL, Connection, create_engine, inspect
from sqlalchemy.pool import NullPool

from ebbing.adapters.sql.connection.addresses import CONNECT_SECONDS, with_driver
from ebbing.adapters.sql.connection.dialects import LOWEST_VERSIONS, end_turn, server_name, take_turn
from ebbing.adapters.sql.connection.errors import EXPECTED, translated
from ebbing.domain.errors import SchemaError

LAYOUTS: Final = ("0001",)
"""Every layout that this version knows, the newest last: the names of the migrations."""
VERSION_TABLE: Final = "ebbing_layout"
_FIRST: Final = "owner"
"""A table of every layout."""


def open_schema(address: URL) -> None:
    """Make sure that the tables are of today's layout; in an empty database they are made.

    Raises:
        SchemaError: they are of an older layout, of a newer Ebbing, or another program's; or the server is too old.
        StoreError: the server cannot be reached or refuses.
    """
    with _connected(address) as db:
        layout = _layout(db)
        if layout is None:
            _upgrade(db)
        elif layout != LAYOUTS[-1]:
            raise SchemaError(_refusal(layout))


def migrate(address: URL) -> tuple[str | None, str]:
    """Bring the tables to today's layout; the layouts before and after.

    Raises:
        SchemaError: they are of a newer Ebbing, or another program's.
        StoreError: the server cannot be reached or refuses.
    """
    with _connected(address) as db:
        layout = _layout(db)
        if layout is not None and layout not in LAYOUTS:
            raise SchemaError(_refusal(layout))
        if layout != LAYOUTS[-1]:
            _upgrade(db)
        return layout, LAYOUTS[-1]


def server_and_layout(address: URL) -> tuple[str, str]:
    """Return name and version of the server, and the layout of the tables.

    Raises:
        StoreError: the server cannot be reached, or refuses.
    """
    with _connected(address) as db:
        version = ".".join(map(str, db.dialect.server_version_info or ()))
        return f"{server_name(db)} {version}", _layout(db) or "none"


def _refusal(layout: str) -> str:
    if layout in LAYOUTS:
        return (
            f"the store has layout {layout}, and this Ebbing needs {LAYOUTS[-1]}: run `ebbing migrate` once,"
            " after a backup"
        )
    return (
        f"the store has layout {layout}, and this Ebbing knows layouts up to {LAYOUTS[-1]}: install the newer Ebbing"
        " (`ebbing migrate` cannot go back)"
    )


@contextmanager
def _connected(address: URL) -> Iterator[Connection]:
    """A connection of its own, for the short time of opening."""
    try:
        engine = create_engine(
            with_driver(address, blocking=True),
            poolclass=NullPool,
            connect_args={"connect_timeout": CONNECT_SECONDS},
        )
        with engine.connect() as db:
            _refuse_old(db)
            yield db
            db.commit()
    except EXPECTED as error:
        raise translated(error, address) from error


def _refuse_old(db: Connection) -> None:
    name, version = server_name(db), db.dialect.server_version_info or ()
    if version < LOWEST_VERSIONS[name]:
        lowest = ".".join(map(str, LOWEST_VERSIONS[name]))
        raise SchemaError(f"this {name} is too old for a store: it has to be at least version {lowest}")


def _layout(db: Connection) -> str | None:
    """Return the layout of the tables; None where there are none.

    Raises:
        SchemaError: there are tables of ours without a layout: another program's.
    """
    layout = MigrationContext.configure(db, opts={"version_table": VERSION_TABLE}).get_current_revision()
    if layout is None and inspect(db).has_table(_FIRST) and not inspect(db).has_table(VERSION_TABLE):
        raise SchemaError("the database holds tables of another program: name one of its own for Ebbing")
    return layout


def _upgrade(db: Connection) -> None:
    """Run what is missing: on PostgreSQL all or nothing of it; elsewhere what was broken off is taken up again."""
    take_turn(db)
    db.rollback()  # what is read from now on is as whoever had the turn before left it
    try:
        if _layout(db) == LAYOUTS[-1]:
            return  # somebody else was faster
        config = Config()
        config.set_main_option("script_location", str(files("ebbing.adapters.sql") / "migrations"))
        config.attributes["connection"] = db
        command.upgrade(config, LAYOUTS[-1])
        db.commit()
    finally:
        db.rollback()
        end_turn(db)
