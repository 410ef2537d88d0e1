"""The five tools that every host gets: add, search, context, update, forget."""

from __future__ import annotations

from typing import Annotated, Any, Final

from mcp.types import CallToolResult
from pydantic import Field

from ebbing.domain.access_roles import AccessRole
from ebbing.domain.errors import MemoryNotFoundError
from ebbing.domain.memory.record import QUARANTINED
from ebbing.interfaces.mcp.answers import (
    ChangedMemory,
    ContextBlock,
    FoundMemories,
    MemoryTypeName,
    StoredMemories,
    StoredMemory,
    found_memories,
    quoted,
    with_text,
)
from ebbing.interfaces.mcp.caller import Caller, current_caller
from ebbing.recall.context.usage_policy import is_usable
from ebbing.results import AddAnswer

MemoryId = Annotated[str, Field(description="Id of a memory, from memory_search.")]
HELD_BACK: Final = "it reads like an order to a model: it is kept aside until the person reviews it"


async def memory_add(
    content: Annotated[
        str, Field(min_length=1, max_length=20_000, description="One statement: 'User prefers short answers'.")
    ],
    *,
    memory_type: Annotated[MemoryTypeName | None, Field(description="What kind of knowledge it is.")] = None,
    importance: Annotated[float | None, Field(ge=0, le=1, description="How much it matters, 0 to 1.")] = None,
) -> StoredMemories:
    """Remember something lasting about the person: a fact, a preference, a rule, a plan.

    Do not store passing states, secrets, or what memory_search returned. The same statement twice changes nothing.
    """
    caller = current_caller(AccessRole.WRITE)
    same = await caller.memory.get_all(user_id=caller.owner, filters={"text": {"eq": content}}, limit=1, include="all")
    if same["results"]:
        [item] = same["results"]
        if QUARANTINED in item["tags"]:
            return _result(None, "", reason=HELD_BACK)
        return _result(item["id"], quoted(item["memory"], item), reason="this is known already")
    # It is the model's word for what the person said, and counts as that.
    answer = await caller.memory.add(content, user_id=caller.owner, trust="assistant")
    if any(item["id"] for item in answer["results"]):
        return _stored(answer)
    if await _is_held_back(caller, answer["episode_ids"]):
        return _result(None, "", reason=HELD_BACK, change_id=answer["change_id"])
    return _stored(
        await _state(caller, content, episode_ids=answer["episode_ids"], memory_type=memory_type, importance=importance)
    )


async def memory_search(
    query: Annotated[str, Field(min_length=1, description="A question, in any language.")],
    *,
    top_k: Annotated[int, Field(ge=1, le=50, description="Answers at most.")] = 5,
    memory_types: Annotated[list[MemoryTypeName] | None, Field(description="Only memories of these types.")] = None,
) -> Annotated[CallToolResult, FoundMemories]:
    """Find what is known about the person. Call it before you answer anything that depends on who they are."""
    caller = current_caller()
    filters = {"type": {"in": [*memory_types]}} if memory_types else None
    include: Any = "memories" if memory_types else "all"
    results = await caller.memory.search_records(
        query, user_id=caller.owner, filters=filters, top_k=top_k, include=include
    )
    return found_memories(hit for hit in results.hits if is_usable(hit.record))


async def memory_get_context(
    *,
    max_tokens: Annotated[int, Field(ge=50, le=20_000, description="Tokens of the block at most.")] = 1_000,
    query: Annotated[str | None, Field(description="The question that is about to be answered.")] = None,
) -> Annotated[CallToolResult, ContextBlock]:
    """Get a block about the person for the prompt: profile, relevant and recent memories. Call it first."""
    caller = current_caller()
    answer = await caller.memory.get_context(query or None, user_id=caller.owner, max_tokens=max_tokens)
    ids = [item["id"] for item in answer["memories"]]
    data = ContextBlock(context=answer["context"], tokens=answer["tokens"], memory_ids=ids)
    return with_text(answer["context"] or "Nothing is known about this person yet.", data)


async def memory_update(
    memory_id: MemoryId,
    content: Annotated[str, Field(min_length=1, max_length=4_000, description="The new wording.")],
) -> ChangedMemory:
    """Put the wording of a memory right. Where something has changed in life, use memory_add instead."""
    caller = current_caller(AccessRole.WRITE)
    item = await caller.memory.update(memory_id, content, user_id=caller.owner, trust="assistant")
    return {
        "id": memory_id,
        "memory": quoted(item["memory"], item),
        "event": "UPDATE",
        "change_id": item["change_id"],
    }


async def memory_forget(
    memory_id: MemoryId,
    *,
    reason: Annotated[str | None, Field(max_length=1_000, description="Why, for the history.")] = None,
) -> ChangedMemory:
    """Take a memory out of every answer, when the person asks for it. It can be brought back by its change_id."""
    caller = current_caller(AccessRole.WRITE)
    item = await caller.memory.get(memory_id, user_id=caller.owner)
    if item is None:
        raise MemoryNotFoundError("no memory with this id")
    answer = await caller.memory.delete(memory_id, reason=reason, user_id=caller.owner)
    return {
        "id": memory_id,
        "memory": quoted(item["memory"], item),
        "event": "DELETE",
        "change_id": answer["change_id"],
    }


async def _state(
    caller: Caller, content: str, *, episode_ids: list[str], memory_type: str | None, importance: float | None
) -> AddAnswer:
    """Store a statement that no rule reads as it is, in the place of the message that was stored of it."""
    for episode_id in episode_ids:
        await caller.memory.delete(episode_id, user_id=caller.owner, reason="stored as a memory")
    tags = [memory_type] if memory_type else []
    return await caller.memory.add(
        content, user_id=caller.owner, infer=False, trust="assistant", tags=tags, importance=importance
    )


def _result(memory_id: str | None, memory: str, *, reason: str, change_id: str | None = None) -> StoredMemories:
    """The answer about one statement that made no new memory."""
    item: StoredMemory = {"id": memory_id, "memory": memory, "event": "NONE", "reason": reason, "superseded": []}
    return {"memories": [item], "change_id": change_id}


def _stored(answer: AddAnswer) -> StoredMemories:
    return {
        "memories": [
            {
                "id": item["id"],
                "memory": quoted(item["memory"]),
                "event": item["event"],
                "reason": item["reason"],
                "superseded": item.get("superseded", []),
            }
            for item in answer["results"]
        ],
        "change_id": answer["change_id"],
    }


async def _is_held_back(caller: Caller, episode_ids: list[str]) -> bool:
    """Whether what was said is held back for review."""
    items = [await caller.memory.get(episode_id, user_id=caller.owner) for episode_id in episode_ids]
    return any(item is not None and QUARANTINED in item["tags"] for item in items)
