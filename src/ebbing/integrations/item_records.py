"""The records that hold the items of a host, such as a LangGraph store: found by name, listed, ranked, written once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from threading import Lock
from typing import Any, Final

from ebbing import Memory
from ebbing.errors import ConflictError, MemoryNotFoundError
from ebbing.integrations.stored_items import StoredItem, end_of, id_of, is_item, namespace_of, owner_of

MAX_ATTEMPTS: Final = 10
"""How often a put is tried again when somebody else wrote the same key in between."""
_PAGE: Final = 1_000
_RANKED: Final = 50
"""Results of one search at most; items behind them follow without a score."""


class ItemRecords:
    """The items that a host has in a memory, for one tenant; safe to use from many threads.

    Args:
        memory: the memory.
        host: begins the `agent_id` of every namespace.
        tenant: whose items; the memory's own tenant unless given.
    """

    def __init__(self, memory: Memory, *, host: str, tenant: str | None) -> None:
        self._host = host
        self._memory = memory if tenant is None else memory.for_tenant(tenant)
        self._tenant = tenant or memory.components.settings.tenant
        self._lock = Lock()
        self._last_time: datetime | None = None

    def find(self, namespace: Sequence[str], key: str) -> StoredItem | None:
        """Return an item as long as it lives."""
        record = self._memory.get(self._name(namespace, key))
        item = None if record is None else StoredItem.from_record(record)
        return None if item is None or item.is_over(self._now()) else item

    def namespaces(self, prefix: Sequence[str] = ()) -> list[tuple[str, ...]]:
        """Return the namespaces that begin with these labels, in alphabetical order; some may be empty."""
        owners = (owner["name"] for owner in self._memory.maintenance.list_owners() if owner["kind"] == "agent")
        namespaces = (namespace_of(owner) for owner in owners if owner.split("/")[0] == self._host)
        return sorted(namespace for namespace in namespaces if namespace[: len(prefix)] == tuple(prefix))

    def all(self, namespace: Sequence[str]) -> list[StoredItem]:
        """Return the items of a namespace that live, the oldest first."""
        return sorted(self._live(namespace), key=lambda item: (item.created_at, item.key))

    def is_filled(self, namespace: Sequence[str]) -> bool:
        """Return whether an item of a namespace lives."""
        return any(True for _ in self._live(namespace, page_size=10))

    def ranked(self, items: Sequence[StoredItem], query: str) -> Iterator[tuple[StoredItem, float | None]]:
        """Yield the items that are indexed by their relevance in [0, 1], then the others without one."""
        names = {self._id_of(item): item for item in items}
        scores: dict[str, float] = {}
        by_owner: dict[str, list[str]] = {}
        for name, item in names.items():
            if item.text is not None:
                by_owner.setdefault(self._owner(item.namespace), []).append(name)
        for owner, ids in by_owner.items():
            for start in range(0, len(ids), _PAGE):
                scores |= self._scores(query, owner=owner, ids=ids[start : start + _PAGE])
        for name in sorted(scores, key=lambda name: -scores[name]):
            yield names[name], scores[name]
        yield from ((item, None) for name, item in names.items() if name not in scores)

    def refresh(self, item: StoredItem) -> None:
        """Begin the time to live of an item anew."""
        if item.ttl_minutes is None:
            return
        end = end_of(item.ttl_minutes, self._now())
        try:
            self._memory.update(self._id_of(item), expires_at=end)
        except (MemoryNotFoundError, ConflictError):
            return  # somebody else deleted it, or put it, in between

    def check(self, item: StoredItem) -> None:
        """Refuse an item that cannot be stored.

        Raises:
            InvalidInputError: a namespace that is too long, or a value that is no JSON.
            TooLargeError: the value is too large, even when it is compressed.
        """
        self._line(item)

    def put(self, items: Sequence[StoredItem]) -> None:
        """Store items, or replace what lives under their keys.

        Raises:
            ConflictError: somebody else goes on writing the same keys, or an item was refused.
        """
        waiting = {self._id_of(item): item for item in items}
        reason: str | None = None
        for _ in range(MAX_ATTEMPTS):
            waiting = {name: item for name, item in waiting.items() if not self._replace(name, item)}
            if not waiting:
                return
            reason = self._import(waiting)
            waiting = {name: item for name, item in waiting.items() if self._is_other(item)}
        if waiting:
            hint = "somebody else goes on writing them; for another tenant give `tenant=` instead of a view"
            raise ConflictError(f"{len(waiting)} items could not be stored: {reason or hint}")

    def erase(self, namespace: Sequence[str], key: str) -> None:
        """Erase an item for good, if there is one."""
        self._erase(self._name(namespace, key))

    def clear(self, namespace: Sequence[str]) -> None:
        """Erase all items of a namespace for good."""
        self._memory.delete_all(agent_id=self._owner(namespace))

    def new_key(self) -> str:
        """Return a key that nobody else has."""
        return self._memory.components.ids.new()

    def next_time(self) -> datetime:
        """Return the time, later than the last one: the order of items is the order of their puts."""
        with self._lock:
            now = self._now()
            if self._last_time is not None and now <= self._last_time:
                now = self._last_time + timedelta(microseconds=1)
            self._last_time = now
            return now

    def _live(self, namespace: Sequence[str], page_size: int = _PAGE) -> Iterator[StoredItem]:
        """Yield the items of a namespace that live, the newest first."""
        now, cursor = self._now(), None
        while True:
            page = self._memory.export(agent_id=self._owner(namespace), limit=page_size, cursor=cursor)
            records = (record for record in page["records"] if is_item(record))
            yield from (item for item in map(StoredItem.from_record, records) if not item.is_over(now))
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def _scores(self, query: str, *, owner: str, ids: Sequence[str]) -> dict[str, float]:
        """Return the relevance of the best of these items; equal texts are equally relevant."""
        filters = {"id": {"in": [*ids]}}
        results = self._memory.search_records(
            query, agent_id=owner, filters=filters, top_k=_RANKED, include="memories", private=True
        )
        scores: dict[str, float] = {}
        for hit in results.hits:
            scores |= dict.fromkeys((hit.record.id, *hit.duplicate_ids), hit.score)
        return {name: score for name, score in scores.items() if name in ids}

    def _replace(self, name: str, item: StoredItem) -> bool:
        """Put an item in the place of one that lives under its key; return False where there is none."""
        old = self.find(item.namespace, item.key)
        if old is None:
            return False
        text = item.text if item.text != old.text else None
        end = "never" if item.expires_at is None else item.expires_at
        try:
            self._memory.update(name, text, metadata=item.metadata(), expires_at=end)
        except (MemoryNotFoundError, ConflictError):
            return False
        return True

    def _import(self, items: Mapping[str, StoredItem]) -> str | None:
        """Store items under keys where nothing lives, and return why one was refused; what ran out there goes."""
        answer = self._memory.import_([*map(self._line, items.values())])
        if answer["already_stored"]:
            for name, item in items.items():
                if self.find(item.namespace, item.key) is None:
                    self._erase(name)
        return answer["refused"][0]["reason"] if answer["refused"] else None

    def _is_other(self, item: StoredItem) -> bool:
        """Return whether something else stands under the key of an item than this item."""
        stored = self.find(item.namespace, item.key)
        return stored is None or stored.updated_at != item.updated_at

    def _erase(self, name: str) -> None:
        try:
            self._memory.delete(name, hard=True)
        except MemoryNotFoundError:
            return  # nothing to erase

    def _id_of(self, item: StoredItem) -> str:
        return self._name(item.namespace, item.key)

    def _name(self, namespace: Sequence[str], key: str) -> str:
        return id_of(self._tenant, self._owner(namespace), key=key)

    def _owner(self, namespace: Sequence[str]) -> str:
        return owner_of(self._host, namespace)

    def _line(self, item: StoredItem) -> dict[str, Any]:
        return item.line(self._id_of(item), owner=self._owner(item.namespace))

    def _now(self) -> datetime:
        return self._memory.components.clock.now()
