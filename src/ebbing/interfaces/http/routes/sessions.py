"""`/v1/context` and `/v1/sessions`: what should be known before an answer, and conversations while they go on."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from ebbing.api.session import AsyncSession
from ebbing.interfaces.http.errors import documented
from ebbing.interfaces.http.request_context import Caller, Reader, Writer
from ebbing.interfaces.http.request_models import ContextBody, SaidBody, SessionContextBody, SessionSearchBody, Whose
from ebbing.interfaces.http.response_models import Anything, Found
from ebbing.interfaces.http.responses import Item, encoded, memory_out

router = APIRouter(prefix="/v1", tags=["conversations"])

SessionId = Annotated[str, Path(description="Name of the conversation: its run_id.")]


@router.post("/context", response_model=Anything, responses=documented())
async def context(caller: Reader, body: ContextBody) -> Response:
    """Profile, relevant and recent memories as a block for a prompt, within a budget."""
    ids = {"user_id", "agent_id", "run_id"}
    given = {name: value for name, value in body.model_dump(exclude=ids).items() if value is not None}
    whose = caller.whose(body.user_id, body.agent_id, run_id=body.run_id)
    return encoded(_context_out(await caller.memory.get_context(given.pop("query", None), **whose, **given)))


@router.post("/sessions/{session_id}/messages", response_model=Anything, responses=documented())
async def say(caller: Writer, session_id: SessionId, *, body: SaidBody) -> Response:
    """Keep what was just said at hand. It is remembered when the session ends, and lies in RAM alone until then."""
    session = _session(caller, session_id, body=body, infer=body.infer)
    await session.add(body.messages)
    return encoded({"session_id": session.run_id, "messages": await session.messages()})


@router.get("/sessions/{session_id}/messages", response_model=Anything, responses=documented())
async def said(
    caller: Reader,
    session_id: SessionId,
    *,
    user_id: Annotated[str | None, Query()] = None,
    agent_id: Annotated[str | None, Query()] = None,
) -> Response:
    """The last rounds, ready for a model."""
    session = _session(caller, session_id, body=Whose(user_id=user_id, agent_id=agent_id))
    return encoded({"session_id": session.run_id, "messages": await session.messages()})


@router.post("/sessions/{session_id}/search", response_model=Found, responses=documented())
async def search(caller: Reader, session_id: SessionId, *, body: SessionSearchBody) -> Response:
    """Search everything known of the person, with what was said in this session in front."""
    session = _session(caller, session_id, body=body)
    found = await session.search(body.query, top_k=body.top_k, include=body.include)
    rest = {name: value for name, value in found.items() if name != "results"}
    return encoded({"memories": [memory_out(hit) for hit in found["results"]], **rest})


@router.post("/sessions/{session_id}/context", response_model=Anything, responses=documented())
async def session_context(caller: Reader, session_id: SessionId, *, body: SessionContextBody) -> Response:
    """What should be known before an answer, the question understood by the last rounds."""
    session = _session(caller, session_id, body=body)
    return encoded(_context_out(await session.get_context(body.query, max_tokens=body.max_tokens)))


@router.post("/sessions/{session_id}/end", response_model=Anything, responses=documented())
async def end(caller: Writer, session_id: SessionId, *, body: Whose) -> Response:
    """End the conversation: what was said is remembered. `remembered` is false where that has to be tried again."""
    session = _session(caller, session_id, body=body)
    return encoded({"session_id": session.run_id, "remembered": await session.end()})


def _session(caller: Caller, session_id: str, *, body: Whose, infer: bool = True) -> AsyncSession:
    whose: dict[str, Any] = {**caller.whose(body.user_id, body.agent_id, run_id=session_id)}
    return caller.memory.session(**whose, infer=infer)


def _context_out(made: Item) -> Item:
    return {**made, "memories": [memory_out(item) for item in made["memories"]]}
