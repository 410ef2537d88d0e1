"""The last writes of this process that only added rows: a shard learns of them without reading them from the file."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

from ebbing.adapters.sqlite.memories.rows import RECORD_COLUMNS, Values
from ebbing.domain.memory.record import Kind, MemoryRecord
from ebbing.domain.memory.scope import Owner
from ebbing.index.row import Row

MOST: Final = 256
"""Writes that are kept, of all owners together."""
FEW: Final = 8
"""Rows of one that is kept: a few messages, and what they say."""
SHORT: Final = 16_384
"""Characters of their texts, in all: what is longer takes up more room than reading it back would take time."""

_COLUMNS: Final = itemgetter(
    *map(
        RECORD_COLUMNS.index,
        (
            *("id", "kind", "role", "type", "layer", "agent_id", "run_id", "actor"),
            *("created_at", "valid_from", "valid_to", "expires_at", "digest", "importance", "strength", "recorded_at"),
        ),
    )
)
_BESIDE: Final = itemgetter(*map(RECORD_COLUMNS.index, ("attribute", "object", "mentions")))
_NO_ENTRY: Final = (None,) * 6


@dataclass(frozen=True, slots=True)
class Added:
    """A new row as it was written."""

    seq: int
    record: MemoryRecord
    values: Values
    """In the order of `RECORD_COLUMNS`."""
    entry: Values | None
    """What `index_entry` holds of it, as `entry_values` gives it."""
    model_id: str | None

    def row(self) -> Row:
        """The row as it would be read."""
        attribute, object_, mentions = _BESIDE(self.values)
        entry: Values = _NO_ENTRY
        if self.entry is not None:
            length, flags, numbers, _, terms, vector = self.entry
            entry = (length, flags, numbers, terms, self.model_id, vector)
        return Row._make((self.seq, *_COLUMNS(self.values), None, 1, *entry, attribute, object_, mentions or 1))


@dataclass(frozen=True, slots=True)
class Written:
    """A write that changed nothing but to add active rows, in the order of their seqs."""

    no: int
    """The owner's number in the file."""
    generation: int
    """Of the owner since then."""
    rows: Sequence[Added]

    @property
    def memories(self) -> dict[str, MemoryRecord]:
        """The new memories, by id."""
        return {row.record.id: row.record for row in self.rows if row.record.kind is Kind.MEMORY}


class LastWrites:
    """The last few writes, by owner and generation; for all threads."""

    def __init__(self) -> None:
        self._writes: OrderedDict[tuple[Owner, int], Written] = OrderedDict()
        self._guard = threading.Lock()

    def note(self, owner: Owner, written: Sequence[Written]) -> None:
        """Takes in what is committed."""
        with self._guard:
            for item in written:
                if len(item.rows) <= FEW and sum(len(added.record.content) for added in item.rows) <= SHORT:
                    self._writes[owner, item.generation] = item
            while len(self._writes) > MOST:
                self._writes.popitem(last=False)

    def between(self, owner: Owner, no: int, *, since: int, now: int) -> list[Written] | None:
        """All writes after a generation up to another one; None unless each of them was of this kind and is kept."""
        writes = []
        for generation in range(since + 1, now + 1):
            write = self._writes.get((owner, generation))
            if write is None or write.no != no:
                return None
            writes.append(write)
        return writes

    def forget(self, owner: Owner) -> None:
        """Lets go of what one owner wrote."""
        with self._guard:
            for key in [key for key in self._writes if key[0] == owner]:
                del self._writes[key]

    def clear(self) -> None:
        """Lets go of everything."""
        with self._guard:
            self._writes.clear()
