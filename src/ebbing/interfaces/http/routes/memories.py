"""`/v1/memories`: add, search and list."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Query
from starlette.responses import Response

from ebbing.domain.errors import EbbingError, InvalidInputError
from ebbing.interfaces.http.add_call import add, call_of
from ebbing.interfaces.http.errors import ProblemError, problem_of
from ebbing.interfaces.http.request_context import Caller, Reader, Writer
from ebbing.interfaces.http.schema.cut_texts import with_cut_texts
from ebbing.interfaces.http.schema.operations import operations
from ebbing.interfaces.http.schema.request_models import (
    AddBody,
    BatchBody,
    DeleteBody,
    ForgetBody,
    ListQuery,
    OwnerBody,
    SearchBody,
)
from ebbing.interfaces.http.schema.response_models import (
    AcceptedResponse,
    AddResponse,
    BatchAddResponse,
    DeleteResponse,
    MemoryPage,
    ObjectResponse,
    SearchResponse,
)
from ebbing.interfaces.http.schema.responses import accepted, added_out, encoded, memory_out
from ebbing.results import ListAnswer, SearchAnswer

MAX_OFFSET: Final = 10_000
_PAGE: Final = 1_000
_END: Final = "end"
_NARROWING: Final = SearchBody.model_fields.keys() - {*OwnerBody.model_fields, "query", "max_text"}
"""What a search may be asked with beside whose memory is meant, and for what."""

router = operations("memories", prefix="/v1/memories")


@router.post("", response_model=AddResponse, responses={202: {"model": AcceptedResponse}})
async def add_memory(caller: Writer, body: AddBody) -> Response:
    """Add a text or messages. With `Prefer: respond-async` the work is queued, and the job holds the result."""
    owner = caller.owner_of(body)
    call = call_of(body, owner, name=caller.request_name)
    if caller.may_wait:
        later = await caller.memory.enqueue_add(**call)
        return encoded(added_out(later)) if later["job_id"] is None else accepted(later)
    return encoded(added_out(await add(caller.memory, call)))


@router.post("/search", response_model=SearchResponse)
async def search_memories(caller: Reader, body: SearchBody) -> Response:
    """Search memories, the best answer first."""
    options: dict[str, Any] = {**caller.owner_of(body)}
    options["include"] = body.include
    # What was left out is left out here as well: the façade means the same by it.
    options.update((name, getattr(body, name)) for name in body.model_fields_set & _NARROWING)
    answer = await caller.memory.search(body.query, **options)
    return encoded(with_cut_texts(_with_memories(answer), body.max_text))


@router.get("", response_model=MemoryPage)
async def list_memories(caller: Reader, query: Annotated[ListQuery, Query()]) -> Response:
    """List memories, the newest first."""
    owner = caller.owner_of(query)
    tags = [tag.strip() for tag in (query.tags or "").split(",") if tag.strip()]
    options: dict[str, Any] = {
        **owner,
        "include": query.include,
        "as_of": query.as_of,
        "superseded": query.superseded,
        "filters": {"tags": {"in": tags}} if tags else None,
    }
    cursor = await _after(caller, options, query=query)
    if cursor == _END:
        return encoded({"memories": [], "next_cursor": None})
    page = await caller.memory.get_all(**options, limit=query.limit, cursor=cursor)
    return encoded(_with_memories(page))


@router.delete("", response_model=DeleteResponse)
async def delete_memories(
    caller: Writer,
    *,
    user_id: str | None = None,
    agent_id: str | None = None,
    run_id: str | None = None,
    source_id: Annotated[str | None, Query(description="Only this message, and what rests on it alone.")] = None,
) -> Response:
    """Erase all memories of a user, agent or run. With `source_id`, take back one message of a user."""
    if source_id is not None:
        gone = await caller.memory.delete(source_id=source_id, user_id=caller.user(user_id))
        return encoded({"deleted": gone["deleted"], "change_id": gone["change_id"]})
    if user_id is None and agent_id is None and run_id is None:
        raise InvalidInputError("say what is to be erased: user_id, agent_id or run_id, also if the credential tells")
    receipt = await caller.memory.delete_all(**caller.owner_ids(user_id, agent_id, run_id=run_id))
    return encoded({"deleted": receipt["deleted"]})


@router.post("/delete", response_model=DeleteResponse)
async def delete_listed_memories(caller: Writer, body: DeleteBody) -> Response:
    """Delete several memories of one owner, as one change. They can be restored."""
    user = caller.user(body.user_id)
    return encoded(await caller.memory.maintenance.delete_memories(body.ids, user_id=user, reason=body.reason))


@router.post("/batch", response_model=BatchAddResponse)
async def add_memories(caller: Writer, body: BatchBody) -> Response:
    """Add several memories in one call. An entry that cannot be stored does not stop the others."""
    results = [await _added(caller, entry, batch=body, place=place) for place, entry in enumerate(body.memories)]
    return encoded({"results": results})


@router.post("/forget", response_model=ObjectResponse)
async def forget_topic(caller: Writer, body: ForgetBody) -> Response:
    """Forget a topic, in two steps. The first call lists candidates; a second call with `confirm` deletes them."""
    options = body.model_dump(include={"keep", "also", "reason"}, exclude_none=True)
    owner = caller.owner_of(body)
    done = await caller.memory.forget(body.about, **owner, confirm=body.confirm, hard=body.hard, **options)
    answer: dict[str, Any] = {**done}
    for name in ("candidates", "perhaps"):
        if name in answer:
            answer[name] = [memory_out(item) for item in answer[name]]
    return encoded(answer)


def _with_memories(answer: SearchAnswer | ListAnswer) -> dict[str, Any]:
    """Return an answer with `memories` in the place of `results`."""
    rest = {name: value for name, value in answer.items() if name != "results"}
    return {"memories": [memory_out(item) for item in answer["results"]], **rest}


async def _added(caller: Caller, body: AddBody, *, batch: BatchBody, place: int) -> dict[str, Any]:
    name = f"{caller.request_name}-{place}" if caller.request_name else None
    try:
        owner = caller.owner_ids(
            body.user_id or batch.user_id, body.agent_id or batch.agent_id, run_id=body.run_id or batch.run_id
        )
        call = call_of(body, owner, name=name)
        return added_out(await add(caller.memory, {**call, "private": True} if batch.private else call))
    except (EbbingError, ProblemError) as error:
        problem = problem_of(error)
        return {"id": None, "error": {"status": problem.status, "code": problem.code, "detail": problem.detail}}


async def _after(caller: Caller, options: dict[str, Any], *, query: ListQuery) -> str | None:
    """The cursor that an offset means: behind the last page that is left out."""
    left, cursor = query.offset, query.cursor
    if not 0 <= left <= MAX_OFFSET:
        raise InvalidInputError(f"offset must be from 0 to {MAX_OFFSET:,}: to go further, follow next_cursor")
    while left:
        size = min(left, _PAGE)
        page = await caller.memory.get_all(**options, limit=size, cursor=cursor)
        cursor = page["next_cursor"]
        if cursor is None:
            return _END
        left -= size
    return cursor
