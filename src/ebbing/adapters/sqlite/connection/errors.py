"""What SQLite and Python's driver raise, as errors of ours; none repeats a stored value."""

from __future__ import annotations

import sqlite3
from typing import Final

from ebbing.domain.errors import EbbingError, InvalidInputError, SchemaError, StoreError

EXPECTED: Final = (EbbingError, sqlite3.Error, ValueError, OverflowError)
"""What a statement may raise: our own refusals, SQLite's, and values that SQLite cannot hold."""


def translated(error: Exception) -> EbbingError:
    """The error to raise in place of one of `EXPECTED`."""
    if isinstance(error, EbbingError):
        return error
    if isinstance(error, UnicodeError):
        return InvalidInputError("the text holds broken Unicode (a lone surrogate): replace it before storing")
    if isinstance(error, OverflowError | ValueError):
        return InvalidInputError("a number is too large for the store (64 bits)")
    text = str(error)
    if "locked" in text or "busy" in text:
        return StoreError("another process has kept the store locked for too long: try again")
    if "not a database" in text or "malformed" in text:
        return SchemaError("ebbing.db is damaged or not a database: restore a backup, or choose another directory")
    if "disk is full" in text:
        return StoreError("the store's disk is full: nothing was written; make room, then retry")
    return StoreError(f"the store could not do it: {text}")
