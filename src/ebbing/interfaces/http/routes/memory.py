"""`/v1/memories/{memory_id}`: one memory by its id."""

from __future__ import annotations

import re
from typing import Annotated, Final

from fastapi import APIRouter, Header, Path, Query
from starlette.responses import Response

from ebbing.domain.errors import ConflictError, InvalidInputError, MemoryNotFoundError
from ebbing.interfaces.http.errors import ProblemError, documented
from ebbing.interfaces.http.request_context import Reader, Writer
from ebbing.interfaces.http.request_models import FeedbackBody, UpdateBody
from ebbing.interfaces.http.response_models import Anything, Deleted, MemoryOut
from ebbing.interfaces.http.responses import Item, encoded, memory_out

router = APIRouter(prefix="/v1/memories/{memory_id}", tags=["memories"])

MemoryId = Annotated[str, Path(description="Id of a memory.")]
User = Annotated[str | None, Query(description="Whose memory; a credential for one user needs no telling.")]
IfMatch = Annotated[str | None, Header(description="Change it only if it still has this ETag.")]
_TAG: Final = re.compile(r'"v(\d{1,9})"')


@router.get("", response_model=MemoryOut, responses=documented())
async def get(caller: Reader, memory_id: MemoryId, *, user_id: User = None) -> Response:
    """One memory; its ETag names the version."""
    item = await caller.memory.get(memory_id, user_id=caller.user(user_id))
    if item is None:
        raise MemoryNotFoundError("no memory with this id: check the id and whose it is")
    return _with_tag(item)


@router.put("", response_model=MemoryOut, responses=documented(412))
async def update(
    caller: Writer, memory_id: MemoryId, *, body: UpdateBody, user_id: User = None, if_match: IfMatch = None
) -> Response:
    """Give a memory another text, other metadata, other tags; with If-Match only as it was read."""
    whose, version = caller.user(user_id), _version(if_match)
    try:
        item = await caller.memory.update(
            memory_id, body.text, metadata=body.metadata, tags=body.tags, user_id=whose, version=version
        )
    except ConflictError:
        if version is None:
            raise
        raise ProblemError("precondition_failed", "the memory changed since it had this ETag") from None
    return _with_tag(item)


@router.delete("", response_model=Deleted, responses=documented())
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


@router.post("/restore", response_model=MemoryOut, responses=documented())
async def restore(caller: Writer, memory_id: MemoryId, *, user_id: User = None) -> Response:
    """Bring a deleted memory back."""
    return _with_tag(await caller.memory.restore(memory_id, user_id=caller.user(user_id)))


@router.get("/history", response_model=Anything, responses=documented())
async def history(caller: Reader, memory_id: MemoryId, *, user_id: User = None) -> Response:
    """What happened to a memory, oldest first; empty for an unknown id."""
    return encoded({"history": await caller.memory.history(memory_id, user_id=caller.user(user_id))})


@router.get("/explain", response_model=MemoryOut, responses=documented())
async def explain(caller: Reader, memory_id: MemoryId, *, user_id: User = None) -> Response:
    """Why a memory is kept: its source, every decision about it, and what became of it."""
    return encoded(memory_out(await caller.memory.explain(memory_id, user_id=caller.user(user_id))))


@router.get("/expand", response_model=Anything, responses=documented())
async def expand(caller: Reader, memory_id: MemoryId, *, user_id: User = None) -> Response:
    """What a memory tells in the place of others: those others as they were said."""
    told = await caller.memory.expand(memory_id, user_id=caller.user(user_id))
    return encoded({**told, "sources": [memory_out(one) for one in told["sources"]]})


@router.post("/feedback", response_model=Anything, responses=documented())
async def feedback(caller: Writer, memory_id: MemoryId, *, body: FeedbackBody, user_id: User = None) -> Response:
    """Say what became of a recalled memory; what was of use fades more slowly."""
    told = await caller.memory.feedback(
        memory_id, body.signal, user_id=caller.user(user_id), recall_id=body.recall_id, reason=body.reason
    )
    return encoded(told)


def _with_tag(item: Item) -> Response:
    return encoded(memory_out(item), headers={"ETag": f'"v{item["version"]}"'})


def _version(if_match: str | None) -> int | None:
    """The version that a tag names; None where any will do."""
    if if_match is None or if_match.strip() == "*":
        return None
    tag = _TAG.fullmatch(if_match.strip())
    if tag is None:
        raise InvalidInputError('If-Match must be one ETag that a memory was answered with, such as "v3"')
    return int(tag[1])
