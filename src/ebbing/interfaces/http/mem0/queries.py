"""What several routes do with the memories of one owner or of several: search, list, count, erase."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ebbing.domain.errors import InvalidInputError, TooLargeError
from ebbing.interfaces.http.mem0.across import across_owners
from ebbing.interfaces.http.mem0.narrowing import with_narrowing
from ebbing.interfaces.http.mem0.owner_params import OwnerQuery, asked_of, owner_of
from ebbing.interfaces.http.mem0.responses import APP, Item, end_of
from ebbing.interfaces.http.request_context import Caller
from ebbing.remember.intake.parse_messages import omitted_parts

_PAGE: Final = 1_000
MOST_LISTED: Final = 50_000
"""Memories that one listing may go through, to count them."""
MOST_PAGE: Final = 1_000


@dataclass(frozen=True, slots=True)
class Search:
    """A question to one owner or several."""

    query: str
    top_k: int
    threshold: float | None = None
    reference_date: Any = None
    explain: bool = False
    rerank: bool = True
    precise: bool = False


async def owners_meant(caller: Caller, params: Mapping[str, Any]) -> list[OwnerQuery]:
    """Return every owner that a body or query means, with what else it asks for as filters.

    Raises:
        MissingOwnerError: nobody is named.
        InvalidInputError: unusable filters, or too many owners in them.
        TooLargeError: an agent, run or app alone names more owners than can be asked.
    """
    filters = params.get("filters")
    if filters is not None and not isinstance(filters, Mapping):
        raise InvalidInputError("filters must be an object")
    narrowed = with_narrowing(filters, params, now=caller.memory.components.clock.now())
    return await across_owners(caller, asked_of(caller, {**params, "filters": narrowed}))


async def searched(caller: Caller, owner_queries: Sequence[OwnerQuery], *, search: Search) -> list[Item]:
    """The best answers of all owners together, best first."""
    results: list[Item] = []
    for owner_query in owner_queries:
        answer = await caller.memory.search(
            search.query,
            **owner_query.owner,
            filters=owner_query.filters or None,
            top_k=search.top_k,
            include="memories",
            reference_date=search.reference_date,
            threshold=search.threshold,
            explain=search.explain,
            rerank=search.rerank,
            precise=search.precise,
        )
        results += _results(answer)
    return (
        _each_once(sorted(results, key=lambda item: -item["score"]))[: search.top_k]
        if len(owner_queries) > 1
        else results
    )


async def listed(caller: Caller, owner_queries: Sequence[OwnerQuery]) -> list[Item]:
    """Every memory of all owners, the newest first.

    Raises:
        TooLargeError: more than 50,000.
    """
    results: list[Item] = []
    for owner_query in owner_queries:
        cursor: str | None = None
        while True:
            page = await caller.memory.get_all(
                **owner_query.owner, filters=owner_query.filters or None, limit=_PAGE, cursor=cursor
            )
            results += _results(page)
            cursor = page["next_cursor"]
            if cursor is None:
                break
            if len(results) > MOST_LISTED:
                raise TooLargeError(
                    f"more than {MOST_LISTED:,} memories fit: narrow the filters, or use GET /v1/memories"
                )
    return (
        _each_once(sorted(results, key=lambda item: item["created_at"], reverse=True))
        if len(owner_queries) > 1
        else results
    )


async def newest(caller: Caller, owner_queries: Sequence[OwnerQuery], *, limit: int) -> list[Item]:
    """Return the newest memories of all owners together, at most `limit`."""
    results: list[Item] = []
    for owner_query in owner_queries:
        page = await caller.memory.get_all(**owner_query.owner, filters=owner_query.filters or None, limit=limit)
        results += _results(page)
    return _each_once(sorted(results, key=lambda item: item["created_at"], reverse=True))[:limit]


async def erased(caller: Caller, owner_queries: Sequence[OwnerQuery]) -> Item:
    """Erase for good what is meant, and return how much it was.

    Raises:
        TooLargeError: filters beside the ids fit more than 1,000 memories and messages of an owner.
    """
    counts: Counter[str] = Counter(memories=0, episodes=0)
    for owner_query in owner_queries:
        if owner_query.filters:
            counts += await _erased_by_filters(caller, owner_query)
        else:
            gone = (await caller.memory.delete_all(**owner_query.owner))["deleted"]
            counts += Counter(memories=gone["memories"], episodes=gone["episodes"])
    return {"memories": counts["memories"], "episodes": counts["episodes"]}


async def _erased_by_filters(caller: Caller, owner_query: OwnerQuery) -> Counter[str]:
    page = await caller.memory.get_all(
        **owner_query.owner, filters=owner_query.filters, include="all", superseded=True, limit=_PAGE
    )
    if page["next_cursor"] is not None:
        raise TooLargeError(f"more than {_PAGE:,} memories and messages fit: narrow the filters, or erase the owner")
    counts: Counter[str] = Counter()
    for item in page["results"]:
        await caller.memory.delete(item["id"], hard=True, user_id=owner_query.owner["user_id"])
        counts["episodes" if item["kind"] == "episode" else "memories"] += 1
    return counts


def erasure_message(counts: Mapping[str, int], done: str) -> str:
    """Return `done`, or that there was nothing to erase."""
    return done if any(counts.values()) else "Nothing was erased: no memories fit"


def paged(items: Sequence[Item], *, page: int, size: int, path: str) -> Item:
    """One page of a listing in the platform's envelope: `count, next, previous, results`.

    Raises:
        InvalidInputError: a page or size out of range.
    """
    if page < 1 or not 1 <= size <= MOST_PAGE:
        raise InvalidInputError(f"page begins with 1, page_size is 1 to {MOST_PAGE}")
    first = (page - 1) * size

    def link(number: int) -> str:
        return f"{path}?page={number}&page_size={size}"

    return {
        "count": len(items),
        "next": link(page + 1) if first + size < len(items) else None,
        "previous": link(page - 1) if page > 1 else None,
        "results": list(items[first : first + size]),
    }


async def added(caller: Caller, body: Mapping[str, Any]) -> list[Item]:
    """What became of the messages of a body: `{"id", "memory", "event", …}` for each fact or message.

    Raises:
        InvalidInputError: no messages, or something else that cannot be used.
    """
    filters = body.get("filters")
    ids = {**(owner_of(filters) if isinstance(filters, Mapping) else {}), **owner_of(body)}
    app = ids.pop(APP, None)
    metadata = body.get("metadata")
    if app is not None:
        metadata = {**(metadata if isinstance(metadata, Mapping) else {}), APP: app}
    if body.get("messages") is None:
        raise InvalidInputError("give messages: a text, or a list of messages with role and content")
    answer = await caller.memory.add(
        _timed(body["messages"], body.get("timestamp")),
        **caller.owner_ids(ids.get("user_id"), ids.get("agent_id"), run_id=ids.get("run_id")),
        metadata=metadata,
        infer=body.get("infer") is not False,
        expires_at=end_of(body.get("expiration_date")),
        private=body.get("private") is True,
    )
    return _results(answer)


def _results(answer: Mapping[str, Any] | Sequence[Item]) -> list[Item]:
    """Return the results of an answer, which is the bare list of them in mem0's version v1.0."""
    return [*(answer["results"] if isinstance(answer, Mapping) else answer)]


def omitted(body: Mapping[str, Any]) -> Item:
    """`omitted_parts`, as of `add`, where the messages of a body hold parts that are no text."""
    parts = omitted_parts(body.get("messages"))
    return {"omitted_parts": parts} if parts else {}


def _each_once(items: Sequence[Item]) -> list[Item]:
    """Without what fits two of the questions and came back to both."""
    seen: dict[str, Item] = {}
    for item in items:
        seen.setdefault(item["id"], item)
    return [*seen.values()]


def _timed(messages: Any, timestamp: Any) -> Any:
    """The messages with the time of the whole call, where they have none of their own."""
    if timestamp is None:
        return messages
    several = messages if isinstance(messages, list) else [messages]
    return [
        {"timestamp": timestamp, **item}
        if isinstance(item, Mapping)
        else {"role": "user", "content": item, "timestamp": timestamp}
        for item in several
    ]
