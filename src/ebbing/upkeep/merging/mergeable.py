"""What of an owner's memory may be told by one record: statements that hold now, equal ones gathered."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.memory.record import Layer, MemoryRecord, Stage
from ebbing.index.shard import LAYERS, Shard, micros
from ebbing.language.dates.resolve import resolve
from ebbing.language.wording.paraphrase import Gist, gist_of, has_units

MIN_SAID: Final = 2
"""Units that a message must say to be told for others: "yes" depends on what was asked."""
_ASKS: Final = re.compile(r"[?？]|[吗么][。!！~～ ]*$")
_WHOLE: Final = frozenset({Stage.FULL, Stage.KEYWORD_ONLY})
_APART: Final = frozenset({"quarantined", "pending_deletion", "summary"})
"""Tags of what waits for a decision, or sums up others."""


@dataclass(frozen=True)
class Statement:
    """Records with the same text that agree in everything else that an answer could hang on."""

    records: tuple[MemoryRecord, ...]
    row: int
    """The shard's row of one of them."""

    @property
    def text(self) -> str:
        """In one of its spellings, which differ in case, width and closing punctuation alone."""
        return self.records[-1].content

    @cached_property
    def gist(self) -> Gist:
        """What it says."""
        return gist_of(self.text)

    @cached_property
    def matter(self) -> tuple[object, ...]:
        """What must be equal in two statements that one record can tell."""
        return matter_of(self.records[0])

    @cached_property
    def mentions(self) -> int:
        """How often it was said."""
        return sum(record.mentions for record in self.records)

    @cached_property
    def size(self) -> int:
        """UTF-8 bytes of the text."""
        return size_of(self.text)


def mergeable_rows(shard: Shard, *, now: datetime) -> NDArray[np.int64]:
    """Rows that hold now and are in no working layer."""
    at = micros(now)
    mask = shard.alive & (shard.valid_to > at) & (shard.expires > at)
    return np.flatnonzero(mask & (shard.layer != LAYERS.index(Layer.WORKING)))


def blocks(shard: Shard, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The rows in groups of one kind, agent, speaker, role and type: only within one of these can rows be merged."""
    keys = np.stack([getattr(shard, name)[rows] for name in ("kind", "agent", "actor", "role", "type")])
    _, code = np.unique(keys, axis=1, return_inverse=True)
    code = code.reshape(-1)
    order = np.argsort(code, kind="stable")
    return np.split(rows[order], np.flatnonzero(np.diff(code[order])) + 1) if len(rows) else []


def statements_of(numbered: Iterable[tuple[int, MemoryRecord]]) -> list[Statement]:
    """The statements of some records, each beside its row; those that must stay as they are are left out."""
    groups: defaultdict[tuple[object, ...], list[tuple[int, MemoryRecord]]] = defaultdict(list)
    for row, record in numbered:
        if may_be_merged(record):
            groups[record.hash, matter_of(record)].append((row, record))
    statements: list[Statement] = []
    for group in groups.values():
        records = sorted((record for _, record in group), key=said_order)
        statements.append(Statement(tuple(records), group[0][0]))
    return statements


def may_be_merged(record: MemoryRecord) -> bool:
    """Whether another record may tell this one: not while somebody has yet to decide about it, nor once it is
    shortened, nor what depends on when it was said: a question, a word or two."""
    if not record.is_active or record.abstraction_level or not _APART.isdisjoint(record.tags):
        return False
    if record.stage not in _WHOLE:
        return False
    is_message = record.is_verbatim
    if is_message and _ASKS.search(record.content):
        return False
    return has_units(record.content, MIN_SAID if is_message else 1)


def matter_of(record: MemoryRecord) -> tuple[object, ...]:
    """What must be equal in two records that one record can tell, beside what `blocks` compares; the days that the
    text names are among it."""
    value = record.value.casefold() if record.attribute and record.value else None
    spans = resolve(record.content, now=record.said_at)
    days = frozenset((span.start, span.end) for span in spans if span.explicit or span.direction != "none")
    return record.scope, record.trust, record.polarity, record.object, record.attribute, value, days


def said_order(record: MemoryRecord) -> tuple[datetime, str]:
    """Sorts records by when they were said, then by their ids."""
    return record.created_at, record.id


def size_of(text: str) -> int:
    """UTF-8 bytes."""
    return len(text.encode("utf-8", "surrogatepass"))


def bytes_of(records: Sequence[MemoryRecord]) -> int:
    """Readable bytes of some records."""
    return sum(size_of(record.content) for record in records)
