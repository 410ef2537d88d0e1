"""Whether an index entry still says what its record says."""

from __future__ import annotations

from datetime import datetime

import numpy as np

from ebbing.index.index_entry import FIELD_ASKED, TERM, entry_for
from ebbing.language.text.analyzer import TextFlag, analyse

Stored = tuple[int, int, int, bytes]
"""Length, flags, numbers and packed terms of an entry."""


def agrees(stored: Stored, *, content: str, actor: str | None, created_at: datetime) -> bool:
    """Whether analysing the record anew gives the stored entry, apart from the vector."""
    length, flags, numbers, terms = stored
    fresh = entry_for(analyse(content, speaker=actor, said_at=created_at))
    # Whether it was stored as an utterance, and what came before it, are no properties of the text.
    same_flags = fresh.flags == flags & ~(TextFlag.UTTERANCE | TextFlag.ANSWER)
    return same_flags and (fresh.length, fresh.numbers, fresh.terms.tobytes()) == (length, numbers, _own_terms(terms))


def _own_terms(packed: bytes) -> bytes:
    """The packed terms without those of a question that is gone: they are no property of the text either."""
    terms = np.frombuffer(packed, dtype=TERM).copy()
    terms["fields"] &= ~np.uint8(FIELD_ASKED)
    return terms[(terms["tf"] > 0) | (terms["fields"] > 0)].tobytes()
