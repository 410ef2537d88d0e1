"""A text packed without loss, for what is hardly ever read again.

Short texts hold too little of themselves to be packed well, so they lean on a list of words that texts of this kind are
made of (`packs/packing.txt`). The first byte names the list: a later one may stand beside it, and none is ever changed.
"""

from __future__ import annotations

import zlib
from functools import lru_cache
from importlib.resources import files
from typing import Final

from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.record import MemoryRecord

_FIRST_LIST: Final = 1
_RAW: Final = -15
"""No head and no checksum: the store has its own."""


def pack(text: str) -> bytes:
    """The text in fewer bytes, as a rule; `unpack` gives it back exactly."""
    packer = zlib.compressobj(9, zlib.DEFLATED, _RAW, 9, zlib.Z_DEFAULT_STRATEGY, _words())
    return bytes([_FIRST_LIST]) + packer.compress(text.encode("utf-8", "surrogatepass")) + packer.flush()


def unpack(packed: bytes) -> str:
    """The text that was packed.

    Raises:
        InvalidInputError: these bytes do not come from `pack`.
    """
    try:
        if packed[0] != _FIRST_LIST:
            raise InvalidInputError("the full text of this memory was packed by a newer version: install that one")
        return zlib.decompressobj(_RAW, _words()).decompress(packed[1:]).decode("utf-8", "surrogatepass")
    except (IndexError, UnicodeDecodeError, zlib.error) as error:
        raise InvalidInputError("the packed text of this memory is damaged") from error


def full_text(record: MemoryRecord) -> str:
    """All that a record said before it was shortened, if it was: what it is found by.

    Raises:
        InvalidInputError: its packed text is damaged, or was packed by a newer version.
    """
    return record.content if record.packed is None else unpack(record.packed)


@lru_cache(maxsize=1)
def _words() -> bytes:
    return (files("ebbing.language") / "packs" / "packing.txt").read_bytes()
