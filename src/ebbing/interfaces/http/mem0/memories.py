"""The platform's routes about memories: those that today's clients call, and the older ones."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from ebbing.domain.errors import MemoryNotFoundError, MissingOwnerError
from ebbing.interfaces.http.errors import documented
from ebbing.interfaces.http.mem0.events import Events, events_of
from ebbing.interfaces.http.mem0.owner_params import asked_of, owner_of, said_filters
from ebbing.interfaces.http.mem0.queries import Search, added, listed, paged, searched
from ebbing.interfaces.http.mem0.request_models import AddIn, ChangeIn, ListIn, SearchIn
from ebbing.interfaces.http.mem0.responses import Item, change_out, end_of, platform_hit, platform_item
from ebbing.interfaces.http.request_context import Caller, Reader, Writer
from ebbing.interfaces.http.response_models import Anything
from ebbing.interfaces.http.responses import encoded
from ebbing.remember.edit import NEVER

TOP_K = 10
PAGE_SIZE = 100
MemoryId = Annotated[str, Path(description="Id of a memory.")]

router = APIRouter(tags=["mem0 platform"])


@router.post("/v3/memories/add/", response_model=Anything, responses=documented())
async def add(caller: Writer, body: AddIn, *, request: Request) -> Response:
    """Remember what a conversation says; it is done when this answers."""
    results = await added(caller, body.model_dump())
    told = [{"id": one["id"], "data": {"memory": one["memory"]}, "event": one["event"]} for one in results]
    event = _noted(events_of(request), caller, results=results, user=body.user_id)
    said = {"message": "Memories were processed", "status": "SUCCEEDED", "event_id": event, "results": told}
    return encoded(said)


@router.post("/v3/memories/search/", response_model=Anything, responses=documented())
async def search(caller: Reader, body: SearchIn) -> Response:
    """Find what answers a question, best first."""
    return encoded({"results": [*map(platform_hit, await _found(caller, body))]})


@router.post("/v3/memories/", response_model=Anything, responses=documented())
async def list_all(caller: Reader, body: ListIn, *, page: int | None = None, page_size: int | None = None) -> Response:
    """List memories, the newest first, page by page."""
    items = await listed(caller, asked_of(caller, body.model_dump()))
    number, size = _first(page, body.page, 1), _first(page_size, body.page_size, PAGE_SIZE)
    return encoded(paged([*map(platform_item, items)], page=number, size=size, path="/v3/memories/"))


@router.get("/v1/memories/{memory_id}/", response_model=Anything, responses=documented())
async def get(caller: Reader, memory_id: MemoryId) -> Response:
    """One memory."""
    item = await caller.memory.get(memory_id, user_id=caller.user())
    if item is None:
        raise MemoryNotFoundError("no memory with this id: check the id and whose it is")
    return encoded(platform_item(item))


@router.put("/v1/memories/{memory_id}/", response_model=Anything, responses=documented())
async def update(caller: Writer, memory_id: MemoryId, *, body: ChangeIn) -> Response:
    """Give a memory another text, other metadata, or another end."""
    return encoded(platform_item(await changed(caller, memory_id, body=body)))


@router.delete("/v1/memories/{memory_id}/", response_model=Anything, responses=documented())
async def delete(caller: Writer, memory_id: MemoryId) -> Response:
    """Take a memory out of every answer."""
    await caller.memory.delete(memory_id, user_id=caller.user())
    return encoded({"message": "Memory deleted successfully!"})


@router.get("/v1/memories/{memory_id}/history/", response_model=Anything, responses=documented())
async def history(caller: Reader, memory_id: MemoryId) -> Response:
    """What happened to a memory, oldest first."""
    whose = caller.user()
    item = await caller.memory.get(memory_id, user_id=whose)
    changes = await caller.memory.history(memory_id, user_id=whose)
    user = item.get("user_id") if item else whose
    return encoded([change_out(change, user_id=user) for change in changes])


@router.delete("/v1/memories/", response_model=Anything, responses=documented())
async def delete_all(
    caller: Writer, request: Request, *, filters: Annotated[str | None, Query(description="JSON.")] = None
) -> Response:
    """Erase everything of a user, agent or run for good."""
    given = {**dict(request.query_params), "filters": said_filters(filters)}
    gone = [
        await caller.memory.delete_all(**one.whose, filters=one.filters or None)
        for one in asked_of(caller, _unless_everything(given))
    ]
    event = events_of(request).note(caller, "DELETE_ALL", user=owner_of(given).get("user_id"))
    counts = {name: sum(one["deleted"][name] for one in gone) for name in ("memories", "episodes")}
    return encoded({"message": "Memories deleted successfully!", "event_id": event, "deleted": counts})


# ── the older routes, which 1.x clients and those written after them still call ──────────────────────────────────────


@router.post("/v1/memories/", response_model=Anything, responses=documented())
async def add_before(caller: Writer, body: AddIn) -> Response:
    """Remember what a conversation says."""
    results = [
        {"id": one["id"], "memory": one["memory"], "event": one["event"], "data": {"memory": one["memory"]}}
        for one in await added(caller, body.model_dump())
        if one["id"] is not None
    ]
    return encoded({"results": results} if body.output_format == "v1.1" else results)


@router.get("/v1/memories/", response_model=Anything, responses=documented())
async def list_before(
    caller: Reader, request: Request, *, page: int | None = None, page_size: int | None = None
) -> Response:
    """List memories, the newest first; in pages where a page is asked for."""
    items = [*map(platform_item, await listed(caller, asked_of(caller, dict(request.query_params))))]
    if page is None and page_size is None:
        return encoded(items)
    return encoded(paged(items, page=_first(page, 1), size=_first(page_size, PAGE_SIZE), path="/v1/memories/"))


@router.post("/v2/memories/", response_model=Anything, responses=documented())
async def list_by_filters(
    caller: Reader, body: ListIn, *, page: int | None = None, page_size: int | None = None
) -> Response:
    """List memories by filters, the newest first; in pages where a page is asked for."""
    items = [*map(platform_item, await listed(caller, asked_of(caller, body.model_dump())))]
    if {page, page_size, body.page, body.page_size} == {None}:
        return encoded(items)
    number, size = _first(page, body.page, 1), _first(page_size, body.page_size, PAGE_SIZE)
    return encoded(paged(items, page=number, size=size, path="/v2/memories/"))


@router.post("/v1/memories/search/", response_model=Anything, responses=documented())
@router.post("/v2/memories/search/", response_model=Anything, responses=documented())
async def search_before(caller: Reader, body: SearchIn) -> Response:
    """Find what answers a question, best first."""
    hits = [*map(platform_hit, await _found(caller, body))]
    return encoded({"results": hits} if body.output_format == "v1.1" else hits)


async def changed(caller: Caller, memory_id: str, *, body: ChangeIn) -> Item:
    """The memory with what a body changes of it."""
    ends: Any = end_of(body.expiration_date)
    if ends is None and "expiration_date" in body.model_fields_set:
        ends = NEVER
    text = body.text if body.text is not None else body.data
    return await caller.memory.update(memory_id, text, metadata=body.metadata, user_id=caller.user(), expires_at=ends)


async def _found(caller: Caller, body: SearchIn) -> list[Item]:
    question = Search(body.query, body.top_k or body.limit or TOP_K, body.threshold, body.reference_date, body.explain)
    return await searched(caller, asked_of(caller, body.model_dump()), search=question)


def _first(*numbers: int | None) -> int:
    """The first that was given; a 0 is given, and refused later."""
    return next(number for number in numbers if number is not None)


def _unless_everything(given: dict[str, Any]) -> dict[str, Any]:
    """What is to be erased, which has to be said also by who may touch one user's memory alone."""
    if not owner_of(given) and not given["filters"]:
        raise MissingOwnerError("say what is to be erased: user_id, agent_id or run_id")
    return given


def _noted(events: Events, caller: Caller, *, results: list[Item], user: object) -> str:
    told = [{"id": one["id"], "event": one["event"]} for one in results]
    return events.note(caller, "ADD", user=None if user is None else str(user), results=told)
