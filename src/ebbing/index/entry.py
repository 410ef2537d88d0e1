"""What a store keeps beside a record so that the record can be found: everything here can be computed again."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.record import MemoryRecord
from ebbing.language.analyse import ANALYZER_VERSION, Analysis, TextFlag
from ebbing.language.kept import kept
from ebbing.language.packing import full_text

TERM = np.dtype([("term", "<u8"), ("tf", "<u2"), ("fields", "u1")])
"""One term of one text, packed: 64-bit hash, frequency in the text, and the other fields that hold it (bits below)."""

FIELD_SPEAKER = 1
FIELD_DATE = 2

Terms = NDArray[np.void]
"""Shape (distinct terms,), dtype `TERM`, sorted by hash."""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """The searchable side of one record."""

    terms: Terms
    length: int
    """Number of terms in the text, repeats included."""
    flags: int
    """Bits of `language.analyse.TextFlag`."""
    numbers: int
    """Signed 64-bit digest of the set of numbers in the text, 0 for none: other numbers, other statement."""
    analyzer: int = ANALYZER_VERSION
    model_id: str | None = None
    vector: NDArray[np.float32] | None = None
    """Shape (dim,), length 1; None when there is no embedder or the text could not be embedded yet."""


def entry_for(
    analysis: Analysis,
    *,
    vector: NDArray[np.float32] | None = None,
    model_id: str | None = None,
    utterance: bool = False,
) -> IndexEntry:
    """Packs what the analyser found; `utterance` marks a raw message.

    A vector of zeros counts as no vector, and so does one that holds no number somewhere: it would spoil every search.
    """
    usable = vector is not None and bool(vector.any()) and bool(np.isfinite(vector).all())
    return IndexEntry(
        terms=pack(analysis),
        length=analysis.length,
        flags=int(analysis.flags | (TextFlag.UTTERANCE if utterance else 0)),
        numbers=_signed(_digest("\x1f".join(sorted(analysis.numbers)))) if analysis.numbers else 0,
        model_id=model_id if usable else None,
        vector=vector if usable else None,
    )


def passage(record: MemoryRecord) -> str:
    """The text that is embedded for a record: with its speaker, since "I" and "you" mean nothing without.

    On LoCoMo, where questions name people, this doubles what the vectors alone find (R@10 28 to 56).
    """
    text = full_text(record)
    return f"{record.actor}: {text}" if record.actor else text


def pack(analysis: Analysis) -> Terms:
    """Term frequencies and field bits of an analysed text as a sorted `TERM` array."""
    rows: dict[int, list[int]] = {}
    for term, count in analysis.text.items():
        rows[term_hash(term)] = [min(count, 65535), 0]
    for field_terms, bit in ((analysis.speaker, FIELD_SPEAKER), (analysis.date, FIELD_DATE)):
        for term in field_terms:
            rows.setdefault(term_hash(term), [0, 0])[1] |= bit
    packed = np.empty(len(rows), dtype=TERM)
    for position, key in enumerate(sorted(rows)):
        packed[position] = (key, *rows[key])
    return packed


@kept(65_536)
def term_hash(term: str) -> int:
    """64-bit hash of a term, the same in every process; among a million terms two collide once in 40 million."""
    return _digest(term)


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "little")


def _signed(value: int) -> int:
    """The same 64 bits as a number that SQL integers and int64 columns can hold."""
    return value - (1 << 64) if value >= 1 << 63 else value
