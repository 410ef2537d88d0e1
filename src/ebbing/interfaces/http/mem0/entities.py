"""The platform's routes about users, agents and runs, and about several memories at once."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from ebbing.domain.errors import EbbingError, InvalidInputError, NotFoundError
from ebbing.domain.memory.scope import Owner, Scope
from ebbing.interfaces.http.errors import ProblemError, documented, problem_of
from ebbing.interfaces.http.mem0.events import events_of
from ebbing.interfaces.http.mem0.owner_params import asked_of
from ebbing.interfaces.http.mem0.queries import listed
from ebbing.interfaces.http.mem0.request_models import BatchIn, ExportIn, FeedbackIn, Loose
from ebbing.interfaces.http.mem0.responses import Item, platform_item
from ebbing.interfaces.http.request_context import Caller, Reader, Writer
from ebbing.interfaces.http.response_models import Anything
from ebbing.interfaces.http.responses import encoded

Kind = Literal["user", "agent", "run", "app"]
router = APIRouter(tags=["mem0 platform"])


@router.get("/v1/ping/", response_model=Anything, responses=documented())
async def ping(caller: Reader) -> Response:
    """That the service is there and knows the caller: organisation and project are the tenant."""
    tenant = caller.principal.tenant
    return encoded({"status": "ok", "org_id": tenant, "project_id": tenant, "user_email": f"{tenant}@localhost"})


@router.get("/v1/entities/", response_model=Anything, responses=documented())
async def entities(caller: Reader) -> Response:
    """Whose memories there are."""
    results = [entity_out(one) for one in await owners_of(caller)]
    counts = {f"total_{kind}s": sum(one["type"] == kind for one in results) for kind in ("user", "agent", "run")}
    return encoded({"count": len(results), "next": None, "previous": None, "results": results, **counts})


@router.delete("/v2/entities/{kind}/{name}/", response_model=Anything, responses=documented())
async def delete_entity(
    caller: Writer, kind: Kind, *, name: Annotated[str, Path(description="Its id.")], request: Request
) -> Response:
    """Erase everything of a user, agent or run for good."""
    gone = await erased(caller, kind, name=name)
    event = events_of(request).note(caller, "DELETE_ENTITY", user=name if kind == "user" else None)
    return encoded({"message": "Entity deleted successfully!", "event_id": event, "deleted": gone})


@router.put("/v1/batch/", response_model=Anything, responses=documented())
async def update_several(caller: Writer, body: BatchIn) -> Response:
    """Change several memories, one after the other; one that cannot be changed stops none of the others."""
    failed: list[Item] = []
    for one in body.memories:
        try:
            await caller.memory.update(one.memory_id, one.text, metadata=one.metadata, user_id=caller.user())
        except EbbingError as error:
            failed.append({"memory_id": one.memory_id, "code": problem_of(error).code, "error": str(error)})
    return _batch_answer("updated", body, failed=failed)


@router.delete("/v1/batch/", response_model=Anything, responses=documented())
async def delete_several(caller: Writer, body: BatchIn) -> Response:
    """Delete several memories, one after the other; one that cannot be deleted stops none of the others."""
    failed: list[Item] = []
    for one in body.memories:
        try:
            await caller.memory.delete(one.memory_id, user_id=caller.user())
        except EbbingError as error:
            failed.append({"memory_id": one.memory_id, "code": problem_of(error).code, "error": str(error)})
    return _batch_answer("deleted", body, failed=failed)


@router.post("/v1/feedback/", response_model=Anything, responses=documented())
async def feedback(caller: Writer, body: FeedbackIn) -> Response:
    """Say what a memory was worth; without a word of feedback nothing is noted."""
    if body.feedback is None:
        known = await caller.memory.get(body.memory_id, user_id=caller.user())
        if known is None:
            raise NotFoundError("no memory with this id: check the id and whose it is")
        return encoded({"id": body.memory_id, "feedback": None, "feedback_reason": None})
    told = await caller.memory.feedback(
        body.memory_id, body.feedback, user_id=caller.user(), reason=body.feedback_reason
    )
    return encoded({"id": told["id"], "feedback": body.feedback, "feedback_reason": told["reason"]})


@router.post("/v1/exports/", response_model=Anything, responses=documented())
async def create_export(caller: Reader, body: ExportIn, *, request: Request) -> Response:
    """Name memories to take along; `POST /v1/exports/get/` gives them as they are: a schema is not applied."""
    asked = asked_of(caller, body.model_dump())
    export = events_of(request).note(caller, "EXPORT", user=asked[0].whose["user_id"], asked=asked)
    said = "The memories are ready; they come as they are, without the schema."
    return encoded({"message": said, "id": export}, status=201)


@router.post("/v1/exports/get/", response_model=Anything, responses=documented())
async def get_export(caller: Reader, body: ExportIn, *, request: Request) -> Response:
    """The memories that an export or its filters name."""
    if body.memory_export_id is None:
        asked = asked_of(caller, body.model_dump())
    else:
        event = events_of(request).get(caller, body.memory_export_id)
        if not event.asked:
            raise NotFoundError("no export with this id")
        asked = list(event.asked)
    items = [*map(platform_item, await listed(caller, asked))]
    return encoded({"count": len(items), "results": items})


@router.post("/v1/summary/", response_model=Anything, responses=documented())
async def summary(caller: Reader, body: Loose) -> Response:
    """Who somebody is, in a few sentences of their own memories."""
    told = [
        (await caller.memory.get_context(**one.whose))["profile_summary"] for one in asked_of(caller, body.model_dump())
    ]
    return encoded({"summary": "\n".join(filter(None, told))})


async def owners_of(caller: Caller) -> list[Owner]:
    """Those whose memories a caller may see: all of the tenant, or the one user of the credential."""
    user, tenant = caller.principal.user, caller.principal.tenant
    owners = await caller.memory.parts.store.owners(tenant)
    return [owner for owner in owners if user is None or (owner.kind, owner.name) == ("user", user)]


async def erased(caller: Caller, kind: str, *, name: str) -> Item:
    """What an erasure of one owner removed.

    Raises:
        InvalidInputError: it is an application, which owns nothing here.
    """
    if kind == "app":
        raise InvalidInputError("applications own no memories here: erase users, agents or runs")
    if kind != "user" and caller.principal.user is not None:
        raise ProblemError("forbidden", "this credential is for one user's memories")
    whose: dict[str, Any] = {f"{kind}_id": caller.user(name) if kind == "user" else name}
    Scope(**whose)
    deleted: Item = (await caller.memory.delete_all(**whose))["deleted"]
    return deleted


def entity_out(owner: Owner) -> Item:
    """An owner in the platform's shape."""
    return {
        "id": owner.name,
        "name": owner.name,
        "type": owner.kind,
        "owner": owner.tenant,
        "metadata": {},
        "created_at": None,
        "updated_at": None,
    }


def _batch_answer(done: str, body: BatchIn, *, failed: list[Item]) -> Response:
    count = len(body.memories) - len(failed)
    return encoded({"message": f"Successfully {done} {count} memories", done: count, "failed": failed})
