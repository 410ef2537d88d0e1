"""`/v1/memories`: add, search, list, and one memory by its id."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from ebbing.domain.errors import InvalidInputError, MemoryNotFoundError
from ebbing.interfaces.http.answers import added_out, encoded, memory_out
from ebbing.interfaces.http.bodies import AddBody, Include, SearchBody, UpdateBody
from ebbing.interfaces.http.caller import Reader, Writer
from ebbing.interfaces.http.errors import documented

router = APIRouter(prefix="/v1/memories", tags=["memories"])

MemoryId = Annotated[str, Path(description="Id of a memory.")]
User = Annotated[str | None, Query(description="Whose memory; only if the credential is not for one user.")]
Name = Annotated[str | None, Query()]


@router.post("", responses=documented(409, 422))
async def add(caller: Writer, body: AddBody) -> Response:
    """Remember a text, or what messages say."""
    if (body.text is None) == (body.messages is None):
        raise InvalidInputError("give text or messages, one of them")
    given = body.text if body.messages is None else body.messages
    options: dict[str, Any] = {
        name: value for name in ("source_id", "mode", "trust") if (value := getattr(body, name)) is not None
    }
    infer = body.messages is not None if body.infer is None else body.infer
    whose = caller.whose(body.user_id, body.agent_id, run_id=body.run_id)
    added = await caller.memory.add(
        given, **whose, metadata=body.metadata, infer=infer, filters=body.filters, **options
    )
    return encoded(added_out(added))


@router.post("/search", responses=documented())
async def search(caller: Reader, body: SearchBody) -> Response:
    """Find what answers a question, best first."""
    found = await caller.memory.search(
        body.query,
        **caller.whose(body.user_id, body.agent_id, run_id=body.run_id),
        **body.model_dump(exclude={"query", "user_id", "agent_id", "run_id"}),
    )
    rest = {name: value for name, value in found.items() if name != "results"}
    return encoded({"memories": [memory_out(hit) for hit in found["results"]], **rest})


@router.get("", responses=documented())
async def list_memories(
    caller: Reader,
    *,
    user_id: User = None,
    agent_id: Name = None,
    run_id: Name = None,
    limit: Annotated[int, Query(description="1 to 1,000.")] = 100,
    cursor: Annotated[str | None, Query(description="`next_cursor` of the page before.")] = None,
    include: Include = "memories",
) -> Response:
    """List memories, the newest first."""
    page = await caller.memory.get_all(
        **caller.whose(user_id, agent_id, run_id=run_id), limit=limit, cursor=cursor, include=include
    )
    return encoded({"memories": [memory_out(item) for item in page["results"]], "next_cursor": page["next_cursor"]})


@router.get("/{memory_id}", responses=documented())
async def get(caller: Reader, memory_id: MemoryId, *, user_id: User = None) -> Response:
    """One memory."""
    item = await caller.memory.get(memory_id, user_id=caller.user(user_id))
    if item is None:
        raise MemoryNotFoundError("no memory with this id: check the id and whose it is")
    return encoded(memory_out(item))


@router.put("/{memory_id}", responses=documented(409, 412, 422))
async def update(caller: Writer, memory_id: MemoryId, *, body: UpdateBody, user_id: User = None) -> Response:
    """Give a memory another text, other metadata, or both."""
    item = await caller.memory.update(memory_id, body.text, metadata=body.metadata, user_id=caller.user(user_id))
    return encoded(memory_out(item))


@router.delete("/{memory_id}", responses=documented(409))
async def delete(
    caller: Writer,
    memory_id: MemoryId,
    *,
    user_id: User = None,
    hard: Annotated[bool, Query(description="For good: it cannot be restored.")] = False,
    reason: Annotated[str | None, Query(description="Kept in the history.")] = None,
) -> Response:
    """Take a memory out of every answer; restore brings it back."""
    await caller.memory.delete(memory_id, reason=reason, hard=hard, user_id=caller.user(user_id))
    return encoded({"deleted": True, "id": memory_id})


@router.post("/{memory_id}/restore", responses=documented(409))
async def restore(caller: Writer, memory_id: MemoryId, *, user_id: User = None) -> Response:
    """Bring a deleted memory back."""
    item = await caller.memory.restore(memory_id, user_id=caller.user(user_id))
    return encoded(memory_out(item))


@router.get("/{memory_id}/history", responses=documented())
async def history(caller: Reader, memory_id: MemoryId, *, user_id: User = None) -> Response:
    """What happened to a memory, oldest first."""
    return encoded({"history": await caller.memory.history(memory_id, user_id=caller.user(user_id))})


@router.get("/{memory_id}/explain", responses=documented())
async def explain(caller: Reader, memory_id: MemoryId, *, user_id: User = None) -> Response:
    """Why a memory is kept: its source, every decision about it, and what became of it."""
    return encoded(memory_out(await caller.memory.explain(memory_id, user_id=caller.user(user_id))))
