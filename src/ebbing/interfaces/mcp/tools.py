"""The five tools that every host gets: add, search, context, update, forget."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.types import CallToolResult
from pydantic import Field

from ebbing.domain.access_roles import AccessRole
from ebbing.domain.errors import MemoryNotFoundError
from ebbing.interfaces.mcp.answers import (
    ChangedMemory,
    ContextBlock,
    FoundMemories,
    MemoryTypeName,
    StoredMemories,
    found_memories,
    quoted,
    with_text,
)
from ebbing.interfaces.mcp.caller import current_caller
from ebbing.recall.context.usage_policy import is_usable

MemoryId = Annotated[str, Field(description="Id of a memory, from memory_search.")]


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
    # It is the model's word for what the person said, and counts as that.
    answer = await caller.memory.add(
        content,
        user_id=caller.owner,
        mode="statement",
        trust="assistant",
        tags=[memory_type] if memory_type else None,
        importance=importance,
    )
    return {
        "memories": [
            {
                "id": item["id"],
                "memory": quoted(item["memory"], {"trust": "assistant"}),
                "event": item["event"],
                "reason": item["reason"],
                "superseded": item.get("superseded", []),
            }
            for item in answer["results"]
        ],
        "change_id": answer["change_id"],
    }


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
    answer = await caller.memory.delete(memory_id, reason=reason, user_id=caller.owner, with_messages=True)
    return {
        "id": memory_id,
        "memory": quoted(item["memory"], item),
        "event": "DELETE",
        "change_id": answer["change_id"],
    }
