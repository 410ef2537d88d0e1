"""The part of the façade that reads."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ebbing.arguments import MAX_TOP_K, checked_limit, checked_query, kinds_of
from ebbing.domain.errors import MemoryNotFoundError
from ebbing.domain.query import Include, Query
from ebbing.facade.base import Facade
from ebbing.recall.search import search
from ebbing.remember.messages import parse_time
from ebbing.shapes import Item, answer, explained_item, history_item, hit_item, memory_item


class Recalling(Facade):
    """What brings memories back and tells about them."""

    async def search(
        self,
        query: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        top_k: int = 5,
        include: Include = "all",
        reference_date: datetime | str | float | None = None,
    ) -> Any:
        """The memories and episodes that answer a question, best first.

        Args:
            query: the question, in any language; cut after 4,000 characters.
            top_k: how many at most, 1 to 50; more is treated as 50.
            include: `all`, `memories` or `episodes`.
            reference_date: the "now" that words like "yesterday" mean; the clock's unless given.

        Returns:
            `{"results": [{"id", "memory", "score", "kind", "source_ids", …}]}`, `score` in [0, 1].

        Raises:
            InvalidInputError: a blank query, a `top_k` below 1, an unknown `include`, or no owner.
        """
        scope = self._scope(user_id=user_id, agent_id=agent_id, run_id=run_id, filters=filters)
        asked = checked_query(query, top_k, include=include)
        now = self._parts.clock.now() if reference_date is None else parse_time(reference_date, "reference_date")
        hits = await search(
            self._parts.store,
            (await self._using()).embedder,
            scope=scope,
            query=Query(asked, min(top_k, MAX_TOP_K), now, include),
            tuning=self._parts.tuning,
        )
        return answer(map(hit_item, hits), self._parts.settings.api_version)

    async def get(self, memory_id: str, *, user_id: str | None = None) -> Item | None:
        """The memory with this id, or None; with `user_id`, only if it is that user's."""
        scope = await self._scope_of(memory_id, user_id)
        found = await self._parts.store.get(scope, [memory_id]) if scope else []
        return memory_item(found[0]) if found else None

    async def get_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        limit: int = 100,
        cursor: str | None = None,
        include: Include = "memories",
    ) -> Any:
        """Memories, the newest first.

        Args:
            limit: how many at most, 1 to 1,000.
            cursor: `next_cursor` of the page before.

        Returns:
            `{"results": […], "next_cursor": str | None}`.

        Raises:
            InvalidInputError: a limit out of range, a foreign cursor, an unknown `include`, or no owner.
        """
        scope = self._scope(user_id=user_id, agent_id=agent_id, run_id=run_id, filters=filters)
        page = await self._parts.store.page(scope, kinds=kinds_of(include), limit=checked_limit(limit), cursor=cursor)
        items = map(memory_item, page.records)
        return answer(items, self._parts.settings.api_version, next_cursor=page.next_cursor)

    async def history(self, memory_id: str, *, user_id: str | None = None) -> list[Item]:
        """What happened to a memory, oldest first; empty for an unknown id."""
        scope = await self._scope_of(memory_id, user_id)
        return [] if scope is None else [*map(history_item, await self._parts.store.history(scope, memory_id))]

    async def explain(self, memory_id: str, *, user_id: str | None = None) -> Item:
        """Why a memory is kept: the item with its `provenance`, every decision about it, and whether it is deleted.

        Raises:
            MemoryNotFoundError: no such memory, or not this user's.
        """
        scope = await self._known_scope(memory_id, user_id)
        found = await self._parts.store.get(scope, [memory_id], deleted=True)
        if not found:
            raise MemoryNotFoundError("no memory with this id: check the id and whose it is")
        return explained_item(found[0], await self._parts.store.history(scope, memory_id))
