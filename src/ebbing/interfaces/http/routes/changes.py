"""`/v1/changes` and `/v1/reviews`: what was written and how to take it back, and what waits for a decision."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from starlette.responses import Response

from ebbing.interfaces.http.request_context import Reader, Writer
from ebbing.interfaces.http.schema.cut_texts import MaxText, with_cut_texts
from ebbing.interfaces.http.schema.operations import operations
from ebbing.interfaces.http.schema.request_models import ReviewBody
from ebbing.interfaces.http.schema.response_models import ObjectResponse
from ebbing.interfaces.http.schema.responses import encoded

router = operations("changes", prefix="/v1")

Name = Annotated[str | None, Query()]
Force = Annotated[bool, Query(description="Put back also what was changed again since.")]
ChangeId = Annotated[str, Path(description="Id of a change.")]
MemoryId = Annotated[str, Path(description="Id of a memory.")]
User = Annotated[str | None, Query(description="Whose; a credential for one user needs no telling.")]
Limit = Annotated[int, Query(description="At most so many, 1 to 1,000.")]


@router.get("/changes", response_model=ObjectResponse)
async def list_changes(
    caller: Reader,
    *,
    user_id: Name = None,
    agent_id: Name = None,
    run_id: Name = None,
    limit: Limit = 20,
    cursor: Name = None,
) -> Response:
    """List the changes of an owner, the newest first. Each is one call, import or round of maintenance."""
    owner = caller.owner_ids(user_id, agent_id, run_id=run_id)
    return encoded(await caller.memory.changes.list(**owner, limit=limit, cursor=cursor))


@router.post("/changes/undo", response_model=ObjectResponse)
async def undo_last_change(
    caller: Writer, *, user_id: Name = None, agent_id: Name = None, run_id: Name = None, force: Force = False
) -> Response:
    """Undo the last change of an owner. Called again, it undoes the change before that."""
    return encoded(await caller.memory.undo(**caller.owner_ids(user_id, agent_id, run_id=run_id), force=force))


@router.post("/changes/{change_id}/undo", response_model=ObjectResponse)
async def undo_change(caller: Writer, change_id: ChangeId, *, user_id: User = None, force: Force = False) -> Response:
    """Undo a change as a whole. An undoing is a change too, and can be undone."""
    return encoded(await caller.memory.undo(change_id, user_id=caller.user(user_id), force=force))


@router.post("/memories/{memory_id}/undo", response_model=ObjectResponse)
async def undo_memory_change(
    caller: Writer, memory_id: MemoryId, *, user_id: User = None, force: Force = False
) -> Response:
    """Undo the last change of one memory: that it was closed, merged, faded, edited or deleted."""
    return encoded(await caller.memory.undo(memory_id=memory_id, user_id=caller.user(user_id), force=force))


@router.get("/reviews", response_model=ObjectResponse)
async def list_reviews(
    caller: Reader,
    *,
    user_id: Name = None,
    agent_id: Name = None,
    run_id: Name = None,
    limit: Limit = 100,
    max_text: MaxText = None,
) -> Response:
    """List what waits for a decision: memories that would close several others, and quarantined messages."""
    waiting = await caller.memory.reviews.list(**caller.owner_ids(user_id, agent_id, run_id=run_id), limit=limit)
    return encoded(with_cut_texts(waiting, max_text))


@router.post("/reviews/{memory_id}", response_model=ObjectResponse)
async def resolve_review(caller: Writer, memory_id: MemoryId, *, body: ReviewBody, user_id: User = None) -> Response:
    """Accept, keep or drop what waits. The decision is a change, and can be undone."""
    return encoded(await caller.memory.reviews.resolve(memory_id, body.decision, user_id=caller.user(user_id)))
