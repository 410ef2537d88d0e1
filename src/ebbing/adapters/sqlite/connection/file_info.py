"""What the file of a store is, for `doctor`."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from ebbing.adapters.sqlite.connection.connections import FILE_NAME
from ebbing.adapters.sqlite.connection.errors import translated
from ebbing.adapters.sqlite.connection.schema import migrations


def about(directory: Path) -> dict[str, str]:
    """Path, SQLite version, layout and journal of the store in `directory`, as text.

    Raises:
        StoreError: the file cannot be read.
    """
    file = directory / FILE_NAME
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as db:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            journal = db.execute("PRAGMA journal_mode").fetchone()[0]
    except sqlite3.Error as error:
        raise translated(error) from error
    return {
        "file": str(file.absolute()),
        "sqlite": sqlite3.sqlite_version,
        "layout": f"{version} of {len(migrations())}",
        "journal": str(journal),
    }
