"""Which layout the tables have, and how they get today's: migrations in order, by Alembic."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import URL, Connection, create_engine, inspect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from ebbing.adapters.sql.connection.addresses import CONNECT_SECONDS, shown, with_driver
from ebbing.adapters.sql.connection.dialects import (
    LOWEST_VERSIONS,
    end_turn,
    read_timeout,
    server_name,
    take_turn,
    time_limit,
)
from ebbing.adapters.sql.connection.errors import EXPECTED, translated, was_in_the_way
from ebbing.adapters.sql.connection.row_security import (
    PROTECTED,
    check,
    count_policies,
    put_policies,
    see_everything,
)
from ebbing.domain.errors import SchemaError, StoreNotFoundError

LAYOUTS: Final = ("0001", "0002", "0003", "0004")
"""Every layout that this version knows, the newest last: the names of the migrations."""
VERSION_TABLE: Final = "ebbing_layout"
OPEN_SECONDS: Final = 30.0
"""How long a server may take to let a store be opened, or to say its version."""
MOVING: Final = "moving "
"""Stands before the layout while another store is being moved into the tables: nobody can open them until the end."""
_ATTEMPTS: Final = 8
"""Of a migration, or a look at the layout, that others were in the way of."""
_BETWEEN_SECONDS: Final = 0.2
_FIRST: Final = "owner"
"""A table of every layout."""


def open_schema(address: URL, *, seconds: float = OPEN_SECONDS, row_security: bool = False) -> None:
    """Make sure that the tables are of today's layout; in an empty database they are made.

    Args:
        address: of the database.
        seconds: how long the server may take for all of it.
        row_security: whether the tables have policies for their rows.

    Raises:
        ConfigurationError: there can be no row security.
        SchemaError: they are of an older layout, of a newer Ebbing, or another program's; or the server is too old.
        StoreError: the server cannot be reached or refuses.
    """
    with _connected(address, seconds=seconds) as db:
        layout = _settled_layout(db)
        if layout in LAYOUTS[:-1]:
            layout = _layout_in_turn(db)
        if layout is None:
            _upgrade(db, row_security=row_security)
        elif layout != LAYOUTS[-1]:
            raise SchemaError(_refusal(layout))
        check(db, is_on=row_security)


def migrate(address: URL, *, row_security: bool = False) -> tuple[str | None, str]:
    """Bring the tables to today's layout, and their policies to what is asked for; the layouts before and after.

    Raises:
        ConfigurationError: there can be no row security.
        SchemaError: they are of a newer Ebbing, or another program's.
        StoreError: the server cannot be reached or refuses.
    """
    with _connected(address) as db:
        layout = _layout(db)
        if layout is not None and layout not in LAYOUTS:
            raise SchemaError(_refusal(layout))
        _upgrade(db, row_security=row_security)
        return layout, LAYOUTS[-1]


def expect_schema(address: URL) -> None:
    """Make sure that the tables are there, and of today's layout.

    Raises:
        StoreNotFoundError: the database is empty.
        SchemaError: they are of an older layout, of a newer Ebbing, or another program's; or the server is too old.
        StoreError: the server cannot be reached or refuses.
    """
    layout = layout_at(address)
    if layout is None:
        raise StoreNotFoundError(f"there is no store at {shown(address)}: check the name of the database")
    if layout != LAYOUTS[-1]:
        raise SchemaError(_refusal(layout))


def layout_at(address: URL) -> str | None:
    """Return the layout of the tables at an address; None where there are none.

    Raises:
        SchemaError: there are tables of another program; or the server is too old.
        StoreError: the server cannot be reached or refuses.
    """
    with _connected(address, seconds=OPEN_SECONDS) as db:
        return _layout(db)


def server_and_layout(address: URL) -> tuple[str, str]:
    """Return name and version of the server, and the layout of the tables.

    Raises:
        StoreError: the server cannot be reached, or refuses.
    """
    with _connected(address, seconds=OPEN_SECONDS) as db:
        version = ".".join(map(str, db.dialect.server_version_info or ()))
        return f"{server_name(db)} {version}", _layout(db) or "none"


def _refusal(layout: str) -> str:
    if layout.startswith(MOVING):
        return "another store is being moved here: repeat the same `ebbing move`, which goes on where it was stopped"
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
def _connected(address: URL, *, seconds: float | None = None) -> Iterator[Connection]:
    """A connection of its own, which is lost after some seconds; None for as long as it takes."""
    options = {"connect_timeout": CONNECT_SECONDS, **read_timeout(address, seconds)}
    try:
        engine = create_engine(with_driver(address, blocking=True), poolclass=NullPool, connect_args=options)
        with time_limit(engine, seconds), engine.connect() as db:
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


def _settled_layout(db: Connection) -> str | None:
    """Return the layout; MariaDB refuses to describe a table that another replica is just making, so ask again."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return _layout(db)
        except DBAPIError as error:
            if attempt == _ATTEMPTS or not was_in_the_way(error):
                raise
            db.rollback()
            time.sleep(_BETWEEN_SECONDS)
    raise AssertionError("the loop returns")


def _layout_in_turn(db: Connection) -> str | None:
    """Return the layout once nobody changes the tables: while MariaDB makes new ones, they look like older ones."""
    take_turn(db)
    try:
        db.rollback()
        return _layout(db)
    finally:
        db.rollback()
        end_turn(db)


def _upgrade(db: Connection, *, row_security: bool) -> None:
    """Run what is missing: on PostgreSQL all or nothing of it; elsewhere what was broken off is taken up again.

    Where replicas are at work, their locks and those of a migration may be in each other's way: then it begins anew.
    """
    take_turn(db)
    db.rollback()  # what is read from now on is as whoever had the turn before left it
    try:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                _run_missing(db, row_security=row_security)
                break
            except DBAPIError as error:
                if attempt == _ATTEMPTS or not was_in_the_way(error):
                    raise
                db.rollback()
    finally:
        db.rollback()
        end_turn(db)


def _run_missing(db: Connection, *, row_security: bool) -> None:
    is_old = _layout(db) != LAYOUTS[-1]  # else somebody else was faster
    if is_old:
        config = Config()
        config.set_main_option("script_location", str(files("ebbing.adapters.sql") / "migrations"))
        config.attributes["connection"] = db
        see_everything(db)
        command.upgrade(config, LAYOUTS[-1])
    if (is_old and row_security) or count_policies(db) != (len(PROTECTED) if row_security else 0):
        put_policies(db, is_on=row_security)
    db.commit()
