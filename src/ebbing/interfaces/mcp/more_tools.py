"""The tools of the set `full`, and the two that ChatGPT's connectors ask for."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mcp.types import CallToolResult
from pydantic import Field
from typing_extensions import TypedDict

from ebbing.domain.access_roles import AccessRole
from ebbing.domain.errors import MemoryNotFoundError
from ebbing.interfaces.mcp.answers import (
    NOTE,
    PROFILE_SECTIONS,
    ExplainedMemory,
    FeedbackResult,
    ListedMemories,
    MemoryHistory,
    ProfileLines,
    UndoResult,
    quoted,
    statement,
    with_text,
)
from ebbing.interfaces.mcp.caller import current_caller
from ebbing.interfaces.mcp.tools import MemoryId
from ebbing.privacy.guarding.quote import cut, quote
from ebbing.recall.context.usage_policy import is_usable

Signal = Literal["used", "ignored", "corrected", "up", "down"]
_TITLE_CHARS = 80


class ConnectorResult(TypedDict):
    """A hit as ChatGPT's connectors want it."""

    id: str
    title: str
    url: str


class ConnectorResults(TypedDict):
    """The answer of `search`."""

    results: list[ConnectorResult]


class ConnectorDocument(TypedDict):
    """The answer of `fetch`."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]


async def memory_list(
    *,
    limit: Annotated[int, Field(ge=1, le=200, description="Memories at most.")] = 20,
    cursor: Annotated[str | None, Field(description="next_cursor of the page before.")] = None,
) -> ListedMemories:
    """List memories, the newest first."""
    caller = current_caller()
    page = await caller.memory.get_all(user_id=caller.owner, limit=limit, cursor=cursor)
    return {
        "memories": [
            {
                "id": item["id"],
                "memory": quoted(item["memory"], item),
                "type": item["type"],
                "importance": item["importance"],
                "created_at": item["created_at"],
            }
            for item in page["results"]
        ],
        "next_cursor": page["next_cursor"],
        "note": NOTE,
    }


async def memory_explain(memory_id: MemoryId) -> ExplainedMemory:
    """Say where a memory comes from: the sentence, the rule, and whether it still holds."""
    caller = current_caller()
    item = await caller.memory.explain(memory_id, user_id=caller.owner)
    source = item["provenance"]
    return {
        "id": item["id"],
        "memory": quoted(item["memory"], item),
        "type": item["type"],
        "importance": item["importance"],
        "source_text": quoted(source["source_text"], item) or None,
        "method": source["method"],
        "reason": source["reason"],
        "created_at": item["created_at"],
        "valid_to": item.get("valid_to"),
        "deleted_at": item["deleted_at"],
    }


async def memory_history(memory_id: MemoryId) -> MemoryHistory:
    """Show what happened to a memory, the oldest first."""
    caller = current_caller()
    entries = await caller.memory.history(memory_id, user_id=caller.owner)
    if not entries:
        raise MemoryNotFoundError("no memory with this id")
    return {
        "changes": [
            {
                "event": entry["event"],
                "old_memory": quoted(entry["old_memory"]) or None,
                "new_memory": quoted(entry["new_memory"]) or None,
                "reason": quote(entry["reason"]) if entry["reason"] else None,
                "at": entry["updated_at"] or entry["created_at"],
            }
            for entry in entries
        ]
    }


async def memory_profile() -> ProfileLines:
    """Show who the person is, in short: facts, constraints, likes and dislikes."""
    caller = current_caller()
    answer: Any = await caller.memory.profiles.get(user_id=caller.owner)
    lines = [quoted(item["text"], answer) for section in PROFILE_SECTIONS for item in answer[section]]
    return {"summary": quote(answer["summary"], 2_000), "lines": lines, "note": NOTE}


async def memory_undo(
    change_id: Annotated[str, Field(description="change_id of memory_add, memory_update or memory_forget.")],
) -> UndoResult:
    """Take back a change as a whole."""
    caller = current_caller(AccessRole.WRITE)
    answer = await caller.memory.undo(change_id, user_id=caller.owner)
    return {"change_id": change_id, "restored": len(answer["restored"]), "deleted": len(answer["deleted"])}


async def memory_feedback(
    memory_id: MemoryId,
    signal: Annotated[Signal, Field(description="What became of the memory in the answer.")],
) -> FeedbackResult:
    """Say that a memory was of use, or was not: what is used fades more slowly."""
    caller = current_caller(AccessRole.WRITE)
    answer = await caller.memory.feedback(memory_id, signal, user_id=caller.owner)
    return {"id": memory_id, "signal": answer["signal"], "counted": answer["counted"]}


async def search(query: Annotated[str, Field(min_length=1, description="A question.")]) -> ConnectorResults:
    """Search the memories; `fetch` reads one of them."""
    caller = current_caller()
    results = await caller.memory.search_records(query, user_id=caller.owner, top_k=10)
    usable = [hit.record for hit in results.hits if is_usable(hit.record)]
    return {
        "results": [
            {"id": record.id, "title": cut(statement(record), _TITLE_CHARS), "url": f"memory://{record.id}"}
            for record in usable
        ]
    }


async def fetch(
    id: Annotated[str, Field(description="Id from search.")],
) -> Annotated[CallToolResult, ConnectorDocument]:
    """Read one memory whole."""
    caller = current_caller()
    item = await caller.memory.get(id, user_id=caller.owner)
    if item is None:
        raise MemoryNotFoundError("no memory with this id")
    text = quoted(item["memory"], item)
    data: ConnectorDocument = {
        "id": id,
        "title": cut(text, _TITLE_CHARS),
        "text": text,
        "url": f"memory://{id}",
        "metadata": {"type": item["type"], "created_at": item["created_at"], "note": NOTE},
    }
    return with_text(text, data)
