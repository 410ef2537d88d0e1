"""The platform's routes about memories: those that today's clients call, and the older ones."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import Path, Query, Request
from starlette.responses import Response

from ebbing.domain.errors import InvalidInputError, MemoryNotFoundError, MissingOwnerError
from ebbing.interfaces.http.mem0.narrowing import chosen
from ebbing.interfaces.http.mem0.owner_params import owner_of, said_filters
from ebbing.interfaces.http.mem0.queries import (
    Search,
    added,
    erased,
    erasure_message,
    listed,
    omitted,
    owners_meant,
    paged,
    searched,
)
from ebbing.interfaces.http.mem0.request_models import AddIn, ChangeIn, IdsQuery, ListIn, ListQueryIn, SearchIn
from ebbing.interfaces.http.mem0.responses import Item, change_out, end_of, platform_hit, platform_item
from ebbing.interfaces.http.mem0.routes.events import Events, events_of
from ebbing.interfaces.http.request_context import Caller, Reader, Writer
from ebbing.interfaces.http.schema.operations import operations
from ebbing.interfaces.http.schema.response_models import ObjectResponse
from ebbing.interfaces.http.schema.responses import encoded
from ebbing.remember.edit import NEVER

TOP_K = 10
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
PAGE_SIZE = 100
MemoryId = Annotated[str, Path(description="Id of a memory.")]

router = operations("mem0 platform")


@router.post("/v3/memories/add/", response_model=ObjectResponse)
async def add_memories(caller: Writer, body: AddIn, *, request: Request) -> Response:
    """Add messages. The work is done when this answers, so the status is never `PENDING`."""
    results = await added(caller, body.model_dump())
    outcomes = [
        {"id": result["id"], "data": {"memory": result["memory"]}, "event": result["event"]} for result in results
    ]
    event = _noted(events_of(request), caller, results=results, user=body.user_id)
    answer = {"message": "Memories were processed", "status": "SUCCEEDED", "event_id": event, "results": outcomes}
    answer |= omitted(body.model_dump())
    return encoded({**answer, "ignored": body.ignored} if body.ignored else answer)


@router.post("/v3/memories/search/", response_model=ObjectResponse)
async def search_memories(caller: Reader, body: SearchIn) -> Response:
    """Search memories, the best answer first."""
    return encoded({"results": await _hits(caller, body)})


@router.post("/v3/memories/", response_model=ObjectResponse)
async def list_memories(
    caller: Reader, body: ListIn, *, page: int | None = None, page_size: int | None = None
) -> Response:
    """List memories by filters, the newest first, page by page."""
    return encoded(await _page(caller, body.model_dump(), page=page, page_size=page_size, path="/v3/memories/"))


@router.get("/v1/memories/{memory_id}/", response_model=ObjectResponse)
async def get_memory(caller: Reader, memory_id: MemoryId) -> Response:
    """Get a memory."""
    item = await caller.memory.get(memory_id, user_id=caller.user())
    if item is None and _UUID.fullmatch(memory_id) is None:
        raise InvalidInputError("memory_id is not a UUID, and no memory has this id")
    if item is None:
        raise MemoryNotFoundError("no memory with this id: check the id and whose it is")
    return encoded(platform_item(item))


@router.put("/v1/memories/{memory_id}/", response_model=ObjectResponse)
async def update_memory(caller: Writer, memory_id: MemoryId, *, body: ChangeIn) -> Response:
    """Update the text, metadata or expiration date of a memory."""
    item = platform_item(await changed(caller, memory_id, body=body))
    return encoded(item if body.timestamp is None else {**item, "ignored": ["timestamp"]})


@router.delete("/v1/memories/{memory_id}/", response_model=ObjectResponse)
async def delete_memory(
    caller: Writer,
    memory_id: MemoryId,
    *,
    delete_linked: Annotated[bool, Query(description="No effect: memories have no links here.")] = False,  # noqa: ARG001
) -> Response:
    """Delete a memory."""
    await caller.memory.delete(memory_id, user_id=caller.user())
    return encoded({"message": "Memory deleted successfully!"})


@router.get("/v1/memories/{memory_id}/history/", response_model=list[ObjectResponse])
async def get_memory_history(caller: Reader, memory_id: MemoryId) -> Response:
    """List the changes of a memory, the oldest first."""
    owner = caller.user()
    item = await caller.memory.get(memory_id, user_id=owner)
    changes = await caller.memory.history(memory_id, user_id=owner)
    user = item.get("user_id") if item else owner
    return encoded([change_out(change, user_id=user) for change in changes])


@router.delete("/v1/memories/", response_model=ObjectResponse)
async def delete_memories(caller: Writer, query: Annotated[IdsQuery, Query()], *, request: Request) -> Response:
    """Erase all memories that the ids and filters name."""
    params = _unless_everything(_from_query(query))
    counts = await erased(caller, await owners_meant(caller, params))
    event = events_of(request).note(caller, "DELETE_ALL", user=owner_of(params).get("user_id"))
    message = erasure_message(counts, "Memories deleted successfully!")
    return encoded({"message": message, "event_id": event, "deleted": counts})


# ── the older routes, which 1.x clients and those written after them still call ──────────────────────────────────────


@router.post("/v1/memories/", response_model=list[ObjectResponse] | ObjectResponse)
async def add_memories_v1(caller: Writer, body: AddIn) -> Response:
    """Add messages, as clients of version 1 do."""
    results = [
        {"id": item["id"], "memory": item["memory"], "event": item["event"], "data": {"memory": item["memory"]}}
        for item in await added(caller, body.model_dump())
        if item["id"] is not None
    ]
    return encoded({"results": results, **omitted(body.model_dump())} if body.output_format == "v1.1" else results)


@router.get("/v1/memories/", response_model=list[ObjectResponse] | ObjectResponse)
async def list_memories_v1(caller: Reader, query: Annotated[ListQueryIn, Query()]) -> Response:
    """List memories, as clients of version 1 do. The answer has pages if a page is asked for."""
    params = _from_query(query)
    if query.page is not None or query.page_size is not None:
        return encoded(await _page(caller, params, path="/v1/memories/"))
    items = await listed(caller, await owners_meant(caller, params))
    rows = chosen(map(platform_item, items[: query.limit]), query.fields)
    return encoded({"results": rows} if query.output_format == "v1.1" else rows)


@router.post(
    "/v2/memories/",
    name="list_memories_v2",
    response_model=list[ObjectResponse] | ObjectResponse,
)
async def list_filtered_memories(
    caller: Reader, body: ListIn, *, page: int | None = None, page_size: int | None = None
) -> Response:
    """List memories by filters, as clients of version 1 do. The answer has pages if a page is asked for."""
    params = body.model_dump()
    if {page, page_size, body.page, body.page_size} != {None}:
        return encoded(await _page(caller, params, page=page, page_size=page_size, path="/v2/memories/"))
    items = await listed(caller, await owners_meant(caller, params))
    rows = chosen(map(platform_item, items[: _first(body.limit, body.top_k, len(items))]), body.fields)
    return encoded({"results": rows} if body.output_format == "v1.1" else rows)


@router.post("/v1/memories/search/", response_model=list[ObjectResponse] | ObjectResponse)
@router.post(
    "/v2/memories/search/",
    name="search_memories_v2",
    response_model=list[ObjectResponse] | ObjectResponse,
)
async def search_memories_v1(caller: Reader, body: SearchIn) -> Response:
    """Search memories, as clients of version 1 do."""
    hits = await _hits(caller, body)
    return encoded({"results": hits} if body.output_format == "v1.1" else hits)


async def changed(caller: Caller, memory_id: str, *, body: ChangeIn) -> Item:
    """The memory with what a body changes of it."""
    ends: Any = end_of(body.expiration_date)
    if ends is None and "expiration_date" in body.model_fields_set:
        ends = NEVER
    text = body.text if body.text is not None else body.data
    item = await caller.memory.update(memory_id, text, metadata=body.metadata, user_id=caller.user(), expires_at=ends)
    return {**item}


async def _hits(caller: Caller, body: SearchIn) -> list[Item]:
    hits = await searched(caller, await owners_meant(caller, body.model_dump()), search=question_of(body, top_k=TOP_K))
    return chosen(map(platform_hit, hits), body.fields)


async def _page(
    caller: Caller, params: Item, *, page: int | None = None, page_size: int | None = None, path: str
) -> Item:
    """Return a page of a listing; numbers in the query win over those in the body."""
    number = _first(page, params.get("page"), 1)
    size = _first(page_size, params.get("page_size"), params.get("limit"), params.get("top_k"), PAGE_SIZE)
    items = await listed(caller, await owners_meant(caller, params))
    answer = paged([*map(platform_item, items)], page=number, size=size, path=path)
    return {**answer, "results": chosen(answer["results"], params.get("fields"))}


def question_of(body: SearchIn, *, top_k: int) -> Search:
    """Return the question of a body; `top_k` is how many answers it wants unless it says so.

    Raises:
        InvalidInputError: it asks for a search by metadata alone.
    """
    if body.only_metadata_based_search:
        raise InvalidInputError("only_metadata_based_search is not supported: list the memories by metadata instead")
    limit = _first(body.top_k, body.limit, top_k)
    return Search(
        body.query,
        limit,
        body.threshold,
        body.reference_date,
        explain=body.explain,
        rerank=body.rerank is not False,
        precise=bool(body.filter_memories),
    )


def _from_query(query: IdsQuery) -> Item:
    """Return a query as a body holds it."""
    params = query.model_dump()
    return {**params, "filters": said_filters(query.filters), "metadata": said_filters(query.metadata)}


def _first(*numbers: int | None) -> int:
    """The first that was given; a 0 is given, and refused later."""
    return next(number for number in numbers if number is not None)


def _unless_everything(params: dict[str, Any]) -> dict[str, Any]:
    """What is to be erased, which has to be said also by who may touch one user's memory alone."""
    if not owner_of(params) and not params["filters"]:
        raise MissingOwnerError("say what is to be erased: user_id, agent_id or run_id")
    return params


def _noted(events: Events, caller: Caller, *, results: list[Item], user: object) -> str:
    outcomes = [{"id": result["id"], "event": result["event"]} for result in results]
    return events.note(caller, "ADD", user=None if user is None else str(user), results=outcomes)
