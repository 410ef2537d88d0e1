"""The embedding models that vectors came from; all vectors of one model have the same length."""

from __future__ import annotations

from sqlite3 import Connection
from typing import Final

from ebbing.domain.errors import EmbeddingError
from ebbing.index.shard import STORED_VECTOR

_FIND: Final = "SELECT no, vector_bytes FROM model WHERE name = ?"
_IN_USE: Final = "SELECT EXISTS (SELECT 1 FROM index_entry WHERE model = ? AND vector IS NOT NULL)"


def model_number(db: Connection, name: str, *, vector_bytes: int) -> int:
    """Return the number of a model whose vectors are so long, within the running transaction.

    Raises:
        EmbeddingError: those that are stored of it are shorter or longer.
    """
    row = db.execute(_FIND, (name,)).fetchone()
    if row is None:
        done = db.execute("INSERT INTO model (name, vector_bytes) VALUES (?, ?)", (name, vector_bytes))
        return done.lastrowid or 0
    number, stored = row
    if stored != vector_bytes:
        if stored is not None and _is_in_use(db, number):
            raise EmbeddingError(
                f"vectors of {_length(vector_bytes)} numbers do not fit the {_length(stored)} of those that are stored"
                " of this model: give the new model a name of its own, and rebuild the index"
            )
        db.execute("UPDATE model SET vector_bytes = ? WHERE no = ?", (vector_bytes, number))
    return int(number)


def vector_length(db: Connection, name: str) -> int | None:
    """Return how many numbers each stored vector of a model has; None where there are none."""
    row = db.execute(_FIND, (name,)).fetchone()
    if row is None or row[1] is None or not _is_in_use(db, row[0]):
        return None
    return _length(row[1])


def _is_in_use(db: Connection, number: int) -> bool:
    return bool(db.execute(_IN_USE, (number,)).fetchone()[0])


def _length(vector_bytes: int) -> int:
    return vector_bytes // STORED_VECTOR.itemsize
