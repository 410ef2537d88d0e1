"""`/v1/context` and `/v1/sessions`: what should be known before an answer, and conversations while they go on."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query
from starlette.responses import Response

from ebbing.api.sessions.session import AsyncSession
from ebbing.domain.errors import StoreError
from ebbing.interfaces.http.request_context import Caller, Reader, Writer
from ebbing.interfaces.http.schema.operations import operations
from ebbing.interfaces.http.schema.request_models import (
    ContextBody,
    OwnerBody,
    PrivateBody,
    SessionContextBody,
    SessionMessagesBody,
    SessionSearchBody,
)
from ebbing.interfaces.http.schema.response_models import ObjectResponse, SearchResponse
from ebbing.interfaces.http.schema.responses import Item, encoded, memory_out
from ebbing.results import ContextAnswer

router = operations("conversations", prefix="/v1")

SessionId = Annotated[str, Path(description="Name of the conversation: its run_id.")]


@router.post("/context", response_model=ObjectResponse)
async def get_context(caller: Reader, body: ContextBody) -> Response:
    """Get a context block for a prompt. It holds profile, relevant and recent memories within a token budget."""
    ids = {"user_id", "agent_id", "run_id"}
    fields = {name: value for name, value in body.model_dump(exclude=ids).items() if value is not None}
    owner = caller.owner_of(body)
    return encoded(_context_out(await caller.memory.get_context(fields.pop("query", None), **owner, **fields)))


@router.post("/sessions/{session_id}/messages", response_model=ObjectResponse)
async def add_session_messages(caller: Writer, session_id: SessionId, *, body: SessionMessagesBody) -> Response:
    """Add messages to a session. They are at hand at once, and remembered when the session ends."""
    session = _session(caller, session_id, body=body, infer=body.infer)
    await session.add(body.messages, private=body.private)
    return encoded(await _conversation(session, caller))


@router.post("/sessions/{session_id}/private", response_model=ObjectResponse)
async def set_private(caller: Writer, session_id: SessionId, *, body: PrivateBody) -> Response:
    """Take a conversation off the record. Nothing of it is written until this is false again or the session ends."""
    session = _session(caller, session_id, body=body)
    session.private = body.private
    await session.holds_private()  # by which other replicas learn of it
    return encoded({"session_id": session.run_id, "private": session.private})


@router.get("/sessions/{session_id}/messages", response_model=ObjectResponse)
async def list_session_messages(
    caller: Reader,
    session_id: SessionId,
    *,
    user_id: Annotated[str | None, Query()] = None,
    agent_id: Annotated[str | None, Query()] = None,
) -> Response:
    """List the last messages of a session, ready for a model."""
    session = _session(caller, session_id, body=OwnerBody(user_id=user_id, agent_id=agent_id))
    return encoded(await _conversation(session, caller))


@router.post("/sessions/{session_id}/search", response_model=SearchResponse)
async def search_in_session(caller: Reader, session_id: SessionId, *, body: SessionSearchBody) -> Response:
    """Search memories, with the messages of the session first."""
    session = _session(caller, session_id, body=body)
    await _keep_private(session, caller)
    answer = await session.search(body.query, top_k=body.top_k, include=body.include)
    rest = {name: value for name, value in answer.items() if name != "results"}
    return encoded({"memories": [memory_out(hit) for hit in answer["results"]], **rest})


@router.post("/sessions/{session_id}/context", response_model=ObjectResponse)
async def get_session_context(caller: Reader, session_id: SessionId, *, body: SessionContextBody) -> Response:
    """Get a context block for the next answer of a session."""
    session = _session(caller, session_id, body=body)
    await _keep_private(session, caller)
    return encoded(_context_out(await session.get_context(body.query, max_tokens=body.max_tokens)))


@router.post("/sessions/{session_id}/end", response_model=ObjectResponse)
async def end_session(caller: Writer, session_id: SessionId, *, body: OwnerBody) -> Response:
    """End a session and remember its messages. `remembered` is false if that has to be tried again."""
    session = _session(caller, session_id, body=body)
    return encoded({"session_id": session.run_id, "remembered": await session.end()})


def _session(caller: Caller, session_id: str, *, body: OwnerBody, infer: bool = True) -> AsyncSession:
    owner: dict[str, Any] = {**caller.owner_ids(body.user_id, body.agent_id, run_id=session_id)}
    return caller.memory.session(**owner, infer=infer)


async def _conversation(session: AsyncSession, caller: Caller) -> Item:
    await _keep_private(session, caller)
    return {"session_id": session.run_id, "private": session.private, "messages": await session.messages()}


async def _keep_private(session: AsyncSession, caller: Caller) -> None:
    """Lets no answer be kept for a repetition that may hold what is off the record."""
    try:
        holds_private = await session.holds_private()
    except StoreError:  # nobody knows while working memory cannot be reached
        holds_private = True
    if holds_private:
        caller.keep_no_answer()


def _context_out(made: ContextAnswer) -> Item:
    return {**made, "memories": [memory_out(item) for item in made["memories"]]}
