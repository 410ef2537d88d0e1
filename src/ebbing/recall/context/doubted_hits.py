"""What was found and is in doubt stands behind the messages that put it in doubt."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain, product
from typing import Final

import numpy as np

from ebbing.domain.filters.query import Hit
from ebbing.domain.memory.record import Kind, MemoryRecord, is_read_from
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import micros
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.recall.context.context_turns import SearchableRows
from ebbing.recall.context.query_fallback import SearchFn
from ebbing.recall.rows import load_records, rows_by_id, rows_in_scope

_LOOKED_AT: Final = 4
"""Of so many of the best hits, what was said later is looked for."""
_MAX_CHANGES: Final = 4
"""Changes of one thing that are followed: wednesdays, thursdays, fridays …"""
_MAX_MEMORIES: Final = 256
"""Memories that are read to see which are in doubt: an import may give thousands the same time."""


def with_newer(
    look: SearchFn,
    store: MemoryStore,
    *,
    scope: Scope,
    searchable: SearchableRows,
) -> SearchFn:
    """Return the same search, whose hits in doubt, and messages of which something is, stand behind what changed it.

    "choir is wednesdays" is found by "when is choir?", and "went back to thursdays" answers it with hardly a word in
    common. It has the score of what it put in doubt. What was said last stands first.
    """
    newer_messages = _NewerMessages(store, scope=scope, searchable=searchable)

    async def look_for_newer(text: str, conversation: str = "") -> list[Hit]:
        hits = await look(text, conversation)
        newer = await newer_messages.of([hit.record for hit in hits[:_LOOKED_AT]])
        by_id: dict[str, Hit] = {}
        for hit in hits:
            for message in newer.get(hit.record.id, ()):
                by_id.setdefault(message.id, Hit(message, hit.score, hit.rank_score))
            by_id.setdefault(hit.record.id, hit)
        return list(by_id.values())

    return look_for_newer


class _NewerMessages:
    """Finds what put memories in doubt, as far as the caller may get it back."""

    def __init__(
        self,
        store: MemoryStore,
        *,
        scope: Scope,
        searchable: SearchableRows,
    ) -> None:
        self._store = store
        self._scope = scope
        self._searchable = searchable

    async def of(self, records: Sequence[MemoryRecord]) -> dict[str, list[MemoryRecord]]:
        """Return the messages that put each record in doubt, or what was read from it, the latest first, by its id."""
        next_of: dict[str, list[MemoryRecord]] = {}
        waiting = list(records)
        for _ in range(_MAX_CHANGES):
            step = await self._next_of(waiting)
            next_of |= step
            waiting = []
            for message in chain.from_iterable(step.values()):
                if message.id not in next_of:
                    waiting.append(message)
            if not waiting:
                break
        return {record.id: _latest_first(record.id, next_of) for record in records}

    async def _next_of(self, records: Sequence[MemoryRecord]) -> dict[str, list[MemoryRecord]]:
        """Return the messages that put each record in doubt, or what was read from it, by its id."""
        doubted = await self._doubted(records)
        messages = await self._messages(list(doubted))
        next_of: defaultdict[str, list[MemoryRecord]] = defaultdict(list)
        for message_id, message in messages.items():
            for memory, record in product(doubted[message_id], records):
                if _is_of(memory, record):
                    next_of[record.id].append(message)
        return next_of

    async def _doubted(self, records: Sequence[MemoryRecord]) -> dict[str, list[MemoryRecord]]:
        """Return the memories in doubt that were said when these records were, by the id of what put them in doubt.

        They count whatever the filter asks for.
        """
        shard = self._searchable.shard
        memories = rows_in_scope(shard, self._scope, kinds=(Kind.MEMORY,))
        moments = [micros(record.created_at) for record in records]
        rows = np.flatnonzero(memories & np.isin(shard.created, moments))[:_MAX_MEMORIES]
        doubted: defaultdict[str, list[MemoryRecord]] = defaultdict(list)
        for memory in await load_records(self._store, shard, scope=self._scope, rows=rows.tolist()):
            if memory.doubted_by is not None:
                doubted[memory.doubted_by].append(memory)
        return doubted

    async def _messages(self, message_ids: Sequence[str]) -> dict[str, MemoryRecord]:
        """Return the messages of these ids, by id; one that another tells by now is that other one."""
        if not message_ids:
            return {}
        searchable = self._searchable
        told_ids: dict[str, str] = {}
        for record in await self._store.get(self._scope, message_ids):
            teller = None if record.retired_at is None else record.superseded_by
            told_ids[record.id] = teller or record.id
        rows = rows_by_id(searchable.shard, set(told_ids.values()))
        visible = [row for row in rows.values() if searchable.mask[row]]
        records = await load_records(self._store, searchable.shard, scope=self._scope, rows=visible)
        by_id = {record.id: record for record in records}
        messages: dict[str, MemoryRecord] = {}
        for message_id, told_id in told_ids.items():
            if told_id in by_id:
                messages[message_id] = by_id[told_id]
        return messages


def _latest_first(record_id: str, next_of: Mapping[str, Sequence[MemoryRecord]]) -> list[MemoryRecord]:
    """Return what followed a record, change after change, the last one first."""
    followed: dict[str, MemoryRecord] = {}
    waiting = [record_id]
    while waiting:
        for message in next_of.get(waiting.pop(0), ()):
            if message.id not in followed:
                followed[message.id] = message
                waiting.append(message.id)
    return list(followed.values())[::-1]


def _is_of(memory: MemoryRecord, record: MemoryRecord) -> bool:
    """Return whether a memory is the record itself, or was read from it."""
    if memory.id == record.id:
        return True
    return record.kind is Kind.EPISODE and memory.actor == record.actor and is_read_from(memory, record)
