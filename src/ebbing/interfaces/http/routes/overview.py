"""What people see who look into a memory: who is there, what is remembered, how it fades, and what changed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Path, Query, Request
from starlette.responses import Response

import ebbing
from ebbing.api.upkeep.rounds import upkeep_policy
from ebbing.interfaces.http.errors import ProblemError
from ebbing.interfaces.http.request_context import Reader
from ebbing.interfaces.http.schema.cut_texts import MaxText, with_cut_texts
from ebbing.interfaces.http.schema.operations import operations
from ebbing.interfaces.http.schema.request_models import AskBody, BrowseBody, DifferencesQuery
from ebbing.interfaces.http.schema.response_models import MemoryPage, ObjectResponse
from ebbing.interfaces.http.schema.responses import encoded, memory_out

router = operations("overview", prefix="/v1")

Name = Annotated[str | None, Query()]
User = Annotated[str | None, Query(description="Whose memory; a credential for one user needs no telling.")]
MemoryId = Annotated[str, Path(description="Id of a memory.")]
Limit = Annotated[int, Query(description="At most so many, 1 to 1,000.")]


@router.get("/me", response_model=ObjectResponse)
async def get_caller(caller: Reader, request: Request) -> Response:
    """Get what this credential may do, and the settings that say how memories fade."""
    principal, settings = caller.principal, caller.memory.components.settings
    is_open = principal is request.app.state.doorkeeper.anybody
    return encoded(
        {
            "tenant": principal.tenant,
            "role": principal.role.name.lower(),
            "user_id": principal.user,
            "is_open": is_open,
            "version": ebbing.__version__,
            "now": caller.memory.components.clock.now().isoformat(),
            "settings": {
                "forgetting_curve": settings.forgetting_curve,
                "forgotten_below": upkeep_policy(settings).curve.forgotten_below,
                "grace_days": settings.grace_days,
                "undo_days": settings.undo_days,
                "owner_text_limit_bytes": settings.owner_text_limit_bytes,
                "timezone": settings.timezone,
            },
        }
    )


@router.get("/owners", response_model=ObjectResponse)
async def list_owners(
    caller: Reader,
    *,
    query: Annotated[str | None, Query(description="Part of a name.")] = None,
    kind: Literal["user", "agent", "run"] | None = None,
    order: Literal["memories", "name"] = "memories",
    limit: Limit = 50,
    cursor: Name = None,
) -> Response:
    """List the users, agents and runs of whom something is stored, with how much and since when.

    The credential must be for the whole tenant.
    """
    if caller.principal.user is not None:
        raise ProblemError("forbidden", "this is about every user of the tenant, and the credential is for one")
    page = await caller.memory.overview.owners(query=query, kind=kind, order=order, limit=limit, cursor=cursor)
    return encoded(page)


@router.post("/memories/list", response_model=MemoryPage)
async def browse_memories(caller: Reader, body: BrowseBody) -> Response:
    """List memories by state and order, with how fresh each is and how many there are in all."""
    page = await caller.memory.overview.memories(
        **caller.owner_of(body),
        filters=body.filters,
        limit=body.limit,
        cursor=body.cursor,
        include=body.include,
        state=body.state,
        order=body.order,
        as_of=body.as_of,
    )
    memories = [memory_out(item) for item in page["results"]]
    answer = {"memories": memories, "next_cursor": page["next_cursor"], "total": page["total"]}
    return encoded(with_cut_texts(answer, body.max_text))


@router.post("/ask", response_model=ObjectResponse)
async def ask_why(caller: Reader, body: AskBody) -> Response:
    """Search, and tell why each memory answers, what was left out and what a model would see."""
    answer = await caller.memory.overview.ask(
        body.query,
        **caller.owner_of(body),
        top_k=body.top_k,
        max_tokens=body.max_tokens,
        threshold=body.threshold,
        precise=body.precise,
        as_of=body.as_of,
    )
    made: dict[str, Any] = {name: value for name, value in answer.items() if name != "results"}
    made["memories"] = [memory_out(item) for item in answer["results"]]
    made["left_out"] = [memory_out(item) for item in answer["left_out"]]
    if "context" in answer:
        context = answer["context"]
        made["context"] = {**context, "memories": [memory_out(item) for item in context["memories"]]}
    return encoded(with_cut_texts(made, body.max_text))


@router.get("/facets", response_model=ObjectResponse)
async def count_facets(caller: Reader, *, user_id: Name = None, agent_id: Name = None, run_id: Name = None) -> Response:
    """Count the memories of an owner by kind, type, state, tag and trust."""
    return encoded(await caller.memory.overview.facets(**caller.owner_ids(user_id, agent_id, run_id=run_id)))


@router.get("/content", response_model=ObjectResponse)
async def check_content(
    caller: Reader, *, user_id: Name = None, agent_id: Name = None, run_id: Name = None
) -> Response:
    """Check the content of an owner's memories: what is never used, repeats, waits or disagrees."""
    return encoded(await caller.memory.overview.content(**caller.owner_ids(user_id, agent_id, run_id=run_id)))


@router.get("/memories/{memory_id}/retention", response_model=ObjectResponse)
async def get_retention(
    caller: Reader,
    memory_id: MemoryId,
    *,
    user_id: User = None,
    days: Annotated[int, Query(description="How far into the future, 0 to 3,650.")] = 365,
) -> Response:
    """Get the retention curve of a memory, its uses, and the day on which it will have faded."""
    return encoded(await caller.memory.overview.retention(memory_id, user_id=caller.user(user_id), days=days))


@router.get("/memories/{memory_id}/neighbours", response_model=ObjectResponse)
async def list_neighbours(
    caller: Reader, memory_id: MemoryId, *, user_id: User = None, limit: Limit = 30, max_text: MaxText = None
) -> Response:
    """List what a memory names, and the other memories that name it."""
    near = await caller.memory.overview.neighbours(memory_id, user_id=caller.user(user_id), limit=limit)
    memories = [_with_text(item) for item in near["memories"]]
    return encoded(with_cut_texts({**near, "memories": memories}, max_text))


@router.get("/timeline", response_model=ObjectResponse)
async def get_timeline(caller: Reader, *, user_id: Name = None, agent_id: Name = None, run_id: Name = None) -> Response:
    """Count the memories that came, ended and went, by day or by month."""
    return encoded(await caller.memory.overview.timeline(**caller.owner_ids(user_id, agent_id, run_id=run_id)))


@router.get("/differences", response_model=ObjectResponse)
async def list_differences(caller: Reader, query: Annotated[DifferencesQuery, Query()]) -> Response:
    """List what happened to each memory between two moments, the newest first."""
    owner = caller.owner_of(query)
    page = await caller.memory.overview.differences(
        since=query.since, until=query.until, **owner, limit=query.limit, cursor=query.cursor
    )
    return encoded(with_cut_texts(page, query.max_text))


@router.get("/forecast", response_model=ObjectResponse)
async def forecast_forgetting(
    caller: Reader,
    *,
    by: Annotated[str, Query(description="The day to look ahead to.")],
    user_id: Name = None,
    agent_id: Name = None,
    run_id: Name = None,
    limit: Limit = 100,
    cursor: Name = None,
    max_text: MaxText = None,
) -> Response:
    """Forecast what forgetting will do to each memory of an owner by a day. Nothing is changed."""
    owner = caller.owner_ids(user_id, agent_id, run_id=run_id)
    plan = await caller.memory.overview.forecast(by=by, **owner, limit=limit, cursor=cursor)
    changes = [_with_text(item) for item in plan["changes"]]
    return encoded(with_cut_texts({**plan, "changes": changes}, max_text))


def _with_text(item: Any) -> dict[str, Any]:
    """Return an item with `text` for the words of its memory."""
    return {"text" if name == "memory" else name: value for name, value in item.items()}
