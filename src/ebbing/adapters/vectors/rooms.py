"""What the indexes of vectors name and check alike."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Final

from ebbing.domain.errors import VectorIndexError
from ebbing.ports.indexes.vector_index import VectorRoom, Vectors

COLLECTION: Final = re.compile(r"_[0-9a-f]{12}_\d+$")
"""How the name of every collection ends that `collection_name` made."""


def collection_name(prefix: str, room: VectorRoom) -> str:
    """Return where the vectors of a room's model lie, together with those of other owners."""
    return f"{prefix}_{digest(room.model_id)}_{room.dim}"


def digest(text: str) -> str:
    """Return a short name for a text that may hold any character."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()


def check_length(room: VectorRoom, vectors: Vectors) -> None:
    """Refuse vectors that are not as long as those of the room.

    Raises:
        VectorIndexError: they are not.
    """
    dim = vectors.shape[-1]
    if dim != room.dim:
        raise VectorIndexError(
            f"a vector has {dim} numbers, and those of this model have {room.dim}: give a new model a name of its own"
        )
