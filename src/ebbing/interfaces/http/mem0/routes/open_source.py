"""The routes of mem0's open-source server, in its shapes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from ebbing.domain.errors import InvalidInputError, MissingOwnerError
from ebbing.interfaces.http.errors import ProblemError
from ebbing.interfaces.http.mem0.narrowing import chosen
from ebbing.interfaces.http.mem0.owner_params import owner_of
from ebbing.interfaces.http.mem0.queries import added, erased, erasure_message, newest, omitted, owners_meant, searched
from ebbing.interfaces.http.mem0.request_models import AddIn, ChangeIn, SearchIn
from ebbing.interfaces.http.mem0.responses import open_item
from ebbing.interfaces.http.mem0.routes.entities import entities_of, erased_entity
from ebbing.interfaces.http.mem0.routes.memories import changed, question_of
from ebbing.interfaces.http.request_context import Administrator, Reader, Writer
from ebbing.interfaces.http.schema.operations import operations
from ebbing.interfaces.http.schema.response_models import ObjectResponse
from ebbing.interfaces.http.schema.responses import encoded

TOP_K = 20
MemoryId = Annotated[str, Path(description="Id of a memory.")]
Id = Annotated[str | None, Query()]
router = operations("mem0 open source")


class Anyhow(BaseModel):
    """A body that is not looked into."""

    model_config = ConfigDict(extra="allow")


@router.post("/memories", response_model=ObjectResponse)
async def add_memories(caller: Writer, body: AddIn) -> Response:
    """Add messages."""
    results = await added(caller, body.model_dump())
    outcomes = [
        {name: result[name] for name in ("id", "memory", "event")} for result in results if result["id"] is not None
    ]
    return encoded({"results": outcomes, **omitted(body.model_dump())})


@router.get("/memories", response_model=ObjectResponse)
async def list_memories(
    caller: Reader,
    *,
    user_id: Id = None,
    agent_id: Id = None,
    run_id: Id = None,
    top_k: Annotated[int, Query(description="1 to 1,000.")] = 100,
    show_expired: Annotated[bool, Query(description="Include memories that have expired.")] = False,
) -> Response:
    """List memories, the newest first."""
    params = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id, "show_expired": show_expired}
    items = await newest(caller, await owners_meant(caller, params), limit=top_k)
    return encoded({"results": [*map(open_item, items)]})


@router.delete("/memories", response_model=ObjectResponse)
async def delete_memories(caller: Writer, user_id: Id = None, *, agent_id: Id = None, run_id: Id = None) -> Response:
    """Erase all memories of a user, agent or run."""
    params = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
    if not owner_of(params):
        raise MissingOwnerError("say what is to be erased: user_id, agent_id or run_id")
    counts = await erased(caller, await owners_meant(caller, params))
    return encoded({"message": erasure_message(counts, "All relevant memories deleted"), "deleted": counts})


@router.get("/memories/{memory_id}", response_model=ObjectResponse | None)
async def get_memory(caller: Reader, memory_id: MemoryId) -> Response:
    """Get a memory. The answer is null for an unknown id."""
    item = await caller.memory.get(memory_id, user_id=caller.user())
    return encoded(None if item is None else open_item(item))


@router.put("/memories/{memory_id}", response_model=ObjectResponse)
async def update_memory(caller: Writer, memory_id: MemoryId, *, body: ChangeIn) -> Response:
    """Update the text, metadata or expiration date of a memory."""
    await changed(caller, memory_id, body=body)
    return encoded({"message": "Memory updated successfully!"})


@router.delete("/memories/{memory_id}", response_model=ObjectResponse)
async def delete_memory(caller: Writer, memory_id: MemoryId) -> Response:
    """Delete a memory."""
    await caller.memory.delete(memory_id, user_id=caller.user())
    return encoded({"message": "Memory deleted successfully"})


@router.get("/memories/{memory_id}/history", response_model=list[ObjectResponse])
async def get_memory_history(caller: Reader, memory_id: MemoryId) -> Response:
    """List the changes of a memory, the oldest first."""
    return encoded(await caller.memory.history(memory_id, user_id=caller.user()))


@router.post("/search", response_model=ObjectResponse)
async def search_memories(caller: Reader, body: SearchIn) -> Response:
    """Search memories, the best answer first."""
    hits = await searched(caller, await owners_meant(caller, body.model_dump()), search=question_of(body, top_k=TOP_K))
    return encoded({"results": chosen(map(open_item, hits), body.fields)})


@router.get("/entities", response_model=list[ObjectResponse])
async def list_entities(caller: Reader) -> Response:
    """List the users, agents and runs that have memories."""
    return encoded(
        [{"id": item.name, "type": item.kind, "total_memories": item.memories} for item in await entities_of(caller)]
    )


@router.delete("/entities/{kind}/{name}", response_model=ObjectResponse)
async def delete_entity(caller: Writer, kind: Literal["user", "agent", "run"], *, name: str) -> Response:
    """Erase all memories of a user, agent or run."""
    counts = await erased_entity(caller, kind, name=name)
    return encoded({"message": erasure_message(counts, "Entity deleted"), "deleted": counts})


@router.get("/configure", response_model=ObjectResponse)
async def get_configuration(caller: Administrator) -> Response:
    """Get the settings in force, with secrets masked."""
    settings: dict[str, Any] = (await caller.memory.maintenance.diagnose())["settings"]
    return encoded(settings)


@router.post("/configure", response_model=ObjectResponse)
async def configure(caller: Administrator, body: Anyhow) -> Response:
    """Refuse to change settings. A running service takes its settings from its environment alone."""
    caller.acted_on("configuration")
    if not body.model_extra:
        raise InvalidInputError("there is nothing to configure in an empty body")
    raise ProblemError("configuration", "a running service is not configured by calls: set EBBING_* and start it anew")


@router.post("/reset", response_model=ObjectResponse)
async def reset(caller: Administrator) -> Response:
    """Erase all memories of the tenant."""
    await caller.memory.reset()
    return encoded({"message": "All memories reset"})
