"""The embedding models that vectors came from; all vectors of one model have the same length."""

from __future__ import annotations

from typing import Final

from sqlalchemy import bindparam, exists, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.sql.tables.conditions import REACH
from ebbing.adapters.sql.tables.owner_tables import INDEX_ENTRY
from ebbing.adapters.sql.tables.service_tables import EMBEDDING_MODEL
from ebbing.domain.errors import EmbeddingError
from ebbing.index.shard import STORED_VECTOR

_FIND: Final = select(EMBEDDING_MODEL.c.no, EMBEDDING_MODEL.c.vector_bytes).where(
    EMBEDDING_MODEL.c.name == bindparam("of_name")
)
_USE: Final = select(INDEX_ENTRY.c.seq).where(
    INDEX_ENTRY.c.model == bindparam("of_model"), INDEX_ENTRY.c.vector.is_not(None)
)
_IN_USE: Final = select(exists(_USE)).execution_options(**{REACH: "service: a model is the same for everybody"})


async def model_number(db: AsyncConnection, name: str, *, vector_bytes: int) -> int:
    """Return the number of a model whose vectors are so long, within the running transaction.

    Raises:
        EmbeddingError: those that are stored of it are shorter or longer.
    """
    row = (await db.execute(_FIND, {"of_name": name})).first()
    if row is None:
        await db.execute(insert(EMBEDDING_MODEL), {"name": name, "vector_bytes": vector_bytes})
        row = (await db.execute(_FIND, {"of_name": name})).first()
    assert row is not None
    number, stored = row
    if stored != vector_bytes:
        if stored is not None and await _is_in_use(db, number):
            raise EmbeddingError(
                f"vectors of {_length(vector_bytes)} numbers do not fit the {_length(stored)} of those that are stored"
                " of this model: give the new model a name of its own, and rebuild the index"
            )
        await db.execute(
            update(EMBEDDING_MODEL).where(EMBEDDING_MODEL.c.no == number).values(vector_bytes=vector_bytes)
        )
    return int(number)


async def vector_length(db: AsyncConnection, name: str) -> int | None:
    """Return how many numbers each stored vector of a model has; None where there are none."""
    row = (await db.execute(_FIND, {"of_name": name})).first()
    if row is None or row.vector_bytes is None or not await _is_in_use(db, row.no):
        return None
    return _length(row.vector_bytes)


async def _is_in_use(db: AsyncConnection, number: int) -> bool:
    return bool((await db.execute(_IN_USE, {"of_model": number})).scalar())


def _length(vector_bytes: int) -> int:
    return vector_bytes // STORED_VECTOR.itemsize
