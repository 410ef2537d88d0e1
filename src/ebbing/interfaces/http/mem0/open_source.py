"""The routes of mem0's open-source server, in its shapes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from ebbing.domain.errors import InvalidInputError, MissingOwnerError
from ebbing.interfaces.http.errors import ProblemError, documented
from ebbing.interfaces.http.mem0.entities import erased, owners_of
from ebbing.interfaces.http.mem0.memories import changed
from ebbing.interfaces.http.mem0.owner_params import asked_of, owner_of
from ebbing.interfaces.http.mem0.queries import Search, added, searched
from ebbing.interfaces.http.mem0.request_models import AddIn, ChangeIn, SearchIn
from ebbing.interfaces.http.mem0.responses import open_item
from ebbing.interfaces.http.request_context import Administrator, Reader, Writer
from ebbing.interfaces.http.response_models import Anything
from ebbing.interfaces.http.responses import encoded

TOP_K = 20
MemoryId = Annotated[str, Path(description="Id of a memory.")]
Id = Annotated[str | None, Query()]
router = APIRouter(tags=["mem0 open source"])


class Anyhow(BaseModel):
    """A body that is not looked into."""

    model_config = ConfigDict(extra="allow")


@router.post("/memories", response_model=Anything, responses=documented())
async def add(caller: Writer, body: AddIn) -> Response:
    """Remember what a conversation says."""
    results = await added(caller, body.model_dump())
    told = [{name: one[name] for name in ("id", "memory", "event")} for one in results if one["id"] is not None]
    return encoded({"results": told})


@router.get("/memories", response_model=Anything, responses=documented())
async def list_all(
    caller: Reader,
    *,
    user_id: Id = None,
    agent_id: Id = None,
    run_id: Id = None,
    top_k: Annotated[int, Query(description="1 to 1,000.")] = 100,
) -> Response:
    """List memories, the newest first."""
    page = await caller.memory.get_all(**caller.whose(user_id, agent_id, run_id=run_id), limit=top_k)
    return encoded({"results": [*map(open_item, page["results"])]})


@router.delete("/memories", response_model=Anything, responses=documented())
async def delete_all(caller: Writer, user_id: Id = None, *, agent_id: Id = None, run_id: Id = None) -> Response:
    """Erase everything of a user, agent or run for good."""
    if not owner_of({"user_id": user_id, "agent_id": agent_id, "run_id": run_id}):
        raise MissingOwnerError("say what is to be erased: user_id, agent_id or run_id")
    gone = await caller.memory.delete_all(**caller.whose(user_id, agent_id, run_id=run_id))
    return encoded({"message": "All relevant memories deleted", "deleted": gone["deleted"]})


@router.get("/memories/{memory_id}", response_model=Anything, responses=documented())
async def get(caller: Reader, memory_id: MemoryId) -> Response:
    """One memory; null for an unknown id."""
    item = await caller.memory.get(memory_id, user_id=caller.user())
    return encoded(None if item is None else open_item(item))


@router.put("/memories/{memory_id}", response_model=Anything, responses=documented())
async def update(caller: Writer, memory_id: MemoryId, *, body: ChangeIn) -> Response:
    """Give a memory another text, other metadata, or another end."""
    await changed(caller, memory_id, body=body)
    return encoded({"message": "Memory updated successfully!"})


@router.delete("/memories/{memory_id}", response_model=Anything, responses=documented())
async def delete(caller: Writer, memory_id: MemoryId) -> Response:
    """Take a memory out of every answer."""
    await caller.memory.delete(memory_id, user_id=caller.user())
    return encoded({"message": "Memory deleted successfully"})


@router.get("/memories/{memory_id}/history", response_model=Anything, responses=documented())
async def history(caller: Reader, memory_id: MemoryId) -> Response:
    """What happened to a memory, oldest first."""
    return encoded(await caller.memory.history(memory_id, user_id=caller.user()))


@router.post("/search", response_model=Anything, responses=documented())
async def search(caller: Reader, body: SearchIn) -> Response:
    """Find what answers a question, best first."""
    question = Search(body.query, body.top_k or body.limit or TOP_K, body.threshold, body.reference_date, body.explain)
    hits = await searched(caller, asked_of(caller, body.model_dump()), search=question)
    return encoded({"results": [*map(open_item, hits)]})


@router.get("/entities", response_model=Anything, responses=documented())
async def entities(caller: Reader) -> Response:
    """Whose memories there are."""
    return encoded([{"id": owner.name, "type": owner.kind} for owner in await owners_of(caller)])


@router.delete("/entities/{kind}/{name}", response_model=Anything, responses=documented())
async def delete_entity(caller: Writer, kind: Literal["user", "agent", "run"], *, name: str) -> Response:
    """Erase everything of a user, agent or run for good."""
    return encoded({"message": "Entity deleted", "deleted": await erased(caller, kind, name=name)})


@router.get("/configure", response_model=Anything, responses=documented())
async def configuration(caller: Administrator) -> Response:
    """What is in force; secrets are masked."""
    told: dict[str, Any] = (await caller.memory.diagnose())["settings"]
    return encoded(told)


@router.post("/configure", response_model=Anything, responses=documented())
async def configure(caller: Administrator, body: Anyhow) -> Response:
    """Refused: a running service takes its settings from its environment alone."""
    caller.acted_on("configuration")
    if not body.model_extra:
        raise InvalidInputError("there is nothing to configure in an empty body")
    raise ProblemError("configuration", "a running service is not configured by calls: set EBBING_* and start it anew")


@router.post("/reset", response_model=Anything, responses=documented())
async def reset(caller: Administrator) -> Response:
    """Erase everything of this tenant for good."""
    await caller.memory.reset()
    return encoded({"message": "All memories reset"})
