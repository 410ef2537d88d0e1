"""What several routes do with the memories of one owner or of several: search, list, count, erase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ebbing.domain.errors import InvalidInputError, TooLargeError
from ebbing.interfaces.http.mem0.owner_params import Asked, owner_of
from ebbing.interfaces.http.mem0.responses import APP, Item, end_of
from ebbing.interfaces.http.request_context import Caller

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


async def searched(caller: Caller, asked: Sequence[Asked], *, search: Search) -> list[Item]:
    """The best answers of all owners together, best first."""
    found: list[Item] = []
    for one in asked:
        answer = await caller.memory.search(
            search.query,
            **one.whose,
            filters=one.filters or None,
            top_k=search.top_k,
            include="memories",
            reference_date=search.reference_date,
            threshold=search.threshold,
            explain=search.explain,
        )
        found += answer["results"] if isinstance(answer, Mapping) else answer
    return _each_once(sorted(found, key=lambda item: -item["score"]))[: search.top_k] if len(asked) > 1 else found


async def listed(caller: Caller, asked: Sequence[Asked]) -> list[Item]:
    """Every memory of all owners, the newest first.

    Raises:
        TooLargeError: more than 50,000.
    """
    found: list[Item] = []
    for one in asked:
        cursor: str | None = None
        while True:
            page = await caller.memory.get_all(**one.whose, filters=one.filters or None, limit=_PAGE, cursor=cursor)
            found += page["results"]
            cursor = page["next_cursor"]
            if cursor is None:
                break
            if len(found) > MOST_LISTED:
                raise TooLargeError(
                    f"more than {MOST_LISTED:,} memories fit: narrow the filters, or use GET /v1/memories"
                )
    return _each_once(sorted(found, key=lambda item: item["created_at"], reverse=True)) if len(asked) > 1 else found


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
        **caller.whose(ids.get("user_id"), ids.get("agent_id"), run_id=ids.get("run_id")),
        metadata=metadata,
        infer=body.get("infer") is not False,
        expires_at=end_of(body.get("expiration_date")),
    )
    results: list[Item] = answer["results"] if isinstance(answer, Mapping) else answer
    return results


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
        {"timestamp": timestamp, **one}
        if isinstance(one, Mapping)
        else {"role": "user", "content": one, "timestamp": timestamp}
        for one in several
    ]
