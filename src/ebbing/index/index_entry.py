"""What a store keeps beside a record so that the record can be found: everything here can be computed again."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from struct import Struct
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.memory.record import NOTICED, MemoryRecord
from ebbing.language.text.analyzer import ANALYZER_VERSION, Analysis, TextFlag, analyse
from ebbing.language.text.caches import text_cache
from ebbing.language.text.quotation import is_answer, lead_in, quoted_words
from ebbing.language.text.text_compression import full_text

TERM = np.dtype([("term", "<u8"), ("tf", "<u2"), ("fields", "u1")])
"""One term of one text, packed: 64-bit hash, frequency in the text, and the other fields that hold it (bits below)."""

MAX_FREQUENCY = 65_535
"""What `tf` holds of a term that stands in a text more often than that."""

FIELD_SPEAKER = 1
FIELD_DATE = 2
FIELD_ASKED = 4
"""It stood in the question that the text answered, and the question is gone."""

UNREAD: Final = -1
"""In the place of the analyser's version: the text has not been read for its keywords yet."""

Terms = NDArray[np.void]
"""Shape (distinct terms,), dtype `TERM`, sorted by hash."""
_NO_TERMS: Final = np.empty(0, TERM)
_packed: Final = Struct("<QHB").pack
"""One `TERM`. Most texts have a dozen of them, for which numpy's steps take several times as long."""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """The searchable side of one record."""

    terms: Terms
    length: int
    """Number of terms in the text, repeats included."""
    flags: int
    """Bits of `language.text.analyzer.TextFlag`."""
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
    return _with_keywords(unread_entry(vector=vector, model_id=model_id, utterance=utterance), analysis)


def unread_entry(
    *, vector: NDArray[np.float32] | None = None, model_id: str | None = None, utterance: bool = False
) -> IndexEntry:
    """The entry of a text whose keywords can wait: whoever keeps it reads the text, at the latest before a search."""
    flags, vector = int(TextFlag.UTTERANCE) if utterance else 0, usable(vector)
    return IndexEntry(_NO_TERMS, 0, flags, 0, UNREAD, None if vector is None else model_id, vector)


def usable(vector: NDArray[np.float32] | None) -> NDArray[np.float32] | None:
    """The vector, if it is none of zeros and holds a number everywhere."""
    return vector if vector is not None and 0.0 < float(vector.dot(vector)) < math.inf else None


def read_entry(entry: IndexEntry, record: MemoryRecord) -> IndexEntry:
    """The entry with the keywords of the record that it belongs to, if it has none yet."""
    if entry.analyzer != UNREAD:
        return entry
    return _with_keywords(entry, analyse(full_text(record), speaker=record.actor, said_at=record.said_at))


def _with_keywords(entry: IndexEntry, analysis: Analysis) -> IndexEntry:
    flags = entry.flags | int(analysis.flags)
    numbers = _signed(_digest("\x1f".join(sorted(analysis.numbers)))) if analysis.numbers else 0
    return IndexEntry(pack(analysis), analysis.length, flags, numbers, ANALYZER_VERSION, entry.model_id, entry.vector)


def passage(record: MemoryRecord) -> str:
    """The text that is embedded for a record: with its speaker, since "I" and "you" mean nothing without.

    On LoCoMo, where questions name people, this doubles what the vectors alone find (R@10 28 to 56). What quotes a
    message and nothing else has the vector of what it quotes, and what leans on words before it that of both.
    """
    origin = record.provenance
    is_quotation = origin.rule is not None and origin.rule.startswith(f"{NOTICED}:")
    if is_quotation and is_answer(record.content):
        return quoted_words(record.content) or ""
    text = origin.source_text if is_quotation and origin.source_text else full_text(record)
    lead = lead_in(record.content) if is_quotation else ""
    text = f"{lead} {text}" if lead else text
    return f"{record.actor}: {text}" if record.actor else text


def spoken(record: MemoryRecord, words: str) -> str:
    """Return words with their speaker, as those of a message are read."""
    return f"{record.actor}: {words}" if record.actor else words


def pack(analysis: Analysis) -> Terms:
    """Term frequencies and field bits of an analysed text as a sorted `TERM` array, not to be changed."""
    counts = dict(zip(map(term_hash, analysis.text), analysis.text.values(), strict=True))
    if analysis.length > MAX_FREQUENCY:
        counts = {key: min(frequency, MAX_FREQUENCY) for key, frequency in counts.items()}
    fields: dict[int, int] = {}
    field_groups = ((analysis.speaker, FIELD_SPEAKER), (analysis.date, FIELD_DATE), (analysis.question, FIELD_ASKED))
    for field_terms, bit in field_groups:
        for key in map(term_hash, field_terms):
            fields[key] = fields.get(key, 0) | bit
            counts.setdefault(key, 0)
    packed = [_packed(key, counts[key], fields.get(key, 0)) for key in sorted(counts)]
    return np.frombuffer(b"".join(packed), TERM)


@text_cache(32_768)
def term_hash(term: str) -> int:
    """64-bit hash of a term, the same in every process; among a million terms two collide once in 40 million."""
    return _digest(term)


def _digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "little")


def _signed(value: int) -> int:
    """The same 64 bits as a number that SQL integers and int64 columns can hold."""
    return value - (1 << 64) if value >= 1 << 63 else value


class InternedNames:
    """Small integers for the agents, runs, speakers, attributes and objects of one owner; 0 means "none"."""

    __slots__ = ("_codes", "_names")

    def __init__(self) -> None:
        self._names: list[str | None] = [None]
        self._codes: dict[str | None, int] = {None: 0}

    def codes(self, names: Sequence[str | None]) -> Iterable[int]:
        """The numbers of names; a new one is given out at first sight."""
        for name in dict.fromkeys(names):
            if name not in self._codes:
                self._codes[name] = len(self._names)
                self._names.append(name)
        return map(self._codes.__getitem__, names)

    def find(self, name: str) -> int:
        """The number of a name, or −1 when no row has it."""
        return self._codes.get(name, -1)

    def name(self, code: int) -> str | None:
        """The name behind a number."""
        return self._names[code]

    def __len__(self) -> int:
        return len(self._names) - 1

    def items(self) -> Iterable[tuple[str, int]]:
        """Every name with its number."""
        # A copy: a shard that follows this one may learn of new names meanwhile, in another thread.
        return [(name, code) for name, code in self._codes.copy().items() if name is not None]
