"""The layout of the file and how an older one becomes today's: numbered migrations, all or none."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Final

from ebbing.domain.errors import SchemaError

APPLICATION_ID: Final = 0x45626233
"""Stands in the header of our files, so that another program's database is not taken for ours."""

_HERE: Final = files("ebbing.adapters.sqlite")


def migrations() -> list[str]:
    """The scripts of `migrations/` in the order of their numbers; the first makes version 1."""
    scripts = sorted((file for file in (_HERE / "migrations").iterdir() if file.name.endswith(".sql")), key=_name)
    return [script.read_text("utf-8") for script in scripts]


def migrate(db: sqlite3.Connection, scripts: Sequence[str]) -> None:
    """Brings the file to the version that `scripts` leads to.

    Raises:
        SchemaError: the file was written by a newer Ebbing, or by another program.
    """
    if _version(db) == len(scripts) and _application_id(db) == APPLICATION_ID:
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        _refuse_strangers(db, newest=len(scripts))
        for number, script in enumerate(scripts[_version(db) :], start=_version(db) + 1):
            for statement in statements(script):
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {number}")
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def place_history(db: sqlite3.Connection, *, attached: bool) -> None:
    """Makes sure that exactly one of the open files holds `history`: the attached one if there is one.

    Statements then name the table without its file. What the main file holds already moves along.
    """
    in_main = db.execute("SELECT 1 FROM main.sqlite_master WHERE name = 'history'").fetchone()
    if in_main and not attached:
        return
    script = (_HERE / "history.sql").read_text("utf-8")
    db.execute("BEGIN IMMEDIATE")
    try:
        for statement in statements(script):
            db.execute(_in_file(statement, "elsewhere") if attached else statement)
        if in_main and attached:
            db.execute(
                "INSERT INTO elsewhere.history (memory_id, old_memory, new_memory, event, created_at, updated_at,"
                " is_deleted, actor_id, role, reason) SELECT memory_id, old_memory, new_memory, event, created_at,"
                " updated_at, is_deleted, actor_id, role, reason FROM main.history ORDER BY id"
            )
            db.execute("DROP TABLE main.history")
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def statements(script: str) -> Iterator[str]:
    """The statements of a script one by one, because running a whole script would end the transaction around it."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending.strip()
            pending = ""


def _refuse_strangers(db: sqlite3.Connection, *, newest: int) -> None:
    version, tables = _version(db), db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if version > newest:
        raise SchemaError(
            f"this store has layout {version}, and this Ebbing knows layouts up to {newest}: install the newer Ebbing"
        )
    if _application_id(db) != APPLICATION_ID and (version or tables):
        raise SchemaError("ebbing.db in this directory is another program's database: choose another directory")


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _application_id(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA application_id").fetchone()[0])


def _in_file(statement: str, database: str) -> str:
    return statement.replace("IF NOT EXISTS ", f"IF NOT EXISTS {database}.", 1)


def _name(file: object) -> str:
    return str(getattr(file, "name", ""))
