"""The layout of the file and how an older one becomes today's: numbered migrations, all or none."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from sqlite3 import Connection
from typing import Final

from ebbing.domain.errors import SchemaError

APPLICATION_ID: Final = 0x45626233
"""Stands in the header of our files, so that another program's database is not taken for ours."""

_HERE: Final = files("ebbing.adapters.sqlite")


@cache
def migrations() -> tuple[str, ...]:
    """The scripts of `migrations/` in the order of their numbers; the first makes version 1."""
    scripts = sorted((file for file in (_HERE / "migrations").iterdir() if file.name.endswith(".sql")), key=_name)
    return tuple(script.read_text("utf-8") for script in scripts)


def migrate(db: Connection, scripts: Sequence[str] | None = None) -> None:
    """Brings the file to the version that `scripts` leads to.

    Args:
        scripts: those of `migrations/` unless given; with these a new file is laid out at once by `schema.sql`.

    Raises:
        SchemaError: the file was written by a newer Ebbing, or by another program.
    """
    whole = layout() if scripts is None else None
    scripts = migrations() if scripts is None else scripts
    if _version(db) == len(scripts) and _application_id(db) == APPLICATION_ID:
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        _refuse_strangers(db, newest=len(scripts))
        missing = [whole] if whole and _version(db) == 0 else scripts[_version(db) :]
        for script in missing:
            for statement in statements(script):
                db.execute(statement)
        db.execute(f"PRAGMA user_version = {len(scripts)}")
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


@cache
def layout() -> str:
    """Return the script that lays out a new file."""
    return (_HERE / "schema.sql").read_text("utf-8")


def history_place(db: Connection, directory: Path) -> Path | None:
    """The file of its own that the history was put into, if it is still there."""
    if not _has(db, "main", table="place_of_history"):
        return None
    row = db.execute("SELECT path FROM place_of_history").fetchone()
    place = None if row is None else directory / row[0]
    return place if place is not None and place.exists() else None


def place_history(db: Connection, *, file: Path | None, former: Path | None, directory: Path) -> None:
    """Makes sure that exactly one of the open files holds `history`: the attached one if there is one.

    Statements then name the table without its file. What the main file holds already moves along, and so does what lies
    in the `former` file, if that is another one.
    """
    in_main = _has(db, "main", table="history")
    if in_main if file is None else (not in_main and former == file and _has(db, "elsewhere", table="history")):
        return
    script = (_HERE / "history.sql").read_text("utf-8")
    moves = former is not None and file is not None and former != file
    if moves:
        db.execute("ATTACH DATABASE ? AS former", (str(former),))
    db.execute("BEGIN IMMEDIATE")
    try:
        for statement in statements(script):
            db.execute(_in_file(statement, "elsewhere") if file else statement)
        if file:
            for database in ("main", *(["former"] if moves else [])):
                _move_history(db, database)
            inside = file.is_relative_to(directory)
            db.execute("DELETE FROM place_of_history")
            db.execute(
                "INSERT INTO place_of_history VALUES (?)", (str(file.relative_to(directory) if inside else file),)
            )
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")
        if moves:
            db.execute("DETACH DATABASE former")


def _move_history(db: Connection, database: str) -> None:
    if not _has(db, database, table="history"):
        return
    columns = "memory_id, old_memory, new_memory, event, created_at, updated_at, is_deleted, actor_id, role, reason"
    db.execute(
        f"INSERT INTO elsewhere.history ({columns}) SELECT {columns} FROM {database}.history ORDER BY id"  # noqa: S608
    )
    db.execute(f"DROP TABLE {database}.history")


def _has(db: Connection, database: str, *, table: str) -> bool:
    row = db.execute(f"SELECT 1 FROM {database}.sqlite_master WHERE name = ?", (table,)).fetchone()  # noqa: S608
    return row is not None


def statements(script: str) -> Iterator[str]:
    """The statements of a script one by one, because running a whole script would end the transaction around it."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending.strip()
            pending = ""


def _refuse_strangers(db: Connection, *, newest: int) -> None:
    version, tables = _version(db), db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if version > newest:
        raise SchemaError(
            f"this store has layout {version}, and this Ebbing knows layouts up to {newest}: install the newer Ebbing"
        )
    if _application_id(db) != APPLICATION_ID and (version or tables):
        raise SchemaError("ebbing.db in this directory is another program's database: choose another directory")


def _version(db: Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _application_id(db: Connection) -> int:
    return int(db.execute("PRAGMA application_id").fetchone()[0])


def _in_file(statement: str, database: str) -> str:
    return statement.replace("IF NOT EXISTS ", f"IF NOT EXISTS {database}.", 1)


def _name(file: object) -> str:
    return str(getattr(file, "name", ""))
