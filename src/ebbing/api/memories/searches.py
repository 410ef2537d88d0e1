"""Reading: search, get, list, history and explanation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Unpack

from ebbing.api.answers.items import (
    explained_item,
    history_item,
    list_answer,
    memory_item,
    search_answer,
    usage_probability_item,
)
from ebbing.api.calls.call_context import CallContext, measured
from ebbing.domain.filters.query import Include, Query
from ebbing.domain.forgetting.usage_model import usage_features
from ebbing.domain.memory.record import Kind
from ebbing.domain.memory.scope import Scope
from ebbing.ports.event_bus import Topic
from ebbing.ports.meter import Measure
from ebbing.recall.lists.list_memories import list_memories
from ebbing.recall.search import SearchResults, search
from ebbing.results import ExplainAnswer, HistoryItem, ListAnswer, MemoryItem, SearchAnswer
from ebbing.upkeep.fading.usage_model import usage_model_of
from ebbing.validation import (
    DEFAULT_TOP_K,
    ListOptions,
    SearchOptions,
    checked_context_turns,
    checked_limit,
    checked_listing,
    checked_narrowing,
    checked_query,
    checked_threshold,
    checked_time,
    checked_timezone,
    checked_top_k,
    kinds_of,
    with_expired,
    zone_of,
)


def _measure_results(measure: Measure, results: SearchResults) -> None:
    scores = [hit.score for hit in results.hits]
    measure.searched(results.records, scores=scores, failed_retrievers=results.failed_retrievers)


class Searches:
    """The verbs that read memories."""

    def __init__(self, context: CallContext) -> None:
        self._context = context

    async def search(
        self,
        query: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        top_k: int = DEFAULT_TOP_K,
        include: Include | None = None,
        reference_date: datetime | str | float | None = None,
        **narrowing: Unpack[SearchOptions],
    ) -> SearchAnswer:
        """Return the memories and episodes that answer a question, best first.

        Args:
            query: the question, in any language; cut after 4,000 characters.
            filters: what the answers must be like; see docs/filters.md.
            top_k: how many at most, 1 to 50; more is treated as 50.
            include: `all`, `memories` or `episodes`; unless given `memories` where the call is in mem0's shape, which
                says whose memory is meant in `filters` alone, or where its config is, else `all`.
            reference_date: the "now" that words like "yesterday" mean; `as_of`, else the clock's, unless given.
            limit: another name for `top_k`.
            threshold: least score of an answer, in [0, 1]; without it the best `top_k`, however weak.
            as_of: answer with what was known, valid and not deleted at this moment, in the wording of then.
            precise: keep only what the score curve sets apart, so that a question with one answer gets one result and
                a question without gets none; without it, the best `top_k`.
            explain: add `why` and `score_details` to each result.
            rerank: False leaves the configured reranker out; True changes nothing, also where there is none.
            context_turns: add `context` to each result: so many turns before and after it, at most 10.
            show_expired: what has run out may answer as well, but nothing that is no longer true.
            timezone: IANA name of the zone in which days begin and end; without it, each message by its own clock.
            private: leave no trace of the question: it counts as no use, and nobody is told of it.

        Returns:
            `{"results": [{"id", "memory", "score", "kind", "source_ids", …}], "recall_id"}`, `score` in [0, 1]. The
            `recall_id` names the answer for `feedback`. A result that stands for others that say the same names them in
            `duplicate_ids`. `failed_retrievers` names those that failed or were late, and why; the answer is made
            without them.
            `owner_known` is there, and False, where nothing at all is stored of this owner: look at the name.

        Raises:
            InvalidInputError: a blank query, a number out of range, an unusable filter or time, or no owner.
        """
        results = await self.search_records(
            query,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            filters=filters,
            top_k=top_k,
            include=include,
            reference_date=reference_date,
            **narrowing,
        )
        return search_answer(results, self._context.settings.api_version, explained=narrowing.get("explain", False))

    @measured("search", _measure_results)
    async def search_records(
        self,
        query: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        top_k: int = DEFAULT_TOP_K,
        include: Include | None = None,
        reference_date: datetime | str | float | None = None,
        **narrowing: Unpack[SearchOptions],
    ) -> SearchResults:
        """As `search`, with the records and what speaks for each: for doors that answer in forms of their own.

        Args and errors are those of `search`.
        """
        checked_narrowing(narrowing)
        as_of, now = checked_time(narrowing.get("as_of"), "as_of"), self._context.clock.now()
        if narrowing.get("show_expired", False):
            filters = with_expired(filters, now=now)
        scope, filter_ = self._context.scope_and_filter(
            user_id=user_id, agent_id=agent_id, run_id=run_id, filters=filters
        )
        if include is None:
            in_filters = user_id is None and agent_id is None and run_id is None
            include = "memories" if in_filters else self._context.default_include
        parsed_query = Query(
            text=checked_query(query, include=include),
            top_k=checked_top_k(top_k, narrowing.get("limit")),
            now=checked_time(reference_date, "reference_date") or as_of or now,
            include=include,
            min_score=checked_threshold(narrowing.get("threshold")),
            precise=narrowing.get("precise", False),
            filter=filter_,
            as_of=as_of,
            context_turns=checked_context_turns(narrowing.get("context_turns", 0)),
            timezone=checked_timezone(narrowing.get("timezone")),
            default_timezone=zone_of(self._context.settings.timezone),
        )
        is_private = narrowing.get("private", False)
        deps = await self._context.search_deps(is_private=is_private)
        if not narrowing.get("rerank", True):
            deps = replace(deps, reranker=None)
        results = await search(deps, scope, query=parsed_query)
        if not results.hits:
            results.owner_known = await self._is_known(scope)
        if not is_private:
            ids = [hit.record.id for hit in results.hits]
            self._context.components.usage.returned(scope, ids, at=now)
            await self._context.publish(Topic.MEMORY_ACCESSED, scope, memory_ids=ids)
        results.recall_id = self._context.ids.new()
        return results

    async def get(self, memory_id: str, *, user_id: str | None = None) -> MemoryItem | None:
        """Return the memory with this id, or None; with `user_id`, only if it is that user's."""
        scope = await self._context.find_scope(memory_id, user_id)
        records = await self._context.store.get(scope, [memory_id]) if scope else []
        return memory_item(records[0]) if records else None

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
        **which: Unpack[ListOptions],
    ) -> ListAnswer:
        """Return memories that hold, the newest first.

        Args:
            filters: what they must be like; see docs/filters.md.
            limit: how many at most, 1 to 1,000; `top_k` is another name for it.
            show_expired: list what has run out as well, but nothing that is no longer true.
            cursor: `next_cursor` of the page before.
            superseded: list what is no longer true and what has run out as well; so does a filter that asks for
                `valid_to` or `expires_at`.
            as_of: list what was known, valid and not deleted at this moment, in the wording of then.

        Returns:
            `{"results": […], "next_cursor": str | None}`; with `owner_known`, False, where nothing at all is stored of
            this owner: look at the name.

        Raises:
            InvalidInputError: a limit out of range, a foreign cursor, an unusable filter or time, or no owner.
        """
        checked_listing(which)
        if which.get("show_expired", False):
            filters = with_expired(filters, now=self._context.clock.now())
        scope, filter_ = self._context.scope_and_filter(
            user_id=user_id, agent_id=agent_id, run_id=run_id, filters=filters
        )
        page = await list_memories(
            self._context.store,
            scope,
            kinds=kinds_of(include),
            filter_=filter_,
            as_of=checked_time(which.get("as_of"), "as_of"),
            moment=None if which.get("superseded", False) else self._context.clock.now(),
            limit=checked_limit(which.get("top_k") or limit),
            cursor=cursor,
        )
        is_known = bool(page.records) or await self._is_known(scope)
        version = self._context.settings.api_version
        return list_answer(page.records, version, next_cursor=page.next_cursor, owner_known=is_known)

    async def _is_known(self, scope: Scope) -> bool:
        """Return whether anything is stored of the scope's owner, deleted records included."""
        page = await self._context.store.page(scope.whole, kinds=tuple(Kind), limit=1, deleted=True)
        return bool(page.records)

    async def history(self, memory_id: str, *, user_id: str | None = None) -> list[HistoryItem]:
        """Return what happened to a memory, oldest first; empty for an unknown id."""
        scope = await self._context.find_scope(memory_id, user_id)
        return [] if scope is None else [*map(history_item, await self._context.store.history(scope, memory_id))]

    async def explain(self, memory_id: str, *, user_id: str | None = None) -> ExplainAnswer:
        """Why a memory is kept: the item with its `provenance`, every decision about it, and whether it is deleted.

        `usage_probability` is `{"probability", "horizon_days", "features", "is_learned"}`: the probability in (0, 1)
        that the memory is of use again within so many days, the features that it is worked out from, and whether with
        coefficients learned from this owner; None for what is deleted or merged into another memory. `never_fades` is
        True for what says who somebody is or what harms them.

        Raises:
            MemoryNotFoundError: no such memory, or not this user's.
        """
        scope = await self._context.require_scope(memory_id, user_id)
        record = await self._context.require_record(memory_id, scope, deleted=True)
        probability = None
        if record.is_active:
            model = await usage_model_of(self._context.store, scope)
            probability = usage_probability_item(model, usage_features(record, self._context.clock.now()))
        history = await self._context.store.history(scope, memory_id)
        return explained_item(record, history, usage_probability=probability)
