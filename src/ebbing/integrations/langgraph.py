"""A LangGraph store: items under namespaces and keys, exact, durable, and found by what they mean."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from ebbing.errors import MissingExtraError

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        get_text_at_path,
    )
except ImportError as error:
    raise MissingExtraError("the LangGraph store needs langgraph: pip install 'ebbing[langgraph]'") from error

from ebbing import Memory
from ebbing.integrations.item_records import ItemRecords
from ebbing.integrations.stored_items import StoredItem, end_of, fits_path, matches, search_text, whole_text


class EbbingStore(BaseStore):
    """A `BaseStore` whose items live in an Ebbing memory: they survive a restart and never fade.

    Each namespace is an owner of its own, `agent_id="langgraph/<label>/<label>"`. Searches with a query rank by meaning
    and by words, in any language. Safe to use from many threads; several processes may share the directory.

    Args:
        memory: the memory that holds the items; whoever opened it closes it.
        fields: paths of the values that a search compares, such as `["text"]`; everything unless given.
        tenant: whose items; give it here rather than a memory that `for_tenant` returned.
        ttl: LangGraph's configuration of the time to live: `default_ttl` in minutes, `refresh_on_read`.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: Memory,
        *,
        fields: Sequence[str] | None = None,
        tenant: str | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        self._records = ItemRecords(memory, host="langgraph", tenant=tenant)
        self._fields = [*fields] if fields is not None else ["$"]
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Answer every operation, in order; what is put in a batch is read by the next batch.

        Raises:
            InvalidInputError: a namespace that is too long, or a value that is no JSON; then nothing is written.
            TooLargeError: a value over 64 KiB, compressed; then nothing is written.
            ConflictError: somebody else goes on writing the same keys.
            StoreError: the memory could not be read or written.
        """
        results: list[Result] = []
        puts: dict[tuple[tuple[str, ...], str], PutOp] = {}
        for operation in ops:
            if isinstance(operation, PutOp):
                puts[operation.namespace, operation.key] = operation
                results.append(None)
            elif isinstance(operation, GetOp):
                results.append(self._get(operation))
            elif isinstance(operation, SearchOp):
                results.append(self._search(operation))
            elif isinstance(operation, ListNamespacesOp):
                results.append(self._list_namespaces(operation))
            else:
                raise ValueError(f"unknown operation: {type(operation).__name__}")
        items = [self._item(operation) for operation in puts.values() if operation.value is not None]
        for operation in puts.values():
            if operation.value is None:
                self._records.erase(operation.namespace, operation.key)
        self._records.put(items)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Answer every operation in a thread, as `batch` does."""
        return await asyncio.to_thread(self.batch, [*ops])

    def _get(self, operation: GetOp) -> Item | None:
        item = self._records.find(operation.namespace, operation.key)
        if item is None:
            return None
        if operation.refresh_ttl:
            self._records.refresh(item)
        return Item(
            value=item.value,
            key=item.key,
            namespace=item.namespace,
            created_at=item.created_at,
            updated_at=item.updated_at,
        )

    def _search(self, operation: SearchOp) -> list[SearchItem]:
        namespaces = self._records.namespaces(operation.namespace_prefix)
        fitting = (
            item
            for namespace in namespaces
            for item in self._records.all(namespace)
            if matches(item.value, operation.filter)
        )
        scored: Iterable[tuple[StoredItem, float | None]] = ((item, None) for item in fitting)
        if operation.query:
            scored = self._records.ranked([*fitting], operation.query)
        hits = [*islice(scored, operation.offset, operation.offset + operation.limit)]
        if operation.refresh_ttl:
            for item, _ in hits:
                self._records.refresh(item)
        return [
            SearchItem(item.namespace, item.key, item.value, item.created_at, item.updated_at, score)
            for item, score in hits
        ]

    def _list_namespaces(self, operation: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions, depth = operation.match_conditions or (), operation.max_depth
        stop = operation.offset + operation.limit
        listed: dict[tuple[str, ...], None] = {}
        for namespace in self._records.namespaces():
            if len(listed) >= stop:
                break
            is_wanted = all(fits_path(namespace, which.path, match_type=which.match_type) for which in conditions)
            if is_wanted and namespace[:depth] not in listed and self._records.is_filled(namespace):
                listed[namespace[:depth]] = None
        return [*listed][operation.offset : stop]

    def _item(self, operation: PutOp) -> StoredItem:
        """Return the item that an operation puts; refuse what cannot be stored before anything is written."""
        value, now = dict(operation.value or {}), self._records.next_time()
        item = StoredItem(
            namespace=operation.namespace,
            key=operation.key,
            value=value,
            created_at=now,
            updated_at=now,
            text=self._search_text(value, operation.index),
            ttl_minutes=operation.ttl,
            expires_at=end_of(operation.ttl, now),
        )
        self._records.check(item)
        return item

    def _search_text(self, value: dict[str, Any], index: bool | Sequence[str] | None) -> str | None:
        if index is False:
            return None
        paths = self._fields if index is None or index is True else index
        parts: list[str] = []
        for path in paths:
            parts += whole_text(value) if path == "$" else get_text_at_path(value, path)
        return search_text(parts)
