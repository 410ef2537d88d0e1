"""What finds the nearest vectors of one large owner without comparing all of them."""

from __future__ import annotations

from hashlib import blake2b
from typing import Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Seqs = NDArray[np.int64]
"""Rows of an owner by the number that each has for good (`index.row.Row.seq`)."""
Vectors = NDArray[np.float32]


class VectorRoom(NamedTuple):
    """Where the vectors of one owner lie that one embedding model made."""

    tenant: str
    partition: str
    """Stands for the owner; a store gives it to nobody twice (`ports.stores.outbox.Standing`)."""
    model_id: str
    dim: int
    """Numbers in each vector."""


COMPLETE: Final = 1 << 62
"""The mark (`MemoryStore.mark`) of an owner all of whose rows the index has; less says up to which row it came."""


def follower_name(index: VectorIndex, model_id: str, *, dim: int) -> str:
    """Return under which name an index follows the outbox with the vectors of one model; its marks have it too."""
    return f"vectors {index.name} {blake2b(model_id.encode(), digest_size=6).hexdigest()} {dim}"


class VectorIndex(Protocol):
    """An approximate index of vectors beside the store, which stays the truth.

    It holds numbers alone: no text, no name, no memory's id. It may be behind, short or empty, and may return a row
    that is gone: whoever searches compares with the truth and never trusts it. Everything in it can be built again.
    Every call is safe to repeat. Vectors have length 1, so that the inner product is the cosine. A room is seen by
    itself: no call returns or changes a row of another tenant, partition or model.

    Raises:
        VectorIndexError: the index is down, refuses, or is of a version that does not fit. The message says what to do.
            Nothing of the store is touched.
    """

    @property
    def name(self) -> str:
        """The technology, and after a hyphen where it keeps its vectors if there may be several; it names the place in
        the outbox."""
        ...

    async def upsert(self, room: VectorRoom, seqs: Seqs, *, vectors: Vectors) -> None:
        """Add vectors, shape (rows, dim), or put them in place of those that the rows have.

        Raises:
            VectorIndexError: they are not `room.dim` numbers long.
        """
        ...

    async def delete(self, partition: str, seqs: Seqs | None = None) -> None:
        """Remove rows of a partition, or all of it, of every model; what is not there is no error.

        After `save`, what was removed can be read nowhere in what the index keeps.
        """
        ...

    async def search(self, room: VectorRoom, vector: Vectors, *, limit: int) -> Seqs:
        """Return the rows nearest to a vector of shape (dim,), nearest first, at most `limit`; none if there are none.

        Raises:
            VectorIndexError: the vector is not `room.dim` numbers long.
        """
        ...

    async def count(self, room: VectorRoom) -> int:
        """Return how many rows the room holds."""
        ...

    async def save(self, *, is_complete: bool = True) -> None:
        """Return when what was changed would outlive this process.

        Args:
            is_complete: False while many more rows of a new room are to come: it need not be fast to search yet.
        """
        ...

    async def clear(self) -> None:
        """Remove everything, of all tenants, owners and models."""
        ...

    async def aclose(self) -> None:
        """Let go of files, connections and threads; safe to repeat."""
        ...
