"""The overview: who is there, what is remembered, how fresh it is, how it fades, and what changed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, TypedDict, Unpack

from ebbing.api.calls.call_context import CallContext
from ebbing.api.memories.context_block import ContextBlocks
from ebbing.api.memories.searches import Searches
from ebbing.api.overview.ask import ask
from ebbing.api.overview.content import content_of, facets_of
from ebbing.api.overview.items import browsed_item, freshness_item, iso
from ebbing.api.overview.near import neighbours_of
from ebbing.api.overview.owners import list_owners
from ebbing.api.overview.past import differences_of, timeline_of
from ebbing.api.people.graph import Graphs
from ebbing.api.upkeep.maintenance import MaintenanceApi
from ebbing.api.upkeep.rounds import upkeep_policy
from ebbing.domain.errors import InvalidInputError
from ebbing.domain.filters.query import Include
from ebbing.domain.forgetting.curves import retention
from ebbing.domain.forgetting.freshness import retention_path
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.cursor import cursor_after, position
from ebbing.recall.context.render import memory_text
from ebbing.recall.lists.browse import Order, State, View, browse
from ebbing.results import (
    AskAnswer,
    BrowseAnswer,
    ContentAnswer,
    DifferencesAnswer,
    FacetsAnswer,
    ForecastAnswer,
    NeighboursAnswer,
    OwnerPage,
    RetentionAnswer,
    TimelineAnswer,
)
from ebbing.validation import DEFAULT_TOP_K, SearchOptions, checked_limit, checked_time, kinds_of

MAX_DAYS: Final = 3_650
POINTS: Final = 120
"""Points of a retention curve, beside those of its uses."""


class BrowseOptions(TypedDict, total=False):
    """Which memories `overview.memories` shows, and how."""

    state: str
    """`current`, `ended` (superseded or expired), `faded`, `gone` (deleted, or told by another), or `all`."""
    order: str
    """`newest`, `oldest`, `freshest` or `stalest`."""
    as_of: datetime | str | float | None
    """What was believed at this moment, whatever `state` says."""


class OverviewApi:
    """`memory.overview`: for people who look into a memory. It changes nothing, and counts as no use."""

    def __init__(
        self,
        context: CallContext,
        *,
        graphs: Graphs,
        maintenance: MaintenanceApi,
        searches: Searches,
        contexts: ContextBlocks,
    ) -> None:
        self._context, self._graphs, self._maintenance = context, graphs, maintenance
        self._searches, self._contexts = searches, contexts
        self._policy = upkeep_policy(context.settings)

    async def owners(
        self,
        *,
        query: str | None = None,
        kind: str | None = None,
        order: str = "memories",
        limit: int = 50,
        cursor: str | None = None,
    ) -> OwnerPage:
        """Return who is there, and how much is known of each.

        Args:
            query: part of a name, in any case.
            kind: `user`, `agent` or `run`; all of them unless given.
            order: `memories` (the most first) or `name`.
            limit: at most so many, 1 to 1,000.

        Returns:
            `{"owners": [{"kind", "name", "memories", "episodes", "first_at", "last_at", "added_by_week"}],
            "next_cursor", "total"}`; `added_by_week` counts the last twelve weeks, the oldest first.

        Raises:
            InvalidInputError: an unknown kind or order, a limit out of range, or a foreign cursor.
        """
        return await list_owners(
            self._context, query=query, kind=kind, order=order, limit=checked_limit(limit), cursor=cursor
        )

    async def memories(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        limit: int = 100,
        cursor: str | None = None,
        include: Include = "memories",
        **options: Unpack[BrowseOptions],
    ) -> BrowseAnswer:
        """Return memories with how fresh each is, and how many there are in all.

        Args:
            filters: what they must be like; see docs/filters.md.
            limit: at most so many, 1 to 1,000.
            state: `current` unless given; see `BrowseOptions`.
            order: `newest` unless given. By freshness every memory is read first.
            as_of: what was believed at this moment, and how fresh it was.

        Returns:
            `{"results": [{…, "freshness", "access_count", "last_accessed_at"}], "next_cursor", "total"}`. What is gone
            has `deleted_at` or `merged_into`, what gave way `superseded_by`.

        Raises:
            InvalidInputError: an unknown state or order, a limit out of range, a foreign cursor, an unusable filter or
                time, or no owner.
        """
        scope, filter_ = self._context.scope_and_filter(
            user_id=user_id, agent_id=agent_id, run_id=run_id, filters=filters
        )
        as_of = checked_time(options.get("as_of"), "as_of")
        now = as_of or self._context.clock.now()
        view = View(
            kinds=kinds_of(include),
            now=now,
            freshness=partial(self._retention, now=now),
            filter=filter_,
            state=_member(State, options.get("state", State.CURRENT), label="state"),
            order=_member(Order, options.get("order", Order.NEWEST), label="order"),
            as_of=as_of,
        )
        page = await browse(self._context.store, scope, view=view, limit=checked_limit(limit), cursor=cursor)
        return {
            "results": [browsed_item(record, now, policy=self._policy) for record in page.records],
            "next_cursor": page.next_cursor,
            "total": page.total,
        }

    async def facets(
        self, *, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> FacetsAnswer:
        """Count what is stored of an owner by kind, type, state, tag and trust.

        Raises:
            InvalidInputError: no owner.
        """
        return await facets_of(self._context, self._scope(user_id=user_id, agent_id=agent_id, run_id=run_id))

    async def content(
        self, *, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> ContentAnswer:
        """Say how well what is kept of an owner is: what nobody ever used, what repeats, asks, waits or disagrees.

        Returns:
            `{"memories", "never_used", "quarantined", "needs_review", "questions", "repeated", "contradictions",
            "ended_by_day", "samples"}`: counts, how many memories ended on each of the last thirty days, and the ids of
            up to twenty of each.

        Raises:
            InvalidInputError: no owner.
        """
        return await content_of(self._context, self._scope(user_id=user_id, agent_id=agent_id, run_id=run_id))

    async def retention(self, memory_id: str, *, user_id: str | None = None, days: int = 365) -> RetentionAnswer:
        """Return how a memory was remembered from the day on which it was made, and will be if nothing uses it.

        Args:
            days: how far into the future, 0 to 3,650.

        Returns:
            `{"id", "now", "curve", "forgotten_below", "freshness", "points", "uses", "returned", "last_returned_at"}`;
            each point is the seconds since 1970 and the retention in [0, 1].

        Raises:
            MemoryNotFoundError: no such memory, or not this user's.
            InvalidInputError: days out of range.
        """
        if not isinstance(days, int) or isinstance(days, bool) or not 0 <= days <= MAX_DAYS:
            raise InvalidInputError(f"days must be a whole number from 0 to {MAX_DAYS:,}")
        scope = await self._context.require_scope(memory_id, user_id)
        record = await self._context.require_record(memory_id, scope, deleted=True)
        usage = await self._context.store.usage.usage(scope, memory_id)
        now, curve = self._context.clock.now(), self._policy.curve
        path = retention_path(record, usage.feedback, until=now + timedelta(days=days), curve=curve, points=POINTS)
        return {
            "id": record.id,
            "now": now.isoformat(),
            "curve": self._context.settings.forgetting_curve,
            "forgotten_below": curve.forgotten_below,
            "freshness": freshness_item(record, now, policy=self._policy),
            "points": [[round(at.timestamp(), 1), round(value, 4)] for at, value in path],
            "uses": [
                {"at": signal.at.isoformat(), "signal": str(signal.signal), "reason": signal.reason}
                for signal in usage.feedback
            ],
            "returned": usage.returned,
            "last_returned_at": iso(usage.last_returned_at),
        }

    async def neighbours(self, memory_id: str, *, user_id: str | None = None, limit: int = 30) -> NeighboursAnswer:
        """Return the people, places and things that a memory names, and the other memories that name them.

        Raises:
            MemoryNotFoundError: no such memory, or not this user's.
            InvalidInputError: a limit out of range, or a memory of a run alone, which has no graph.
        """
        scope = await self._context.require_scope(memory_id, user_id)
        return await neighbours_of(
            self._context, self._graphs, scope=scope, memory_id=memory_id, limit=checked_limit(limit)
        )

    async def timeline(
        self, *, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> TimelineAnswer:
        """Count the memories that came, ended and went, by day, or by month where the days would be more than 400.

        Returns:
            `{"bucket", "buckets": [{"at", "added", "ended", "gone"}], "first_at", "last_at"}`, days in UTC.

        Raises:
            InvalidInputError: no owner.
        """
        return await timeline_of(self._context, self._scope(user_id=user_id, agent_id=agent_id, run_id=run_id))

    async def differences(
        self,
        *,
        since: datetime | str | float,
        until: datetime | str | float | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> DifferencesAnswer:
        """Return what happened to each memory between two moments, newest first.

        Args:
            until: now unless given.

        Returns:
            `{"differences": [{"memory_id", "event", "at", "before", "after", "reason"}], "next_cursor", "total"}`;
            `event` is `ADD`, `UPDATE`, `SUPERSEDE`, `MERGE`, `SPLIT`, `FADE`, `DELETE` or `RESTORE`.

        Raises:
            InvalidInputError: an unusable time, a limit out of range, a foreign cursor, or no owner.
        """
        first = checked_time(since, "since")
        if first is None:
            raise InvalidInputError("since must be a time")
        last = checked_time(until, "until") or self._context.clock.now()
        scope = self._scope(user_id=user_id, agent_id=agent_id, run_id=run_id)
        return await differences_of(
            self._context, scope, since=first, until=last, limit=checked_limit(limit), cursor=cursor
        )

    async def forecast(
        self,
        *,
        by: datetime | str | float,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> ForecastAnswer:
        """Return what forgetting will do to an owner's memories by a day, if nothing is said or used until then.

        Args:
            by: the day; nothing is changed.
            user_id: whose memories. One id: a round is about everything of an owner.

        Returns:
            `{"by", "counts", "changes": [{"memory_id", "memory", "step", "action", "reason"}], "next_cursor",
            "total"}`.

        Raises:
            InvalidInputError: an unusable time, not one id, a limit out of range, or a foreign cursor.
        """
        ids = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        if sum(name is not None for name in ids.values()) != 1:
            raise InvalidInputError("give one of user_id, agent_id and run_id: a round is about all of an owner")
        most, start = checked_limit(limit), 0 if cursor is None else max(position(cursor)[0], 0)
        moment = checked_time(by, "by")
        plan = await self._maintenance.apply_forgetting(**ids, now=moment, dry_run=True)
        changes = plan.get("changes", [])
        scope, end = self._scope(**ids), start + most
        shown = [change["memory_id"] for change in changes[start:end]]
        records = await self._context.store.get(scope, list(dict.fromkeys(shown)), deleted=True)
        texts = {record.id: memory_text(record) for record in records}
        return {
            "by": plan["now"],
            "counts": {
                "decayed": plan["decayed"],
                "consolidated": plan["consolidated"],
                "forgotten": plan["forgotten"],
                "expired": plan["expired"],
                "purged": plan["purged"],
            },
            "changes": [
                {
                    "memory_id": change["memory_id"],
                    "memory": texts.get(change["memory_id"], ""),
                    "step": change["step"],
                    "action": change["action"],
                    "reason": change["reason"],
                }
                for change in changes[start:end]
            ],
            "next_cursor": cursor_after(end, 0) if end < len(changes) else None,
            "total": len(changes),
        }

    async def ask(
        self,
        query: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        top_k: int = DEFAULT_TOP_K,
        max_tokens: int = 1_000,
        **options: Unpack[SearchOptions],
    ) -> AskAnswer:
        """Search, and tell why each memory answers, which came near and why they are left out, and what a model sees.

        It leaves no trace: the question counts as no use.

        Args:
            max_tokens: of the context block.
            options: those of `search`.

        Returns:
            `{"results", "left_out", "recall_id", "search_ms", "context"}`; `left_out` holds up to 50 memories, each
            with `reason`: `below_threshold`, `not_set_apart` (with `precise`) or `beyond_limit`. `context` is what
            `get_context` answers, and is not there with `as_of`.

        Raises:
            InvalidInputError: as for `search` and `get_context`.
        """
        owner = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        return await ask(
            self._searches,
            self._contexts,
            query=query,
            owner=owner,
            top_k=top_k,
            max_tokens=max_tokens,
            options=options,
        )

    def _scope(self, **ids: str | None) -> Scope:
        return self._context.scope(filters=None, **ids)

    def _retention(self, record: MemoryRecord, now: datetime) -> float:
        return retention(record, now, curve=self._policy.curve)


def _member(kind: Any, value: object, *, label: str) -> Any:
    if value not in set(kind):
        raise InvalidInputError(f"{label} must be one of {', '.join(kind)}")
    return kind(value)
