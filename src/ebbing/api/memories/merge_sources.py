"""The records that were merged into a memory: shown, or put back in its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ebbing.api.answers.items import memory_item
from ebbing.api.calls.call_context import CallContext
from ebbing.domain.errors import InvalidInputError, MemoryNotFoundError
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.ports.event_bus import Topic
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.recall.context.render import memory_text
from ebbing.remember.reconcile.unmerge import merged_records_of, unmerge
from ebbing.results import SourcesAnswer, SplitAnswer

# What a memory tells in the place of others: those others, in the order in which they were said.

_DEEPEST: Final = 64
"""How often a memory that tells others may itself be told by one; more than a lifetime of repeats takes."""


async def merged_sources(store: MemoryStore, teller: MemoryRecord) -> list[MemoryRecord]:
    """The records behind a memory, oldest first; where one of them tells others itself, these stand for it."""
    scope = Scope.of(teller.belongs_to.owner)
    records_by_id: dict[str, MemoryRecord] = {}
    waiting = [teller]
    for _ in range(_DEEPEST):
        ids = dict.fromkeys(
            name for record in waiting for name in record.compression_sources if name not in records_by_id
        )
        records = await store.get(scope, list(ids)) if ids else []
        waiting = [record for record in records if record.is_compressed]
        records_by_id |= {record.id: record for record in records}
        if not waiting:
            break
    sources = [record for record in records_by_id.values() if not record.is_compressed]
    return sorted(sources, key=lambda record: (record.created_at, record.id))


class MergeSources:
    """The verbs about what a merge replaced."""

    def __init__(self, context: CallContext) -> None:
        self._context = context

    async def get_sources(self, memory_id: str, *, user_id: str | None = None) -> SourcesAnswer:
        """Return the records that were merged into a memory, the oldest first.

        Returns:
            `{"id", "memory", "mentions", "first_said_at", "last_said_at", "sources": [items]}`; `sources` is empty
            for a memory that nothing was merged into.

        Raises:
            MemoryNotFoundError: no such memory, or not this user's.
        """
        _, record = await self._record(memory_id, user_id)
        return _sources_item(record, await merged_sources(self._context.store, record))

    async def split_merged(self, memory_id: str, *, user_id: str | None = None) -> SplitAnswer:
        """Put the records back that were merged into a memory, and remove that memory.

        Returns:
            What `get_sources` returned, with `restored`, the number of records, and `change_id`.

        Raises:
            MemoryNotFoundError: no such memory, or not this user's.
            InvalidInputError: nothing was merged into it, or it was reworded by hand.
            ConflictError: somebody else changed it in between: try again.
        """
        scope, record = await self._record(memory_id, user_id)
        sources = await merged_sources(self._context.store, record)
        merged = await merged_records_of(self._context.store, [record], scope=scope)
        if not record.is_compressed or record.provenance.method == "user":
            raise InvalidInputError("nothing was merged into this memory: there is nothing to restore")
        change = ChangeSet(Cause.SPLIT)
        store, now = self._context.store.within(change), self._context.clock.now()
        restored = await unmerge(store, merged, scope=scope, moment=now)
        await self._context.publish(Topic.MEMORY_UPDATED, scope, memory_ids=(source.id for source in sources))
        await self._context.publish(Topic.MEMORY_DELETED, scope, memory_ids=(memory.id for memory in merged))
        return {**_sources_item(record, sources), "restored": restored, "change_id": change.only_id}

    async def _record(self, memory_id: str, user_id: str | None) -> tuple[Scope, MemoryRecord]:
        scope = await self._context.require_scope(memory_id, user_id)
        records = await self._context.store.get(scope, [memory_id])
        if not records:
            raise MemoryNotFoundError("this memory is deleted: restore it first")
        return scope, records[0]


def _sources_item(record: MemoryRecord, sources: Sequence[MemoryRecord]) -> SourcesAnswer:
    return {
        "id": record.id,
        "memory": memory_text(record),
        "mentions": record.mentions,
        "first_said_at": (record.first_said_at or record.created_at).isoformat(),
        "last_said_at": record.created_at.isoformat(),
        "sources": [memory_item(source) for source in sources],
    }
