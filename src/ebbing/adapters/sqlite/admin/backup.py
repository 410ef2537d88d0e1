"""Copies of the whole store: taken while it is in use, and brought back."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from sqlite3 import Connection
from typing import Final

from ebbing.adapters.sqlite.connection.connections import FILE_NAME, Connections
from ebbing.adapters.sqlite.connection.errors import translated
from ebbing.domain.errors import InvalidInputError, StoreError

HISTORY_NAME: Final = "history.db"
_PAGES: Final = 2_000
"""Pages copied in one step, between which others may write."""


def back_up(connections: Connections, directory: Path) -> int:
    """Copies the store into a new or empty directory, consistent as of one moment, and checks the copy; its bytes.

    Raises:
        InvalidInputError: there is something in the directory.
        StoreError: it could not be copied.
    """
    _make_empty(directory)
    with connections.reading() as db:
        try:
            apart = connections.history_path is not None
            written = _copy(db, directory / FILE_NAME, history=HISTORY_NAME if apart else None)
            if connections.history_path is not None:
                written += _copy_history(connections.history_path, directory / HISTORY_NAME)
        except OSError as error:
            raise StoreError(f"the copy could not be written: {error.strerror}") from error
    return written


def bring_back(backup: Path, directory: Path) -> None:
    """Makes a store of a copy, in a directory where none is.

    Raises:
        InvalidInputError: the copy is none, is damaged, or a store is there already.
        StoreError: it could not be written.
    """
    source, target = backup / FILE_NAME, directory / FILE_NAME
    if not source.is_file():
        raise InvalidInputError(f"there is no {FILE_NAME} in this directory: name the one that `ebbing backup` made")
    if target.exists():
        raise InvalidInputError("there is a store in this directory already: name another, or move that one away")
    _check(source)
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        _place(source, target)
        if (backup / HISTORY_NAME).is_file():
            _place(backup / HISTORY_NAME, directory / HISTORY_NAME)
    except OSError as error:
        raise StoreError(f"the store could not be written: {error.strerror}") from error


def _make_empty(directory: Path) -> None:
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(directory.iterdir()):
            raise InvalidInputError("a backup goes into a new or empty directory")
    except OSError as error:
        raise StoreError(f"the directory of the backup cannot be used: {error.strerror}") from error


def _copy_history(source: Path, file: Path) -> int:
    history = sqlite3.connect(source)
    try:
        return _copy(history, file)
    finally:
        history.close()


def _copy(db: Connection, file: Path, *, history: str | None = None) -> int:
    """The size of the copy, which is on the disk when this returns.

    Args:
        history: where the copy finds its history, which must not be where the original does.
    """
    part = file.with_suffix(".part")
    copy = sqlite3.connect(part)
    try:
        db.backup(copy, pages=_PAGES)
        copy.execute("PRAGMA journal_mode = DELETE")
        if history is not None:
            with copy:
                copy.execute("UPDATE place_of_history SET path = ?", (history,))
    except sqlite3.Error as error:
        raise translated(error) from error
    finally:
        copy.close()
    _check(part)
    settle(part, file)
    return file.stat().st_size


def _check(file: Path) -> None:
    try:
        db = sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)
        try:
            sound = db.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
        finally:
            db.close()
    except sqlite3.Error:
        sound = False
    if not sound:
        raise InvalidInputError("the copy is damaged")


def _place(source: Path, target: Path) -> None:
    """Copies through SQLite: to open and close the file otherwise would drop the locks of whoever has it open here."""
    db = sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True)
    try:
        _copy(db, target)
    finally:
        db.close()


def settle(part: Path, file: Path) -> None:
    """Gives a finished file its name, so that no half of one ever has it."""
    part.chmod(0o600)
    with part.open("rb") as written:
        os.fsync(written.fileno())
    part.replace(file)
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
