"""`/v1/assistant`: when to recall unasked, who answers, what is offered, and how it is said."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from ebbing.api.assistant.assistant import MAX_ITEMS
from ebbing.interfaces.http.request_context import Caller, Reader
from ebbing.interfaces.http.schema.operations import operations
from ebbing.interfaces.http.schema.request_models import Body, ContextBody, Name
from ebbing.interfaces.http.schema.response_models import ObjectResponse
from ebbing.interfaces.http.schema.responses import encoded, memory_out

router = operations("conversations", prefix="/v1/assistant")


class RecallBody(ContextBody):
    """What is about to be answered, and by whom."""

    agent: Literal["general", "recommendation", "personal", "tool"] = "general"
    max_tokens: int = Field(default=1_000, description="Estimated tokens of the block at most.")


class _Person(Body):
    user_id: Name = None
    agent_id: Name = None
    topic: Name = Field(default=None, description="What is asked for: limits that speak of it count.")


class RouteBody(_Person):
    """Who may answer."""

    workers: dict[str, str] = Field(examples=[{"science fiction": "movies:scifi"}], description="Topic to worker.")
    default: str = Field(examples=["movies"])


class RankBody(_Person):
    """What may be offered."""

    items: list[dict[str, Any]] = Field(
        max_length=MAX_ITEMS,
        description="Each with `text`, optionally `score`, `duration`, `price`, `distance`.",
        examples=[[{"text": "Peanut soup", "score": 0.9}, {"text": "Tomato soup", "score": 0.8}]],
    )


@router.post("/recall", response_model=ObjectResponse)
async def decide_recall(caller: Reader, body: RecallBody) -> Response:
    """Decide whether memories go into a prompt unasked. The answer holds the block where they do."""
    ids = {"user_id", "agent_id", "run_id"}
    fields = {name: value for name, value in body.model_dump(exclude=ids).items() if value is not None}
    owner = caller.owner_of(body)
    answer = await caller.memory.assistant.recall(fields.pop("query", None), **owner, **fields)
    return encoded({**answer, "memories": [memory_out(item) for item in answer["memories"]]})


@router.post("/route", response_model=ObjectResponse)
async def route_worker(caller: Reader, body: RouteBody) -> Response:
    """Choose the worker for what a person likes. The answer holds filters for it."""
    answer = await caller.memory.assistant.route(
        body.workers, default=body.default, topic=body.topic, **_person(caller, body)
    )
    return encoded(answer)


@router.post("/rank", response_model=ObjectResponse)
async def rank_items(caller: Reader, body: RankBody) -> Response:
    """Drop what a person avoids, and lift what they like. Nothing is searched for again."""
    return encoded(await caller.memory.assistant.rank(body.items, topic=body.topic, **_person(caller, body)))


@router.get("/style", response_model=ObjectResponse)
async def get_style(
    caller: Reader,
    *,
    user_id: Annotated[str | None, Query()] = None,
    agent_id: Annotated[str | None, Query()] = None,
    language: Annotated[Literal["zh", "en"], Query(description="Of the hints.")] = "en",
) -> Response:
    """Get how a person wants to be answered: language, tone and length."""
    owner = caller.owner_ids(user_id, agent_id)
    return encoded(
        await caller.memory.assistant.style(language=language, user_id=owner["user_id"], agent_id=owner["agent_id"])
    )


def _person(caller: Caller, body: _Person) -> dict[str, str | None]:
    owner = caller.owner_ids(body.user_id, body.agent_id)
    return {"user_id": owner["user_id"], "agent_id": owner["agent_id"]}
