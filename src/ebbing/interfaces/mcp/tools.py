"""The five tools that every host gets: add, search, context, update, forget."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mcp.types import CallToolResult
from pydantic import Field

from ebbing.domain.access_roles import AccessRole
from ebbing.domain.errors import MemoryNotFoundError
from ebbing.domain.memory.record import QUARANTINED
from ebbing.interfaces.mcp.answers import (
    MEMORY_CHARS,
    NOTE,
    ContextBlock,
    Memories,
    MemoryView,
    block,
    view,
    with_text,
)
from ebbing.interfaces.mcp.caller import current_caller
from ebbing.privacy.guarding.quote import BULLET
from ebbing.recall.context.render import statement_of
from ebbing.recall.context.usage_policy import is_usable
from ebbing.remember.add_report import HELD_BACK

MemoryId = Annotated[str, Field(description="Id of a memory, from memory_search.")]
MemoryTypeName = Literal["episodic", "semantic", "preference", "fact", "constraint", "procedural"]


async def memory_add(
    content: Annotated[
        str, Field(min_length=1, max_length=20_000, description="One statement: 'User prefers short answers'.")
    ],
    *,
    memory_type: Annotated[MemoryTypeName | None, Field(description="What kind of knowledge it is.")] = None,
    importance: Annotated[float | None, Field(ge=0, le=1, description="How much it matters, 0 to 1.")] = None,
) -> Memories:
    """Remember something lasting about the person: a fact, a preference, a rule, a plan.

    Do not store passing states, secrets, or what memory_search returned. The same statement twice changes nothing.
    """
    caller = current_caller(AccessRole.WRITE)
    answer = await caller.memory.add(
        content,
        user_id=caller.owner,
        mode="statement",
        trust="assistant",  # it is the model's word for what the person said, and counts as that
        tags=[memory_type] if memory_type else None,
        importance=importance,
    )
    results = [{"trust": "assistant", "superseded": [], **item} for item in answer["results"]]
    memories = [view(item, "id", "memory", "event", "reason", "superseded") for item in results]
    return {"memories": memories, "change_id": answer["change_id"]}


async def memory_search(
    query: Annotated[str, Field(min_length=1, description="A question, in any language.")],
    *,
    top_k: Annotated[int, Field(ge=1, le=50, description="Answers at most.")] = 5,
    memory_types: Annotated[list[MemoryTypeName] | None, Field(description="Only memories of these types.")] = None,
) -> Annotated[CallToolResult, Memories]:
    """Find what is known about the person. Call it before you answer anything that depends on who they are."""
    caller = current_caller()
    filters = {"type": {"in": [*memory_types]}} if memory_types else None
    include: Any = "memories" if memory_types else "all"
    results = await caller.memory.search_records(
        query, user_id=caller.owner, filters=filters, top_k=top_k, include=include
    )
    memories: list[MemoryView] = [
        {
            "id": hit.record.id,
            "memory": statement_of(hit.record, hit.record.language or "en", width=MEMORY_CHARS),
            "type": str(hit.record.type),
            "score": round(hit.score, 3),
            "created_at": hit.record.created_at.isoformat(timespec="seconds"),
        }
        for hit in results.hits
        if is_usable(hit.record)
    ]
    days = {hit.record.id: f"{hit.record.said_at:%Y-%m-%d}" for hit in results.hits}
    lines = [f"{BULLET}{days[str(item['id'])]} {item['memory']} (id {item['id']})" for item in memories]
    return with_text(block(lines), Memories(memories=memories, note=NOTE))


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
) -> MemoryView:
    """Put the wording of a memory right. Where something has changed in life, use memory_add instead."""
    caller = current_caller(AccessRole.WRITE)
    item = await caller.memory.update(memory_id, content, user_id=caller.owner, trust="assistant")
    reason = HELD_BACK if QUARANTINED in item["tags"] else None
    return view(item, "id", "memory", "change_id", event="UPDATE", reason=reason)


async def memory_forget(
    memory_id: MemoryId,
    *,
    reason: Annotated[str | None, Field(max_length=1_000, description="Why, for the history.")] = None,
) -> MemoryView:
    """Take a memory out of every answer, when the person asks for it. It can be brought back by its change_id."""
    caller = current_caller(AccessRole.WRITE)
    item = await caller.memory.get(memory_id, user_id=caller.owner)
    if item is None:
        raise MemoryNotFoundError("no memory with this id")
    answer = await caller.memory.delete(memory_id, reason=reason, user_id=caller.owner, with_messages=True)
    return view(item, "id", "memory", event="DELETE", change_id=answer["change_id"])
