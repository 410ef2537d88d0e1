"""The platform's routes about users, agents and runs, and about several memories at once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Path, Query, Request
from starlette.responses import Response

from ebbing.domain.errors import EbbingError, NotFoundError
from ebbing.interfaces.http.errors import ProblemError, problem_of
from ebbing.interfaces.http.mem0.owner_params import owner_of
from ebbing.interfaces.http.mem0.queries import MOST_PAGE, erased, erasure_message, listed, owners_meant, paged
from ebbing.interfaces.http.mem0.request_models import BatchIn, EntitiesQuery, ExportIn, FeedbackIn, SummaryIn
from ebbing.interfaces.http.mem0.responses import Item, platform_item
from ebbing.interfaces.http.mem0.routes.events import events_of
from ebbing.interfaces.http.request_context import Caller, Reader, Writer
from ebbing.interfaces.http.schema.operations import operations
from ebbing.interfaces.http.schema.response_models import ObjectResponse
from ebbing.interfaces.http.schema.responses import encoded

Kind = Literal["user", "agent", "run", "app"]


@dataclass(frozen=True, slots=True)
class Entity:
    """A user, agent, run or app that memories name."""

    kind: str
    name: str
    memories: int


router = operations("mem0 platform")


@router.get("/v1/ping/", response_model=ObjectResponse)
async def ping(caller: Reader) -> Response:
    """Check the credential. Organisation and project are the tenant."""
    tenant = caller.principal.tenant
    return encoded({"status": "ok", "org_id": tenant, "project_id": tenant, "user_email": f"{tenant}@localhost"})


@router.get("/v1/entities/", response_model=ObjectResponse)
async def list_entities(caller: Reader, query: Annotated[EntitiesQuery, Query()]) -> Response:
    """List the users, agents, apps and runs that have memories."""
    entities = [entity_out(item, caller.principal.tenant) for item in await entities_of(caller)]
    by_type = Counter(entity["type"] for entity in entities)
    counts = {f"total_{kind}s": by_type[kind] for kind in ("user", "agent", "run", "app")}
    size = query.page_size or max(1, len(entities))
    page = paged(entities, page=query.page or 1, size=min(size, MOST_PAGE), path="/v1/entities/")
    return encoded({**page, **counts})


@router.delete("/v2/entities/{kind}/{name}/", response_model=ObjectResponse)
async def delete_entity(
    caller: Writer, kind: Kind, *, name: Annotated[str, Path(description="Its id.")], request: Request
) -> Response:
    """Erase all memories of a user, agent, app or run."""
    counts = await erased_entity(caller, kind, name=name)
    event = events_of(request).note(caller, "DELETE_ENTITY", user=name if kind == "user" else None)
    message = erasure_message(counts, "Entity deleted successfully!")
    return encoded({"message": message, "event_id": event, "deleted": counts})


@router.put("/v1/batch/", response_model=ObjectResponse)
async def update_memories(caller: Writer, body: BatchIn) -> Response:
    """Update several memories. An entry that cannot be changed does not stop the others."""
    failed: list[Item] = []
    for memory in body.memories:
        try:
            await caller.memory.update(memory.memory_id, memory.text, metadata=memory.metadata, user_id=caller.user())
        except EbbingError as error:
            failed.append({"memory_id": memory.memory_id, "code": problem_of(error).code, "error": str(error)})
    return _batch_answer("updated", body, failed=failed)


@router.delete("/v1/batch/", response_model=ObjectResponse)
async def batch_delete_memories(caller: Writer, body: BatchIn) -> Response:
    """Delete several memories. An entry that cannot be deleted does not stop the others."""
    failed: list[Item] = []
    for memory in body.memories:
        try:
            await caller.memory.delete(memory.memory_id, user_id=caller.user())
        except EbbingError as error:
            failed.append({"memory_id": memory.memory_id, "code": problem_of(error).code, "error": str(error)})
    return _batch_answer("deleted", body, failed=failed)


@router.post("/v1/feedback/", response_model=ObjectResponse)
async def give_feedback(caller: Writer, body: FeedbackIn) -> Response:
    """Rate a memory. Without `feedback` nothing is stored."""
    if body.feedback is None:
        memory = await caller.memory.get(body.memory_id, user_id=caller.user())
        if memory is None:
            raise NotFoundError("no memory with this id: check the id and whose it is")
        return encoded({"id": body.memory_id, "feedback": None, "feedback_reason": None})
    answer = await caller.memory.feedback(
        body.memory_id, body.feedback, user_id=caller.user(), reason=body.feedback_reason
    )
    return encoded({"id": answer["id"], "feedback": body.feedback, "feedback_reason": answer["reason"]})


@router.post("/v1/exports/", status_code=201, response_model=ObjectResponse)
async def create_export(caller: Reader, body: ExportIn, *, request: Request) -> Response:
    """Create an export of memories. `POST /v1/exports/get/` returns them; a schema is not applied."""
    owner_queries = await owners_meant(caller, body.model_dump())
    user = owner_of(body.model_dump()).get("user_id") or (
        owner_queries[0].owner["user_id"] if len(owner_queries) == 1 else None
    )
    export = events_of(request).note(caller, "EXPORT", user=user, owner_queries=owner_queries)
    message = "The memories are ready; they come as they are, without the schema."
    return encoded({"message": message, "id": export}, status=201)


@router.post("/v1/exports/get/", response_model=ObjectResponse)
async def get_export(caller: Reader, body: ExportIn, *, request: Request) -> Response:
    """Get the memories of an export, or those that filters name."""
    if body.memory_export_id is None:
        owner_queries = await owners_meant(caller, body.model_dump())
    else:
        event = events_of(request).get(caller, body.memory_export_id)
        if event.kind != "EXPORT":
            raise NotFoundError("no export with this id")
        owner_queries = list(event.owner_queries)
    items = [*map(platform_item, await listed(caller, owner_queries))]
    return encoded({"count": len(items), "results": items})


@router.post("/v1/summary/", response_model=ObjectResponse)
async def get_summary(caller: Reader, body: SummaryIn) -> Response:
    """Summarize who somebody is, from their memories."""
    summaries: list[str] = []
    for item in await owners_meant(caller, body.model_dump()):
        context = await caller.memory.get_context(**item.owner)
        if context["profile_summary"]:
            summaries.append(context["profile_summary"])
    return encoded({"summary": "\n".join(summaries)})


async def entities_of(caller: Caller) -> list[Entity]:
    """Return whom and what the memories of a caller name, users first; a credential for one user sees that user."""
    user, tenant = caller.principal.user, caller.principal.tenant
    counts: Counter[tuple[str, str]] = Counter()
    for share in await caller.memory.components.store.shares(tenant):
        if user is None:
            named = {(share.owner.kind, share.owner.name)}
            for kind, name in (("agent", share.agent_id), ("run", share.run_id), ("app", share.app_id)):
                named |= {(kind, name)} if name is not None else set()
        else:
            named = {("user", user)} if (share.owner.kind, share.owner.name) == ("user", user) else set()
        for each in named:
            counts[each] += share.memories
    order = ("user", "agent", "run", "app")
    entities = [Entity(kind, name, memories) for (kind, name), memories in counts.items()]
    return sorted(entities, key=lambda entity: order.index(entity.kind))


async def erased_entity(caller: Caller, kind: str, *, name: str) -> Item:
    """Erase what a user, agent, run or app has, and return how much it was.

    Raises:
        ProblemError: `forbidden`, the credential is for one user, and this is another or no user.
    """
    if kind != "user" and caller.principal.user is not None:
        raise ProblemError("forbidden", "this credential is for one user's memories")
    return await erased(caller, await owners_meant(caller, {f"{kind}_id": name}))


def entity_out(entity: Entity, tenant: str) -> Item:
    """Return an entity in the platform's shape."""
    return {
        "id": entity.name,
        "name": entity.name,
        "type": entity.kind,
        "owner": tenant,
        "total_memories": entity.memories,
        "metadata": {},
        "created_at": None,
        "updated_at": None,
    }


def _batch_answer(done: str, body: BatchIn, *, failed: list[Item]) -> Response:
    count = len(body.memories) - len(failed)
    message = f"Successfully {done} {count} memories" if count else f"No memory was {done}"
    return encoded({"message": message, done: count, "failed": failed})
