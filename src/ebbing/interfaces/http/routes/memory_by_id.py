"""`/v1/memories/{memory_id}`: one memory by its id."""

from __future__ import annotations

import re
from typing import Annotated, Final

from fastapi import Header, Path, Query
from starlette.responses import Response

from ebbing.domain.errors import ConflictError, InvalidInputError, MemoryNotFoundError
from ebbing.interfaces.http.errors import ProblemError, documented
from ebbing.interfaces.http.request_context import Reader, Writer
from ebbing.interfaces.http.schema.cut_texts import MaxText, with_cut_texts
from ebbing.interfaces.http.schema.operations import operations
from ebbing.interfaces.http.schema.request_models import FeedbackBody, UpdateBody
from ebbing.interfaces.http.schema.response_models import DeleteResponse, MemoryOut, ObjectResponse
from ebbing.interfaces.http.schema.responses import encoded, memory_out
from ebbing.results import MemoryItem

router = operations("memories", prefix="/v1/memories/{memory_id}")

MemoryId = Annotated[str, Path(description="Id of a memory.")]
User = Annotated[str | None, Query(description="Whose memory; a credential for one user needs no telling.")]
IfMatch = Annotated[str | None, Header(description="Change it only if it still has this ETag.")]
_TAG: Final = re.compile(r'"v(\d{1,9})"')


@router.get("", response_model=MemoryOut)
async def get_memory(caller: Reader, memory_id: MemoryId, *, user_id: User = None) -> Response:
    """Get a memory. The ETag names its version."""
    item = await caller.memory.get(memory_id, user_id=caller.user(user_id))
    if item is None:
        raise MemoryNotFoundError("no memory with this id: check the id and whose it is")
    return _with_tag(item)


@router.put("", response_model=MemoryOut, responses=documented(412))
async def update_memory(
    caller: Writer, memory_id: MemoryId, *, body: UpdateBody, user_id: User = None, if_match: IfMatch = None
) -> Response:
    """Update a memory: its text, metadata or tags. With `If-Match`, only if its version is unchanged."""
    owner, version = caller.user(user_id), _version(if_match)
    try:
        item = await caller.memory.update(
            memory_id,
            body.text,
            metadata=body.metadata,
            tags=body.tags,
            user_id=owner,
            version=version,
            trust=body.trust,
        )
    except ConflictError:
        if version is None:
            raise
        raise ProblemError("precondition_failed", "the memory changed since it had this ETag") from None
    return _with_tag(item)


@router.delete("", response_model=DeleteResponse)
async def delete_memory(
    caller: Writer,
    memory_id: MemoryId,
    *,
    user_id: User = None,
    hard: Annotated[bool, Query(description="For good: it cannot be restored.")] = False,
    reason: Annotated[str | None, Query(description="Kept in the history.")] = None,
    with_messages: Annotated[bool, Query(description="And the messages that it was read from.")] = False,
) -> Response:
    """Delete a memory. It can be restored unless `hard` is set."""
    done = await caller.memory.delete(
        memory_id, reason=reason, hard=hard, user_id=caller.user(user_id), with_messages=with_messages
    )
    return encoded({"deleted": True, "id": memory_id, "change_id": done["change_id"]})


@router.post("/restore", response_model=MemoryOut)
async def restore_memory(caller: Writer, memory_id: MemoryId, *, user_id: User = None) -> Response:
    """Restore a memory that was deleted, faded or superseded. `superseded` names what gave way to it."""
    return _with_tag(await caller.memory.restore(memory_id, user_id=caller.user(user_id)))


@router.get("/history", response_model=ObjectResponse)
async def get_memory_history(
    caller: Reader, memory_id: MemoryId, *, user_id: User = None, max_text: MaxText = None
) -> Response:
    """List the changes of a memory, the oldest first. The list is empty for an unknown id."""
    history = await caller.memory.history(memory_id, user_id=caller.user(user_id))
    return encoded(with_cut_texts({"history": history}, max_text))


@router.get("/explain", response_model=MemoryOut)
async def explain_memory(
    caller: Reader, memory_id: MemoryId, *, user_id: User = None, max_text: MaxText = None
) -> Response:
    """Explain why a memory is stored. Shows its source, every decision about it, and their results."""
    item = memory_out(await caller.memory.explain(memory_id, user_id=caller.user(user_id)))
    return encoded(with_cut_texts(item, max_text))


@router.get("/sources", response_model=ObjectResponse)
async def get_memory_sources(
    caller: Reader, memory_id: MemoryId, *, user_id: User = None, max_text: MaxText = None
) -> Response:
    """Get the original records behind a merged memory."""
    merged = await caller.memory.get_sources(memory_id, user_id=caller.user(user_id))
    answer = {**merged, "sources": [memory_out(source) for source in merged["sources"]]}
    return encoded(with_cut_texts(answer, max_text))


@router.post("/feedback", response_model=ObjectResponse)
async def give_memory_feedback(
    caller: Writer, memory_id: MemoryId, *, body: FeedbackBody, user_id: User = None
) -> Response:
    """Rate a recalled memory. A useful memory fades more slowly."""
    answer = await caller.memory.feedback(
        memory_id, body.signal, user_id=caller.user(user_id), recall_id=body.recall_id, reason=body.reason
    )
    return encoded(answer)


def _with_tag(item: MemoryItem) -> Response:
    return encoded(memory_out(item), headers={"ETag": f'"v{item["version"]}"'})


def _version(if_match: str | None) -> int | None:
    """The version that a tag names; None where any will do."""
    if if_match is None or if_match.strip() == "*":
        return None
    tag = _TAG.fullmatch(if_match.strip())
    if tag is None:
        raise InvalidInputError('If-Match must be one ETag that a memory was answered with, such as "v3"')
    return int(tag[1])
