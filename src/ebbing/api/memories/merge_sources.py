"""The records that were merged into a memory: shown, or put back in its place."""

from __future__ import annotations

from collections.abc import Sequence

from ebbing.api.answers.items import memory_item
from ebbing.api.calls.call_context import CallContext
from ebbing.domain.errors import InvalidInputError, MemoryNotFoundError
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.ports.event_bus import Topic
from ebbing.recall.merge_sources import merged_sources
from ebbing.remember.reconcile.unmerge import merged_records_of, unmerge
from ebbing.results import SourcesAnswer, SplitAnswer


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
        "memory": record.content,
        "mentions": record.mentions,
        "first_said_at": (record.first_said_at or record.created_at).isoformat(),
        "last_said_at": record.created_at.isoformat(),
        "sources": [memory_item(source) for source in sources],
    }
